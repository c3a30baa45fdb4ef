"""Large bytes under keys: in a local folder, on S3, or wherever else fsspec reaches."""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from core.errors import NotFound, StoreUnavailable


class Artifacts:
    """Named bytes, each written whole or not at all.

    A key is a relative path with forward slashes, such as `models/mdl_…/model.txt`.
    """

    def __init__(self, storage_url: str) -> None:
        try:
            self._files, self._root = fsspec.core.url_to_fs(storage_url)
        except (ValueError, ImportError) as error:
            raise StoreUnavailable(f"the artifact storage cannot be opened: {error}") from error
        self._is_local = isinstance(self._files, LocalFileSystem)

    @contextlib.contextmanager
    def writing(self, key: str) -> Iterator[BinaryIO]:
        """Write an artifact; it appears under its key when the block ends well, else nothing is left.

        Raises:
            StoreUnavailable: The storage does not take it.
        """
        with self._at(key) as path:
            temporary = self._temporary(path)
            file = temporary.open("xb")
        try:
            with file:
                yield file
                file.flush()
                if self._is_local:
                    os.fsync(file.fileno())
            with self._at(key) as path:
                self._publish(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)

    def open(self, key: str) -> BinaryIO:
        """Open an artifact to read its bytes; close it afterwards.

        Raises:
            NotFound: There is none.
        """
        with self._at(key) as path:
            return cast("BinaryIO", self._files.open(path, "rb"))

    @contextlib.contextmanager
    def local(self, key: str) -> Iterator[Path]:
        """Give an artifact as a file on this machine, for readers that want a path; do not write to it.

        Raises:
            NotFound: There is none.
        """
        with contextlib.ExitStack() as stack:
            with self._at(key) as path:
                if self._is_local:
                    file = Path(path)
                else:
                    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rankery-"))
                    file = Path(folder) / PurePosixPath(path).name
                    self._files.get_file(path, str(file))
                if not file.is_file():
                    raise FileNotFoundError(path)
            yield file

    def read_bytes(self, key: str) -> bytes:
        """Return an artifact's bytes.

        Raises:
            NotFound: There is none.
        """
        with self._at(key) as path:
            return cast("bytes", self._files.cat_file(path))

    def write_bytes(self, key: str, content: bytes) -> None:
        """Store bytes under a key, in the place of what was there."""
        with self.writing(key) as file:
            file.write(content)

    def exists(self, key: str) -> bool:
        """Tell whether there is an artifact or folder of that key."""
        with self._at(key) as path:
            return bool(self._files.exists(path))

    def size(self, key: str) -> int:
        """Return an artifact's size in bytes.

        Raises:
            NotFound: There is none.
        """
        with self._at(key) as path:
            return int(self._files.size(path))

    def delete(self, key: str) -> None:
        """Remove an artifact, or a folder with all below it; nothing happens where there is none."""
        with self._at(key) as path, contextlib.suppress(FileNotFoundError):
            self._files.rm(path, recursive=True)

    def ping(self) -> bool:
        """Tell whether the storage answers."""
        try:
            self._files.exists(self._root)
        except Exception:  # noqa: BLE001 - each file system has its own errors
            return False
        return True

    @contextlib.contextmanager
    def _at(self, key: str) -> Iterator[str]:
        path = f"{self._root}/{_checked(key)}"
        try:
            yield path
        except FileNotFoundError as error:
            raise NotFound("artifact", key) from error
        except Exception as error:  # each file system has its own errors
            raise StoreUnavailable(f"the artifact storage failed on {key}: {error}") from error

    def _temporary(self, path: str) -> Path:
        # Beside its final place, so that the move is a rename; what goes elsewhere is sent from here.
        folder = Path(path).parent if self._is_local else Path(tempfile.gettempdir())
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f".writing-{secrets.token_hex(8)}"

    def _publish(self, temporary: Path, path: str) -> None:
        if self._is_local:
            temporary.replace(path)
        else:
            # An object store shows an upload only when it is complete.
            self._files.put_file(str(temporary), path)


def _checked(key: str) -> str:
    parts = key.split("/")
    if "\\" in key or "\0" in key or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{key!r} is not a relative key")
    return key
