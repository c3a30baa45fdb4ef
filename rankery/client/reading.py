"""Write the bodies, queries and headers of requests, and parse responses into objects."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from importlib.metadata import version
from typing import Any, Final, TypeAlias, TypeVar
from urllib.request import getproxies, proxy_bypass

import httpx
from pydantic import BaseModel, ValidationError

from rankery.client.references import described, not_unicode
from rankery.errors import AnswerNotUnderstood, InvalidArgument, InvalidSettings, KeyRefused, RankeryApiError
from rankery.json_text import plain_value
from rankery.loopback import is_loopback


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET


def without_unset(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that are not `UNSET`."""
    return {name: value for name, value in values.items() if value is not UNSET}


Document: TypeAlias = dict[str, Any]
Read = TypeVar("Read", bound=BaseModel)

DEFAULT_URL = "http://127.0.0.1:8000"
JSON_TYPE: Final = {"Content-Type": "application/json"}


def read(kind: type[Read], document: Any) -> Read:
    """Parse a JSON document into an object; unknown fields are ignored.

    Raises:
        AnswerNotUnderstood: The document has another form.
    """
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        (first, *_) = error.errors()
        pointer = "/" + "/".join(map(str, first["loc"]))
        raise AnswerNotUnderstood(
            f"the service's answer is not what rankery {version('rankery')} expects"
            f" ({pointer}: {first['msg']}); install the version of rankery that the service has"
        ) from error


def checked(response: httpx.Response, *, has_key: bool) -> httpx.Response:
    """Return the response, or raise its error.

    Raises:
        RankeryApiError: The service reported a problem; `KeyRefused` if an API key is missing or invalid.
        AnswerNotUnderstood: The server redirects to another URL, or answers with a page, so that the request
            was not executed.
    """
    if response.has_redirect_location:
        raise AnswerNotUnderstood(
            f"{response.url} redirects to {response.headers['Location']}, and requests do not follow: give"
            " the URL of the service behind the redirect"
        )
    if response.status_code == httpx.codes.UNAUTHORIZED:
        raise KeyRefused(response.status_code, problem(response), has_key)
    if response.is_error:
        raise RankeryApiError(response.status_code, problem(response))
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise AnswerNotUnderstood(
            f"{response.url} answers with a page, perhaps of a proxy that requires to sign in, instead of a"
            " Rankery service; give the URL of the service behind it"
        )
    return response


def is_missing(response: httpx.Response) -> bool:
    """Return whether the service, not a proxy before it, answers that the object does not exist."""
    is_problem = response.headers.get("Content-Type", "").startswith("application/problem+json")
    return is_problem and response.status_code == httpx.codes.NOT_FOUND


def document_of(response: httpx.Response) -> Document:
    """Return the JSON of a response.

    Raises:
        AnswerNotUnderstood: The response is not a JSON object; another server may use the URL.
    """
    try:
        document = response.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise AnswerNotUnderstood(f"the server at {response.url} is not a Rankery service")
    return document


def problem(response: httpx.Response) -> Document:
    """Return the problem document of an error, or one made from its status."""
    try:
        document = response.json()
    except ValueError:
        document = None
    if isinstance(document, dict):
        return document
    return {"title": response.reason_phrase, "detail": f"{response.status_code} {response.reason_phrase}"}


def service_url(base_url: str | None) -> str:
    """Return the service URL: the argument, else RANKERY_URL, else port 8000 on localhost.

    Raises:
        InvalidSettings: The text is not an HTTP URL, or ends with /v1.
    """
    text = base_url or os.environ.get("RANKERY_URL", "").strip() or DEFAULT_URL
    try:
        url = httpx.URL(text)
        url.host.encode("idna")  # as the socket module does; it fails for a host such as a..b
    except (httpx.InvalidURL, UnicodeError):
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host or url.query:
        raise InvalidSettings(f"{text!r} is not the URL of a service; write it like {DEFAULT_URL}")
    if url.path.rstrip("/").endswith("/v1"):
        raise InvalidSettings(f"{text!r} is the URL of the API; leave out /v1")
    return text


def is_on_this_machine(url: str) -> bool:
    """Return whether a URL has a loopback address, which no proxy of the environment can reach."""
    return is_loopback(httpx.URL(url).host)


@contextmanager
def proxy_errors() -> Iterator[None]:
    """Convert errors of httpx about the proxy that the environment names.

    Raises:
        InvalidSettings: The proxy has an unknown scheme, or one that needs another package.
    """
    try:
        yield
    except (ImportError, ValueError) as error:
        raise InvalidSettings(
            f"the proxy of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY cannot be used ({error}); correct it, or add"
            " the host of the service to NO_PROXY"
        ) from error


