"""Streaming parser of multipart forms."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import unquote

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from core.errors import InvalidInput

MAX_PARTS = 32
MAX_FILENAME_CHARACTERS = 255
# The text that refers to a finished resumable upload in place of a file.
UPLOAD_REFERENCE = re.compile(r"upload:(upl_[a-z0-9]{20})")
_MAX_REFERENCE_BYTES = 64
# RFC 8187, after other parameters; .NET's HttpClient sends it beside a `filename` that is an encoded word.
_EXTENDED_FILENAME = re.compile(
    rb"""(?:[^"]|"(?:[^"\\]|\\.)*")*?; *filename\*= *"?(utf-?8|iso-8859-1)'[^']*'([^;'" ]+)"? *(?:;|$)""",
    re.IGNORECASE,
)


@dataclass
class Part:
    """The part of the body that is being parsed."""

    headers: dict[bytes, bytes] = field(default_factory=dict)
    name: str = ""
    is_file: bool = False
    text: bytearray = field(default_factory=bytearray)


class FileSink(Protocol):
    """Receiver of the files of a form."""

    def begin(self, field: str, filename: str) -> None:
        """Start the next file."""

    def take(self, piece: bytes) -> None:
        """Receive the next bytes of the file."""

    def add_upload(self, field: str, upload_id: str) -> None:
        """Use a finished upload as a file."""


class FormParser:
    """Parse a `multipart/form-data` body into files and text fields.

    The bytes of files are not buffered: they go to the sink in the pieces passed to `feed`.

    Args:
        content_type: The request's Content-Type, which carries the boundary.
        files: Names of the parts that are files, or texts such as `upload:upl_…` that name finished uploads.
        texts: Size limits of the text fields in bytes, by name. They may be sent as files, too.
        sink: Receiver of the bytes of files.
    """

    def __init__(
        self, content_type: str, files: tuple[str, ...], texts: Mapping[str, int], sink: FileSink
    ) -> None:
        self.fields: dict[str, str] = {}
        self._files = files
        self._texts = texts
        self._sink = sink
        self._seen: set[str] = set()
        self._part = Part()
        self._n_parts = 0
        self._header_name = bytearray()
        self._header_value = bytearray()
        self._ended = False
        self._parser = MultipartParser(
            _boundary(content_type),
            {
                "on_part_begin": self._begin_part,
                "on_header_field": lambda data, start, end: self._header_name.extend(data[start:end]),
                "on_header_value": lambda data, start, end: self._header_value.extend(data[start:end]),
                "on_header_end": self._end_header,
                "on_headers_finished": self._open_part,
                "on_part_data": self._receive,
                "on_part_end": self._end_part,
                "on_end": self._end,
            },
        )

    def feed(self, chunk: bytes) -> None:
        """Parse the next bytes of the body.

        Raises:
            InvalidInput: The body is not multipart, or holds an unknown part.
        """
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise InvalidInput.at("", f"the multipart body is malformed: {error}") from error

    def finish(self) -> None:
        """Check that the body is complete.

        Raises:
            InvalidInput: The body was cut short.
        """
        if not self._ended:
            raise InvalidInput.at("", "the multipart body ends before its closing boundary")

    def _begin_part(self) -> None:
        self._n_parts += 1
        if self._n_parts > MAX_PARTS:
            raise InvalidInput.at("", f"more than {MAX_PARTS} parts")
        self._part = Part()

    def _end_header(self) -> None:
        self._part.headers[bytes(self._header_name).lower()] = bytes(self._header_value)
        self._header_name.clear()
        self._header_value.clear()

    def _open_part(self) -> None:
        header = self._part.headers.get(b"content-disposition", b"")
        disposition, options = parse_options_header(header)
        self._part.name = _text(options.get(b"name", b""))
        if disposition != b"form-data" or not self._part.name:
            raise InvalidInput.at("", 'a part without Content-Disposition: form-data; name="…"')
        self._check_name(self._part.name)
        filename = _filename(header, options)
        if self._part.name in self._files and filename is not None:
            self._part.is_file = True
            self._sink.begin(self._part.name, plain_filename(filename))

    def _check_name(self, name: str) -> None:
        if name not in self._files and name not in self._texts:
            raise InvalidInput.at(
                f"/{name}", f"unknown part; the parts are {', '.join((*self._files, *self._texts))}"
            )
        if name in self._seen:
            raise InvalidInput.at(f"/{name}", "must be given only once")
        self._seen.add(name)

    def _receive(self, data: bytes, start: int, end: int) -> None:
        if self._part.is_file:
            self._sink.take(data[start:end])
            return
        self._part.text += data[start:end]
        max_text_bytes = self._texts.get(self._part.name, _MAX_REFERENCE_BYTES)
        if len(self._part.text) > max_text_bytes:
            if self._part.name in self._files:
                raise self._no_reference()
            raise InvalidInput.at(f"/{self._part.name}", f"longer than {max_text_bytes} bytes")

    def _end_part(self) -> None:
        if not self._part.is_file and self._part.name in self._files:
            reference = UPLOAD_REFERENCE.fullmatch(self._part.text.decode("latin-1"))
            if reference is None:
                raise self._no_reference()
            self._sink.add_upload(self._part.name, reference[1])
        elif not self._part.is_file:
            try:
                self.fields[self._part.name] = self._part.text.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InvalidInput.at(f"/{self._part.name}", "is not UTF-8") from error

    def _no_reference(self) -> InvalidInput:
        detail = "is text; send it as a file, with a filename, or name a finished upload as upload:upl_…"
        return InvalidInput.at(f"/{self._part.name}", detail)

    def _end(self) -> None:
        self._ended = True


def _boundary(content_type: str) -> bytes:
    media_type, options = parse_options_header(content_type)
    if media_type != b"multipart/form-data":
        sent = f"not {media_type.decode('latin-1')}" if media_type else "with its Content-Type"
        raise InvalidInput.at("", f"send the file as multipart/form-data, as a part named file, {sent}")
    boundary = options.get(b"boundary", b"")
    if not 1 <= len(boundary) <= 70:
        raise InvalidInput.at("", "the Content-Type needs a boundary of 1 to 70 characters")
    return boundary


def _filename(header: bytes, options: Mapping[bytes, bytes]) -> str | None:
    if extended := _EXTENDED_FILENAME.match(header):
        return unquote(extended[2].decode("latin-1"), extended[1].decode())
    filename = options.get(b"filename")
    # Browsers and HTTP clients encode quotes in this way, and leave percent signs as they are.
    return None if filename is None else _text(filename).replace("%22", '"')


def _text(value: bytes | bytearray) -> str:
    # Header text is latin-1 by the HTTP standard, but browsers send UTF-8.
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def plain_filename(name: str) -> str:
    """Return a name without folders and unprintable characters, truncated at its front."""
    last = name.replace("\\", "/").rpartition("/")[2]
    printable = "".join(character for character in last if character.isprintable())
    return printable[-MAX_FILENAME_CHARACTERS:] or "upload"
