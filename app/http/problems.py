"""Map every error to an RFC 9457 problem and its HTTP status."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from app.http.pointers import input_problems
from core import errors as core_errors

MEDIA_TYPE = "application/problem+json"
MAX_PROBLEMS = 100  # reported for one request
OUT_OF_MEMORY = "there is not enough memory for this now; send less in one request, or try again later"
_PHRASES = MappingProxyType({int(status): status.phrase for status in HTTPStatus})
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
_SHOWN_PATH = 200  # characters


@dataclass(frozen=True)
class ProblemKind:
    """A kind of problem: its type, title and status.

    Attributes:
        slug: Last part of the stable `type` reference, `/problems/{slug}`.
        title: Short summary that does not change between occurrences.
        retry_after_seconds: Seconds in `Retry-After`; None for no such header.
    """

    status: int
    slug: str
    title: str
    retry_after_seconds: int | None = None


KINDS: Mapping[type[core_errors.RankeryError], ProblemKind] = MappingProxyType(
    {
        core_errors.InvalidInput: ProblemKind(
            HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-input", "The request is not valid"
        ),
        core_errors.FeaturesAbsent: ProblemKind(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "features-absent",
            "Most features are absent",
        ),
        core_errors.DatasetError: ProblemKind(
            HTTPStatus.UNPROCESSABLE_ENTITY, "unreadable-dataset", "The dataset cannot be read"
        ),
        core_errors.ModelError: ProblemKind(
            HTTPStatus.UNPROCESSABLE_ENTITY, "unfit-model", "The model cannot be used for this"
        ),
        core_errors.NotFound: ProblemKind(HTTPStatus.NOT_FOUND, "not-found", "Not found"),
        core_errors.WrongState: ProblemKind(
            HTTPStatus.CONFLICT, "wrong-state", "The current state does not allow this"
        ),
        core_errors.AddressRefused: ProblemKind(
            HTTPStatus.UNPROCESSABLE_ENTITY, "address-refused", "Connections to the address are not allowed"
        ),
        core_errors.StillNeeded: ProblemKind(
            HTTPStatus.CONFLICT, "still-needed", "Other objects depend on this"
        ),
        core_errors.LeaseLost: ProblemKind(
            HTTPStatus.CONFLICT, "lease-lost", "Another worker has taken the job over"
        ),
        core_errors.JobCancelled: ProblemKind(HTTPStatus.CONFLICT, "job-cancelled", "The job was cancelled"),
        core_errors.JobQuotaExceeded: ProblemKind(
            HTTPStatus.TOO_MANY_REQUESTS,
            "too-many-jobs",
            "Too many queued and running jobs",
            retry_after_seconds=5,
        ),
        core_errors.JobQuotaTooSmall: ProblemKind(
            HTTPStatus.CONFLICT, "job-quota-too-small", "The request needs more jobs than the quota allows"
        ),
        core_errors.UploadQuotaExceeded: ProblemKind(
            HTTPStatus.TOO_MANY_REQUESTS,
            "too-many-uploads",
            "Too many uploads are open",
            retry_after_seconds=5,
        ),
        core_errors.UploadTakenOver: ProblemKind(
            HTTPStatus.LOCKED,
            "upload-taken-over",
            "Another request has taken over the upload",
            retry_after_seconds=1,
        ),
        core_errors.ByteQuotaExceeded: ProblemKind(
            HTTPStatus.CONFLICT, "quota-exceeded", "Too much is stored"
        ),
        core_errors.ExtraMissing: ProblemKind(
            HTTPStatus.NOT_IMPLEMENTED, "extra-missing", "An optional package is not installed"
        ),
        core_errors.ArtifactDamaged: ProblemKind(
            HTTPStatus.INTERNAL_SERVER_ERROR, "artifact-damaged", "Stored bytes are damaged"
        ),
        core_errors.KernelsNotReady: ProblemKind(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "kernels-not-ready",
            "The service is still starting",
            retry_after_seconds=5,
        ),
        core_errors.RanksLost: ProblemKind(
            HTTPStatus.INTERNAL_SERVER_ERROR, "ranks-lost", "Processes of a training were lost"
        ),
        core_errors.StoreFull: ProblemKind(
            HTTPStatus.INSUFFICIENT_STORAGE, "insufficient-storage", "Not enough free space"
        ),
        core_errors.StoreUnavailable: ProblemKind(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "store-unavailable",
            "Storage cannot be reached",
            retry_after_seconds=1,
        ),
    }
)

# For errors outside core. The titles are fixed here, as Python's phrases differ by version.
_HTTP_KINDS: Mapping[int, ProblemKind] = MappingProxyType(
    {
        kind.status: kind
        for kind in (
            ProblemKind(HTTPStatus.BAD_REQUEST, "bad-request", "The request cannot be understood"),
            ProblemKind(HTTPStatus.NOT_FOUND, "no-such-path", "There is nothing at this path"),
            ProblemKind(
                HTTPStatus.METHOD_NOT_ALLOWED, "method-not-allowed", "The path does not support the method"
            ),
            ProblemKind(HTTPStatus.REQUEST_TIMEOUT, "too-slow", "The request arrives too slowly"),
            KINDS[core_errors.WrongState],
            ProblemKind(HTTPStatus.GONE, "gone", "The upload was used or has expired"),
            ProblemKind(HTTPStatus.PRECONDITION_FAILED, "unknown-version", "The version is not supported"),
            ProblemKind(
                HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "no-such-range", "The file has no such range"
            ),
            ProblemKind(460, "checksum-mismatch", "The checksum does not match"),
            ProblemKind(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", "The request is too large"),
            ProblemKind(HTTPStatus.REQUEST_URI_TOO_LONG, "address-too-long", "The URL is too long"),
            ProblemKind(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The media type is not accepted"
            ),
            ProblemKind(HTTPStatus.TOO_MANY_REQUESTS, "too-many-requests", "Too many requests"),
            ProblemKind(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "headers-too-large", "The headers are too large"
            ),
            ProblemKind(HTTPStatus.INTERNAL_SERVER_ERROR, "internal-error", "Internal error"),
            ProblemKind(HTTPStatus.SERVICE_UNAVAILABLE, "not-ready", "The service is not ready"),
        )
    }
)
# For refused callers.
UNAUTHENTICATED = ProblemKind(HTTPStatus.UNAUTHORIZED, "unauthenticated", "An API key is required")
FORBIDDEN = ProblemKind(HTTPStatus.FORBIDDEN, "forbidden", "The API key lacks a permission")
FOREIGN_HOST = ProblemKind(HTTPStatus.MISDIRECTED_REQUEST, "foreign-host", "Unknown host name")
PRECONDITION_FAILED = ProblemKind(
    HTTPStatus.PRECONDITION_FAILED, "precondition-failed", "The object has changed"
)
ALL_KINDS = (
    *KINDS.values(),
    *_HTTP_KINDS.values(),
    UNAUTHENTICATED,
    FORBIDDEN,
    FOREIGN_HOST,
    PRECONDITION_FAILED,
)


def install(application: FastAPI) -> None:
    """Install handlers that answer exceptions with problems; `AccessLog` answers all other exceptions."""
    application.add_exception_handler(core_errors.RankeryError, _on_rankery_error)
    application.add_exception_handler(RequestValidationError, _on_validation_error)
    application.add_exception_handler(HTTPException, _on_http_exception)
    application.add_exception_handler(MemoryError, _on_memory_error)


def problem(
    kind: ProblemKind,
    detail: str | None,
    errors: Sequence[core_errors.InputProblem] = (),
    headers: Mapping[str, str] | None = None,
    holders: Sequence[core_errors.Holder] = (),
) -> Response:
    """Build the response for one problem."""
    content: dict[str, Any] = {
        "type": f"/problems/{kind.slug}",
        "title": kind.title,
        "status": int(kind.status),
    }
    if detail:
        content["detail"] = detail
    if errors:
        content["errors"] = [{"pointer": error.pointer, "detail": error.detail} for error in errors]
    if holders:
        content["holders"] = [asdict(holder) for holder in holders]
    retry_after = {"Retry-After": str(kind.retry_after_seconds)} if kind.retry_after_seconds else {}
    return JSONResponse(
        content, int(kind.status), headers={**retry_after, **(headers or {})}, media_type=MEDIA_TYPE
    )


def internal_error() -> Response:
    """Build the 500 response without details, which go to the log."""
    return http_problem(HTTPStatus.INTERNAL_SERVER_ERROR)


def not_ready(faults: Sequence[str]) -> Response:
    """Build the 503 response that lists the failed parts of the service."""
    return http_problem(HTTPStatus.SERVICE_UNAVAILABLE, "; ".join(faults))


def http_problem(
    status: int, detail: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """Build the problem for a plain HTTP status."""
    kind = _HTTP_KINDS.get(status) or ProblemKind(status, f"http-{status}", HTTPStatus(status).phrase)
    return problem(kind, detail, headers=headers)


def kind_of(error: core_errors.RankeryError) -> ProblemKind | None:
    """Return the kind of problem for an error, by its class or nearest base class, or None."""
    return next((KINDS[cls] for cls in type(error).__mro__ if cls in KINDS), None)


def _on_rankery_error(_: Request, error: Exception) -> Response:
    kind = kind_of(cast("core_errors.RankeryError", error))
    if kind is None:
        raise error
    if isinstance(error, core_errors.InvalidInput):
        return _invalid_input(error.problems, len(error.problems), kind)
    if isinstance(error, core_errors.StillNeeded):
        return problem(kind, str(error), holders=error.holders[:MAX_PROBLEMS])
    return problem(kind, str(error))


def _on_validation_error(_: Request, error: Exception) -> Response:
    invalid = cast("RequestValidationError", error)
    errors = invalid.errors()
    # Translate only the first errors: a body of a few megabytes can have a million.
    problems = input_problems(errors[:MAX_PROBLEMS], invalid.body)
    return _invalid_input(problems, max(len(problems), len(errors) if len(errors) > MAX_PROBLEMS else 0))


def _on_memory_error(_request: Request, _error: Exception) -> Response:
    return http_problem(HTTPStatus.SERVICE_UNAVAILABLE, OUT_OF_MEMORY)


def _on_http_exception(request: Request, error: Exception) -> Response:
    http = cast("HTTPException", error)
    detail = http.detail if http.detail != _PHRASES.get(http.status_code) else None
    headers = dict(http.headers or {})
    if http.status_code == HTTPStatus.NOT_FOUND and detail is None:
        detail = f"there is nothing at {request.url.path[:_SHOWN_PATH]}; /docs lists all paths"
    if http.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_allowed_methods(request))
    return http_problem(http.status_code, detail, headers)


def _allowed_methods(request: Request) -> list[str]:
    # Try each method: the router stops at the first route of the path, which has only one method.
    scopes = {method: {**request.scope, "method": method} for method in METHODS}
    return [
        method
        for method, scope in scopes.items()
        if any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)
    ]


def _invalid_input(
    problems: Sequence[core_errors.InputProblem],
    total: int,
    kind: ProblemKind = KINDS[core_errors.InvalidInput],
) -> Response:
    first = f"{problems[0].pointer}: {problems[0].detail}" if problems[0].pointer else problems[0].detail
    detail = first if total == 1 else f"{total} problems; the first is {first}"
    return problem(kind, detail, problems[:MAX_PROBLEMS])
