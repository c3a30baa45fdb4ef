"""Resumable downloads into files that appear once they are complete."""

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import httpx

from rankery.errors import FileUnusable, ServiceUnreachable, UserError

_STRONG_ETAG = re.compile(r'"([0-9a-f]{16,64})"')  # entity tags that are valid in a file name
_PART = r"\.{name}\.([0-9a-f]{{16,64}})\.part"


class PartialFile:
    """A download into a file, written to a temporary file beside it and renamed at the end.

    If the service cannot be reached or the process ends, received bytes stay in a file whose name has the
    entity tag, if the tag is strong. The next download into the same file continues from these bytes.

    Attributes:
        size_bytes: Received bytes.

    Raises:
        FileUnusable: The file cannot be written; also raised by `begin`, `write` and `finish`.
    """

    def __init__(self, target: Path) -> None:
        self.size_bytes = 0
        self._target = target
        self._etag: str | None = None
        self._path, self._file = self._open_partial_file()
        self._max_size_bytes = self.size_bytes

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
        is_final = isinstance(error, UserError) and not isinstance(error, ServiceUnreachable)
        if error is not None and (is_final or self._etag is None or not self.size_bytes):
            self._path.unlink(missing_ok=True)

    def headers(self) -> dict[str, str]:
        """Return the headers that request the remaining bytes.

        The last byte is requested again: a range after the end of a complete file would be invalid.
        """
        if self._etag is None or not self.size_bytes:
            return {}
        return {"Range": f"bytes={self.size_bytes - 1}-", "If-Range": f'"{self._etag}"'}

    def has_grown(self) -> bool:
        """Return whether more bytes have arrived since the last call."""
        before, self._max_size_bytes = self._max_size_bytes, max(self._max_size_bytes, self.size_bytes)
        return self._max_size_bytes > before

    def begin(self, response: httpx.Response) -> int | None:
        """Keep the existing bytes if the response continues them, else drop them.

        Returns:
            Size of the whole file in bytes, None if unknown.

        Raises:
            RemoteProtocolError: The response has another byte range than requested.
        """
        headers, total = response.headers, response.headers.get("Content-Length")
        if response.status_code == httpx.codes.PARTIAL_CONTENT:
            byte_range, _, total = headers.get("Content-Range", "").partition("/")
            self._truncate(self.size_bytes - 1)
            if byte_range != f"bytes {self.size_bytes}-{byte_range.rpartition('-')[2]}":
                self._etag = None
                raise httpx.RemoteProtocolError("the response has another byte range than requested")
        else:
            self._truncate(0)
            strong = _STRONG_ETAG.fullmatch(headers.get("ETag", ""))
            self._etag = strong[1] if strong and "Content-Encoding" not in headers else None
            self._rename()
        return int(total) if total and total.isdecimal() else None

    def write(self, chunk: bytes) -> None:
        """Append bytes."""
        with _convert_write_errors(self._target):
            self._file.write(chunk)
        self.size_bytes += len(chunk)

    def finish(self) -> None:
        """Rename the file to its target."""
        with _convert_write_errors(self._target):
            self._file.flush()
            if sys.platform == "win32":  # Windows cannot rename an open file
                self._file.close()
            self._path.replace(self._target)
            self._file.close()

    def _open_partial_file(self) -> tuple[Path, IO[bytes]]:
        with _convert_write_errors(self._target):
            for path, etag in self._parts():
                with contextlib.suppress(OSError):  # completed meanwhile, or of another user
                    file = path.open("r+b")
                    if _claim(file, path):
                        self.size_bytes, self._etag = file.seek(0, os.SEEK_END), etag
                        return path, file
                    file.close()
            handle, name = tempfile.mkstemp(prefix=f".{self._target.name}.", dir=self._target.parent)
            path = Path(name)
            path.chmod(0o666 & ~_umask())
            file = os.fdopen(handle, "r+b")
            _claim(file, path)
            return path, file

    def _parts(self) -> Iterator[tuple[Path, str]]:
        """Yield the partial files of earlier downloads, with their tags."""
        pattern = re.compile(_PART.format(name=re.escape(self._target.name)))
        for path in sorted(self._target.parent.iterdir()):
            if match := pattern.fullmatch(path.name):
                yield path, match[1]

    def _truncate(self, size_bytes: int) -> None:
        with _convert_write_errors(self._target):
            self._file.seek(size_bytes)
            self._file.truncate()
        self.size_bytes = size_bytes

    def _rename(self) -> None:
        """Add the entity tag to the file name; if that fails, only this process can resume the download."""
        if self._etag is None:
            return
        path = self._path.with_name(f".{self._target.name}.{self._etag}.part")
        with contextlib.suppress(OSError):
            if path != self._path and not path.exists():
                self._path.rename(path)
                self._path = path


def _claim(file: IO[bytes], path: Path) -> bool:
    """Lock a file; return False on Windows, or if another process has locked, renamed or removed it."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


@contextmanager
def _convert_write_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileUnusable(f"{target} cannot be written: {error.strerror}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