def proxy_hint(url: str) -> str:
    """Return how to avoid the proxy through which a URL is requested; empty without one."""
    proxies, host = getproxies(), httpx.URL(url).host
    is_direct = is_on_this_machine(url) or proxy_bypass(host)
    if is_direct or not (proxies.get(httpx.URL(url).scheme) or proxies.get("all")):
        return ""
    return f"; requests go through a proxy: to connect directly, add {host} to NO_PROXY"


def certificate_hint(error: Exception) -> str:
    """Return how to trust the certificate that an error refuses; empty for other errors."""
    if "CERTIFICATE_VERIFY_FAILED" not in str(error):
        return ""
    return "; to trust the certificate, name the file of its authority in SSL_CERT_FILE"


def json_body(value: Any) -> bytes:
    """Return a value as the JSON body of a request.

    Raises:
        InvalidArgument: A number is NaN or infinite, which JSON cannot express; the message has its location.
            Or the value is nested too deeply, contains itself, or has a part of another type, such as a set.

    Example:
        >>> json_body({"name": "web", "tags": None})
        b'{"name":"web","tags":null}'
    """
    try:
        try:
            return _encoded(value)
        except (TypeError, ValueError) as error:  # perhaps of keys, which json never passes to a function
            try:
                return _encoded(_with_plain_keys(value))
            except RecursionError:
                raise error from None  # the value contains itself
    except ValueError as error:
        for pointer, number in _numbers(value):
            if not math.isfinite(number):
                raise InvalidArgument(f"{pointer}: must be a finite number, not {number}") from error
        raise InvalidArgument(f"the request cannot be written as JSON: {error}") from error
    except RecursionError as error:
        raise InvalidArgument("the request cannot be written as JSON: it is nested too deeply") from error
    except TypeError as error:
        raise InvalidArgument(f"the request cannot be written as JSON: {error}") from error


def _encoded(value: Any) -> bytes:
    text = json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_without_numpy
    )
    return text.encode()


def _with_plain_keys(value: Any) -> Any:
    """Return a value with Python's numbers as keys instead of numpy's, and `nan` for a missing label."""
    if isinstance(value, dict):
        keys = (plain_value(key) for key in value)
        names = ("nan" if isinstance(key, float) and math.isnan(key) else key for key in keys)
        return {name: _with_plain_keys(one) for name, one in zip(names, value.values(), strict=True)}
    return [_with_plain_keys(one) for one in value] if isinstance(value, list | tuple) else value


def _without_numpy(value: Any) -> Any:
    plain = plain_value(value)
    if plain is value:
        raise TypeError(f"{described(value)} is neither a number, a text, a list nor a dictionary")
    return plain


def _numbers(value: Any) -> Iterator[tuple[str, float]]:
    """Yield the floating-point numbers in a JSON value, each with its JSON pointer."""
    remaining = [("", value)]  # values may be nested more deeply than Python recurses
    expanded: set[int] = set()  # ids of containers, since a value may contain itself
    while remaining:
        pointer, one = remaining.pop()
        if isinstance(one, float):
            yield pointer, one
        elif isinstance(one, Mapping | list | tuple) and id(one) not in expanded:
            expanded.add(id(one))
            members = one.items() if isinstance(one, Mapping) else enumerate(one)
            remaining += reversed([(f"{pointer}/{name}", member) for name, member in members])


def with_query(path: str, parameters: Mapping[str, Any]) -> httpx.URL:
    """Return a path with parameters added to its query string.

    Args:
        path: Path below the service's URL.
        parameters: Parameters to add; they override those of the same name in the path. None values are
            left out.

    Raises:
        InvalidArgument: A text has a lone surrogate.

    Example:
        >>> with_query("/v1/jobs?limit=1", {"kind": "train", "status": None})
        URL('/v1/jobs?limit=1&kind=train')
    """
    more = without_none(parameters)
    try:
        url = httpx.URL(path)
        return url.copy_merge_params(more) if more else url
    except UnicodeEncodeError as error:
        raise not_unicode(error) from error


def authorization(api_key: str | None) -> dict[str, str]:
    """Return the `Authorization` header of an API key; empty without a key.

    Raises:
        InvalidSettings: The key has characters that are invalid in a header.
    """
    secret = (os.environ.get("RANKERY_API_KEY", "") if api_key is None else api_key).strip()
    if not secret:
        return {}
    if not (secret.isascii() and secret.isprintable()) or " " in secret:
        raise InvalidSettings("the API key has invalid characters; give the whole secret, rk_…")
    return {"Authorization": f"Bearer {secret}"}


def without_none(values: Mapping[str, Any]) -> Document:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}
