"""What a request shows to be let in: a key, or the cookie of a browser that signed in with one."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from app.auth.origins import is_same_origin
from app.auth.scopes import READING
from core.store.repositories.api_keys import secret_sha256

SESSION_COOKIE = "rankery_session"


@dataclass(frozen=True)
class Credential:
    """A secret as it is looked up: by its hash alone."""

    kind: Literal["key", "session"]
    sha256: str

    @classmethod
    def of_key(cls, secret: str) -> "Credential":
        """Name a key by its secret."""
        return cls("key", secret_sha256(secret))


def credential_of(request: Request) -> Credential | None:
    """Return what a request shows, a key before a cookie; None where it shows nothing that counts.

    A browser sends cookies along whoever made it ask. Beyond SameSite, a method that changes something
    therefore counts as the user's only where the browser says that a page of ours asks.
    """
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return Credential.of_key(secret.strip())
    return session_of(request) if request.method in READING or is_same_origin(request.headers) else None


def session_of(request: Request) -> Credential | None:
    """Return the session that a request's cookie names, whoever made the browser send it."""
    token = request.cookies.get(SESSION_COOKIE)
    return None if token is None else Credential("session", secret_sha256(token))


def set_session(response: Response, token: str, lifetime: timedelta, *, https: bool) -> None:
    """Give a browser the token of its session, out of reach of scripts and of other sites."""
    response.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=int(lifetime.total_seconds()),
        path="/",
        secure=https,
        httponly=True,
        samesite="strict",
    )


def clear_session(response: Response, *, https: bool) -> None:
    """Take the token from a browser."""
    response.delete_cookie(SESSION_COOKIE, path="/", secure=https, httponly=True, samesite="strict")
