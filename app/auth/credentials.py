"""Read the credential of a request: an API key, or the session cookie of a browser."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from app.auth.origins import is_same_origin
from app.auth.scopes import SAFE_METHODS
from core.store.repositories.api_keys import secret_sha256

SESSION_COOKIE = "rankery_session"


@dataclass(frozen=True)
class Credential:
    """A hashed API key or session secret."""

    kind: Literal["key", "session"]
    sha256: str

    @classmethod
    def of_key(cls, secret: str) -> "Credential":
        """Return the credential of an API key's secret."""
        return cls("key", secret_sha256(secret))


def credential_of(request: Request) -> Credential | None:
    """Return the credential of a request, or None; an API key takes precedence over a cookie.

    Browsers send cookies with cross-site requests, too. In addition to SameSite, the cookie of a request that
    may change something is therefore ignored unless the request is same-origin (CSRF).
    """
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return Credential.of_key(secret.strip())
    return session_of(request) if request.method in SAFE_METHODS or is_same_origin(request.headers) else None


def session_of(request: Request) -> Credential | None:
    """Return the session named by the request's cookie, without checking the origin."""
    token = request.cookies.get(SESSION_COOKIE)
    return None if token is None else Credential("session", secret_sha256(token))


def set_session(response: Response, token: str, lifetime: timedelta, *, path: str, https: bool) -> None:
    """Set the session cookie, which scripts and other sites cannot read.

    Args:
        response: Response to add the cookie to.
        token: Secret of the session.
        lifetime: Lifetime of the cookie.
        path: Path prefix of requests with the cookie.
        https: Whether the cookie is sent over HTTPS only.
    """
    response.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=int(lifetime.total_seconds()),
        path=path,
        secure=https,
        httponly=True,
        samesite="strict",
    )


def clear_session(response: Response, *, path: str, https: bool) -> None:
    """Delete the session cookie."""
    response.delete_cookie(SESSION_COOKIE, path=path, secure=https, httponly=True, samesite="strict")
