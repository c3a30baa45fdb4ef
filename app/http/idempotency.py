"""Idempotent creation: one `Idempotency-Key`, one creation."""

import hashlib
import json
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response

from app.http.caller import UseCaller
from app.http.schemas import PRINTABLE
from core.errors import InvalidInput
from core.store import Transaction

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
        description="Any text that is unique to what you want created; repeating it within 24 hours "
        "returns the first answer and creates nothing",
        examples=["6f1c2a9e-nightly-2026-01-05"],
    ),
]


class IdempotencyKey:
    """The idempotency key of a request, which creates at most once.

    Both methods run in the transaction that creates, so that the answer is kept exactly when what it
    speaks of is. Without a key they do nothing.
    """

    def __init__(self, key: str | None, endpoint: str) -> None:
        self._key = key
        self._endpoint = endpoint

    def replay(self, tx: Transaction, request_sha256: str) -> Response | None:
        """Return the stored response of the key, if any.

        Raises:
            InvalidInput: The key came with another request before.
        """
        record = tx.idempotency.find(self._key, self._endpoint) if self._key else None
        if record is None:
            return None
        if record.request_sha256 != request_sha256:
            raise InvalidInput.at(f"/{HEADER}", "was used for a different request before; choose another")
        return JSONResponse(record.body, record.status_code, headers={**record.headers, REPLAYED: "true"})

    def keep(self, tx: Transaction, request_sha256: str, answer: Response) -> None:
        """Store the response for repeated requests.

        Raises:
            WrongState: Another request with the key was answered at the same moment.
        """
        if self._key is None:
            return
        tx.idempotency.remember(
            self._key,
            self._endpoint,
            request_sha256=request_sha256,
            status_code=answer.status_code,
            body=json.loads(bytes(answer.body)),
            headers={name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers},
        )


async def _idempotency(
    request: Request, caller: UseCaller, idempotency_key: IdempotencyHeader = None
) -> IdempotencyKey:
    # Callers do not see each other's answers, whatever they choose for keys.
    caller_id = f"{caller.key_id} " if caller.key_id else ""
    return IdempotencyKey(idempotency_key, f"{caller_id}{request.method} {request.url.path}")


async def _body_sha256(request: Request) -> str:
    return hashlib.sha256(await request.body()).hexdigest()


UseIdempotencyKey = Annotated[IdempotencyKey, Depends(_idempotency)]
BodySha256 = Annotated[str, Depends(_body_sha256)]
