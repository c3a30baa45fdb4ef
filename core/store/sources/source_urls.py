"""URLs of dataset and click log files, and the allowed prefixes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import parse_qsl, unquote

from core.errors import InvalidInput
from core.names import is_visible
from core.outbound.guard import MAX_URL_LENGTH, checked_url

SETTING = "RANKERY_SOURCES"
IR_DATASETS = "ir_datasets"
_EXPECTED = (
    "must be a URL such as s3://bucket/train.parquet, gs://bucket/train.parquet,"
    " https://host/train.parquet, hf://datasets/ORG/NAME/train.parquet or ir_datasets:vaswani"
)
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,62}")
_REPOSITORY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_REVISION = re.compile(r"[A-Za-z0-9~][A-Za-z0-9._~/-]*")
EXTRAS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "s3": ("an S3 URL", "s3"),
        "gs": ("a Google Cloud Storage URL", "gcs"),
        "hf": ("a Hugging Face Hub URL", "huggingface"),
        IR_DATASETS: ("a dataset of ir_datasets", "ir-datasets"),
    }
)
# Revisions of the Hub whose names contain slashes, at the start of the text after `@`.
_SPECIAL_REVISION = re.compile(r"(refs/(?:convert|pr)/[A-Za-z0-9._-]+)(?:/|$)")
_HUB_TYPE = "datasets"
_WEB = ("https", "http")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Words in the names of parameters with credentials, such as `X-Amz-Signature`, `apiKey` and `access_token`.
_SECRET = re.compile(
    r"sig|keys?|auth(entication|orization)?|(api|access|auth)(key|token)|(signature|token|secret|password|credential).*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SourceUrl:
    """The URL of a file or folder.

    Attributes:
        scheme: `s3`, `gs`, `https`, `http`, `hf` or `ir_datasets`.
        host: The bucket, the host with a port other than the default, or empty.
        segments: Names of the folders and of the file, decoded.
        path: The path: for web servers encoded, as in the request.
        query: The part after `?`, for web servers only.
        revision: Branch, tag or commit of a repository of the Hugging Face Hub; None for its main branch.
    """

    scheme: str
    host: str
    segments: tuple[str, ...]
    path: str
    query: str = ""
    revision: str | None = None

    @property
    def name(self) -> str:
        """The last segment, the name of the file in messages."""
        return self.segments[-1] if self.segments else self.host

    @property
    def is_web(self) -> bool:
        """Whether the scheme is that of a web server."""
        return self.scheme in _WEB

    @property
    def storage_path(self) -> str:
        """The path within a file system of fsspec: the bucket, or `datasets`, and the segments."""
        if self.scheme != "hf":
            return f"{self.host}/{self.path}".rstrip("/")
        repository, names = self.segments[:3], self.segments[3:]
        revision = f"@{self.revision.replace('/', '%2F')}" if self.revision else ""
        return "/".join([*repository[:2], repository[2] + revision, *names])

    def __str__(self) -> str:
        if self.scheme == IR_DATASETS:
            return f"{IR_DATASETS}:{self.path}"
        if self.is_web:
            query = f"?{self.query}" if self.query else ""
            return f"{self.scheme}://{self.host}/{self.path}{query}"
        return f"{self.scheme}://{self.storage_path}"

    def is_below(self, prefix: "SourceUrl") -> bool:
        """Return whether a prefix equals this URL or is a folder above it."""
        return (
            (self.scheme, self.host) == (prefix.scheme, prefix.host)
            and self.segments[: len(prefix.segments)] == prefix.segments
            and prefix.revision in (None, self.revision)
        )

    def child(self, name: str) -> "SourceUrl":
        """Return the URL of a file in this folder."""
        path = f"{self.path}/{name}".lstrip("/")
        return SourceUrl(self.scheme, self.host, (*self.segments, name), path, revision=self.revision)


def parse_source_url(text: str, pointer: str = "/source") -> SourceUrl:
    """Parse a URL strictly; refuse ambiguous URLs.

    Args:
        pointer: JSON pointer of the URL in the payload, for errors.

    Raises:
        InvalidInput: The text is not a valid URL, has `..` or encoded slashes, or holds credentials.
    """
    return _parse(text, pointer, is_prefix=False)


def parse_redirect(text: str) -> SourceUrl:
    """Parse the URL that a web server redirects to, which may be signed.

    Raises:
        InvalidInput: The text is not a URL of a web server, or is ambiguous.
    """
    return _parse_web(text, "/source", may_be_signed=True)


class AllowedUrls:
    """The prefixes below which URLs may be read.

    Args:
        prefixes: Prefixes such as `s3://bucket/prefix`, `https://data.example.org/`, `hf://datasets/ORG`
            or `ir_datasets:`, which allows all datasets of that package.

    Raises:
        InvalidInput: A prefix is not a valid URL.
    """

    def __init__(self, prefixes: Iterable[str]) -> None:
        self._prefixes = tuple(parse_prefix(prefix) for prefix in prefixes)

    def check(self, url: SourceUrl, pointer: str = "/source") -> None:
        """Refuse a URL that is below no prefix.

        Raises:
            InvalidInput: The URL is not allowed.
        """
        if not self._prefixes:
            raise InvalidInput.at(pointer, f"the service does not import from URLs: {SETTING} is not set")
        if not any(url.is_below(prefix) for prefix in self._prefixes):
            raise InvalidInput.at(pointer, f"must be below one of the prefixes of {SETTING}")


def parse_prefix(text: str) -> SourceUrl:
    """Parse an entry of the allow-list.

    Raises:
        InvalidInput: The entry is not a valid URL.
    """
    return _parse(text.strip(), f"/{SETTING}", is_prefix=True)


def _parse(text: str, pointer: str, *, is_prefix: bool) -> SourceUrl:
    if len(text) > MAX_URL_LENGTH:
        raise InvalidInput.at(pointer, f"must have at most {MAX_URL_LENGTH:,} characters")
    if not text or not is_visible(text) or "\\" in text or "#" in text or text != text.strip():
        raise InvalidInput.at(pointer, f"{_EXPECTED}, without #, \\ and invisible characters")
    scheme, colon, rest = text.partition(":")
    scheme = scheme.lower()
    if scheme in _WEB:
        url = _parse_web(text, pointer)
    elif scheme == IR_DATASETS and colon:
        url = SourceUrl(scheme, "", _segments(rest, pointer), rest.rstrip("/"))
    elif scheme == "hf" and colon:
        url = _parse_hub(rest, pointer, is_prefix=is_prefix)
    elif scheme in ("s3", "gs") and rest.startswith("//"):
        url = _parse_object(scheme, rest[2:], pointer)
    else:
        raise InvalidInput.at(pointer, _EXPECTED)
    if not url.segments and not is_prefix:
        raise InvalidInput.at(pointer, "must name a file or a folder")
    return url


def _parse_web(text: str, pointer: str, *, may_be_signed: bool = False) -> SourceUrl:
    # The path of the request: httpx has resolved `.` and `..` and encoded reserved characters.
    url = checked_url(text, pointer, _WEB)
    host = url.raw_host.decode()
    if host.endswith(".") or "%" in host:
        raise InvalidInput.at(pointer, "must have a host without a trailing dot")
    authority = f"[{host}]" if ":" in host else host
    if url.port is not None:
        authority = f"{authority}:{url.port}"
    raw_path, _, query = url.raw_path.decode().partition("?")
    path = raw_path.removeprefix("/")
    decoded = tuple(_decode(segment, pointer) for segment in _split(path.removesuffix("/"), pointer))
    if not may_be_signed and any(
        _SECRET.fullmatch(word)
        for name, _ in parse_qsl(query, keep_blank_values=True)
        for word in _WORD.findall(name)
    ):
        raise InvalidInput.at(
            pointer,
            "must not contain credentials such as a signature or a token; use the field `credentials`",
        )
    return SourceUrl(url.scheme, authority, decoded, path, query)


def _parse_object(scheme: str, rest: str, pointer: str) -> SourceUrl:
    bucket, _, path = rest.partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise InvalidInput.at(pointer, f"must have a bucket, {scheme}://bucket/path, and no credentials")
    return SourceUrl(scheme, bucket, _segments(path, pointer), path.rstrip("/"))


def _parse_hub(rest: str, pointer: str, *, is_prefix: bool) -> SourceUrl:
    """Parse `hf://datasets/ORG/NAME@REVISION/path`, or `hf:ORG/NAME@REVISION/path`."""
    text = rest[2:] if rest.startswith("//") else f"{_HUB_TYPE}/{rest}"
    revision: str | None = None
    repository, at, tail = text.partition("@")
    if at:
        special = _SPECIAL_REVISION.match(tail)
        encoded = special[1] if special else tail.partition("/")[0]
        revision = encoded.replace("%2F", "/").replace("%2f", "/")
        text = repository + tail.removeprefix(encoded)
        if not _REVISION.fullmatch(revision) or ".." in revision or "//" in revision:
            raise InvalidInput.at(pointer, "must have a branch, tag or commit after @")
    segments = _segments(text, pointer)
    has_repository = len(segments) >= 3 or is_prefix
    names = segments[1:3]
    if segments[:1] != (_HUB_TYPE,) or not has_repository or not all(map(_REPOSITORY_NAME.fullmatch, names)):
        raise InvalidInput.at(pointer, "must be hf://datasets/ORG/NAME/path or hf:ORG/NAME/path")
    if revision is not None and (len(segments) < 3 or repository.count("/") != 2):
        raise InvalidInput.at(pointer, "must have the revision after the name of the dataset: NAME@REVISION")
    return SourceUrl("hf", "", segments, "/".join(segments), revision=revision)


def _segments(path: str, pointer: str) -> tuple[str, ...]:
    """Split a path that must not be encoded into its segments."""
    segments = _split(path.rstrip("/"), pointer)
    if any(mark in path for mark in ("?", "*", "[", "]", "%", "::", "@")):
        problem = "must have a path without ? * [ ] % @ and ::; use the field `files` for a pattern"
        raise InvalidInput.at(pointer, problem)
    return segments


def _split(path: str, pointer: str) -> tuple[str, ...]:
    segments = tuple(path.split("/")) if path else ()
    if {"", ".", ".."} & set(segments):
        raise InvalidInput.at(pointer, "must have a path without `.`, `..` and empty names")
    return segments


def _decode(segment: str, pointer: str) -> str:
    """Decode a segment; refuse characters that an encoding could hide from the comparison with prefixes."""
    try:
        name = unquote(segment, errors="strict")
    except UnicodeDecodeError:
        name = ""
    if not name or name in (".", "..") or set(name) & set("/\\%") or not is_visible(name):
        raise InvalidInput.at(pointer, "must have a path without encoded slashes, dots and percent signs")
    return name
