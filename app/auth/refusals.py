"""Responses that refuse a caller."""

import math
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from app.http.caller import Caller
from app.http.problems import FORBIDDEN, FOREIGN_HOST, UNAUTHENTICATED, ProblemKind, problem

FOREIGN_ORIGIN = ProblemKind(HTTPStatus.FORBIDDEN, "foreign-origin", "Cross-origin request")
TOO_MANY_WRONG_KEYS = ProblemKind(
    HTTPStatus.TOO_MANY_REQUESTS, "too-many-wrong-keys", "Too many wrong API keys"
)

NO_KEY = "send an API key as `Authorization: Bearer rk_…`"
BAD_KEY = "the API key is unknown, expired or revoked"
SESSION_ENDED = "the session has ended; sign in again"
NO_KEY_YET = "there is no API key yet; create one with `rankery keys create NAME --scope admin`"


class Refusal(Exception):
    """A refusal of a request: its problem and headers."""

    def __init__(self, kind: ProblemKind, detail: str, headers: Mapping[str, str] | None = None) -> None:
        self.kind = kind
        self.detail = detail
        self.headers = headers
        super().__init__(detail)

    def answer(self) -> Response:
        """Build the problem for the caller."""
        return problem(self.kind, self.detail, headers=self.headers)


def unauthenticated(detail: str) -> Refusal:
    """Return the refusal of a request without a valid credential."""
    return Refusal(UNAUTHENTICATED, detail, {"WWW-Authenticate": "Bearer"})


def forbidden(caller: Caller, scope: str) -> Refusal:
    """Return the refusal of a request whose key lacks the needed scope."""
    held = ", ".join(sorted(caller.scopes))
    return Refusal(FORBIDDEN, f"this request needs the scope {scope}; the key {caller.key_id} has {held}")


def bound_to_projects(caller: Caller) -> Refusal:
    """Return the refusal of an operation on all projects, for a key that is bound to some projects."""
    names = ", ".join(caller.projects or ())
    return Refusal(
        FORBIDDEN, f"this request shows data of all projects; the key {caller.key_id} is bound to {names}"
    )


def foreign_host() -> Refusal:
    """Return the refusal of a request with a foreign Host header."""
    return Refusal(
        FOREIGN_HOST,
        "the name in the Host header is not a name of this service; add it to RANKERY_ALLOWED_HOSTS",
    )


def foreign_origin() -> Refusal:
    """Return the refusal of a cross-origin request."""
    return Refusal(FOREIGN_ORIGIN, "the Origin or Sec-Fetch-Site header names another site")


def too_many_wrong_keys(wait_seconds: float) -> Refusal:
    """Return the refusal of a request from an address that sent too many wrong keys."""
    seconds = max(1, math.ceil(wait_seconds))
    detail = f"too many wrong API keys came from this address; try again in {seconds} s"
    return Refusal(TOO_MANY_WRONG_KEYS, detail, {"Retry-After": str(seconds)})
