"""Idempotent creation: repeated requests with one `Idempotency-Key` create once."""

import contextlib
import hashlib
import json
from collections.abc import Iterator
from typing import Annotated, TypeVar, cast

from fastapi import Depends, FastAPI, Header, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response

from app.http.caller import UseCaller
from app.http.schemas import PRINTABLE
from core.errors import InvalidInput, WrongState
from core.store import Store, Transaction

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
_KEPT_HEADERS = ("location",)

IdempotencyHeader = Annotated[
    str | None,
    Header(
        alias=HEADER,
        min_length=1,
        max_length=255,
        pattern=PRINTABLE,
        description="Any unique text for this request; a repeated request with the same key within 24 hours "
        "returns the first response and creates nothing",
        examples=["6f1c2a9e-nightly-2026-01-05"],
    ),
]


Answer = TypeVar("Answer", bound=Response)


class Replayed(Exception):
    """The request was answered before."""

    def __init__(self, answer: Response) -> None:
        super().__init__("the request was answered before")
        self.answer = answer


class IdempotentRequest:
    """A request that creates objects at most once if it has an idempotency key.

        with idempotency.begin(services.store) as tx:
            row = tx.rows.add(...)
            created = idempotency.keep(tx, accepted(Row.of(row), f"/v1/rows/{row.id}"))
        return created

    The response is stored in the transaction that creates the objects, so that both exist or neither.
    """

    def __init__(self, key: str | None, endpoint: str, request_sha256: str) -> None:
        self._key = key
        self._endpoint = endpoint
        self._request_sha256 = request_sha256

    @contextlib.contextmanager
    def begin(self, store: Store) -> Iterator[Transaction]:
        """Open the read-write transaction of the creation.

        Raises:
            Replayed: The request was answered before; the route ends with that response.
            InvalidInput: The key came with another request before.
        """
        try:
            with store.begin() as tx:
                self.replay(tx)
                yield tx
        except WrongState:  # perhaps by a concurrent request with the same key
            with store.read() as tx:
                self.replay(tx)
            raise

    def replay(self, tx: Transaction) -> None:
        """End the route with the stored response of the key, if any.

        Raises:
            Replayed: A response is stored.
            InvalidInput: The key came with another request before.
        """
        record = tx.idempotency.find(self._key, self._endpoint) if self._key else None
        if record is None:
            return
        if record.request_sha256 != self._request_sha256:
            raise InvalidInput.at(f"/{HEADER}", "was used for a different request before; choose another")
        raise Replayed(
            JSONResponse(record.body, record.status_code, headers={**record.headers, REPLAYED: "true"})
        )

    def keep(self, tx: Transaction, answer: Answer) -> Answer:
        """Store the response for repeated requests, and return it.

        Raises:
            WrongState: A concurrent request with the key was answered first; `begin` replays its response.
        """
        if self._key is not None:
            tx.idempotency.remember(
                self._key,
                self._endpoint,
                request_sha256=self._request_sha256,
                status_code=answer.status_code,
                body=json.loads(bytes(answer.body)),
                headers={name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers},
            )
        return answer


class IdempotencyKey:
    """The idempotency key of a request whose body the route reads itself."""

    def __init__(self, key: str | None, endpoint: str) -> None:
        self._key = key
        self._endpoint = endpoint

    def of(self, request_sha256: str) -> IdempotentRequest:
        """Return the idempotent request, given the checksum of its content."""
        return IdempotentRequest(self._key, self._endpoint, request_sha256)


def install(application: FastAPI) -> None:
    """Answer repeated requests with the responses of the first ones."""
    application.add_exception_handler(Replayed, _on_replayed)


async def _on_replayed(_: Request, error: Exception) -> Response:
    return cast("Replayed", error).answer


async def _idempotency_key(
    request: Request, caller: UseCaller, idempotency_key: IdempotencyHeader = None
) -> IdempotencyKey:
    # Equal keys of two callers are different keys, so that no caller gets the response of another.
    caller_id = f"{caller.key_id} " if caller.key_id else ""
    return IdempotencyKey(idempotency_key, f"{caller_id}{request.method} {request.url.path}")


UseIdempotencyKey = Annotated[IdempotencyKey, Depends(_idempotency_key)]


async def _idempotent_request(request: Request, key: UseIdempotencyKey) -> IdempotentRequest:
    return key.of(hashlib.sha256(await request.body()).hexdigest())


UseIdempotency = Annotated[IdempotentRequest, Depends(_idempotent_request)]
