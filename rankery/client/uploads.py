"""Multipart bodies of uploads, read from the start at each attempt."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import IO, Any

from rankery.errors import FileUnusable

Files = dict[str, tuple[str, IO[bytes], str] | tuple[None, str]]
OnBytes = Callable[[int], None]


@dataclass(frozen=True)
class Upload:
    """A multipart body.

    Attributes:
        paths: Files by the names of their parts; streamed.
        fields: Text fields by name.
        references: References to files that were uploaded before, by the names of their parts.
    """

    paths: Mapping[str, Path]
    fields: Mapping[str, str] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)

    @property
    def size_bytes(self) -> int:
        """Total bytes of the files, without the multipart headers.

        Raises:
            FileUnusable: A file does not exist.
        """
        with _convert_read_errors():
            return sum(path.stat().st_size for path in self.paths.values())

    def larger_than(self, size_bytes: int) -> dict[str, Path]:
        """Return the files above a size.

        Raises:
            FileUnusable: A file does not exist.
        """
        with _convert_read_errors():
            return {part: path for part, path in self.paths.items() if path.stat().st_size > size_bytes}

    def with_references(self, references: Mapping[str, str]) -> "Upload":
        """Return the body with references in place of some files."""
        remaining = {part: path for part, path in self.paths.items() if part not in references}
        return Upload(remaining, self.fields, references)

    @contextmanager
    def opened(self, on_bytes: OnBytes) -> Iterator[Files]:
        """Open the files for one attempt.

        Args:
            on_bytes: Called after each read with the number of bytes read.

        Raises:
            FileUnusable: A file cannot be read.
        """
        with ExitStack() as stack:
            with _convert_read_errors():
                files = {
                    part: stack.enter_context(_CountingFile(path, on_bytes))
                    for part, path in self.paths.items()
                }
            sent: Files = {
                part: (sent_name(self.paths[part]), file, "application/octet-stream")
                for part, file in files.items()
            }
            # A part without a filename, which the service reads as a text.
            yield sent | {part: (None, reference) for part, reference in self.references.items()}


class _CountingFile(FileIO):
    def __init__(self, path: Path, on_bytes: OnBytes) -> None:
        super().__init__(path)
        self._on_bytes = on_bytes
        if not self.seekable():  # a second attempt could not send it again
            self.close()
            raise FileUnusable(f"{path} is a pipe; write it to a file")

    def read(self, size: int | None = -1, /) -> Any:
        content = super().read(-1 if size is None else size)
        self._on_bytes(len(content or b""))
        return content


def sent_name(path: Path) -> str:
    """Return the name of a file as UTF-8 has it: names of Linux are bytes in any encoding."""
    return path.name.encode("utf-8", "replace").decode()


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes.

    Raises:
        FileUnusable: The file cannot be read.
    """
    with _convert_read_errors(), path.open("rb") as file:
        yield file


@contextmanager
def _convert_read_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileUnusable(f"{error.filename} cannot be read: {error.strerror}") from error
