"""Detect the format of a file by its content."""

import re
from dataclasses import dataclass

from core.data.compression import Bytes
from core.data.file_text import BYTE_ORDER_MARK
from core.errors import DatasetError
from core.names import shortened

DELIMITERS = ("\t", ";", ",")

_SAMPLE_BYTES = 2**16
_SAMPLE_LINES = 20
_SUPPORTED_FORMATS = (
    "LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard"
)
_PARQUET = b"PAR1"
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_UTF_16 = "UTF-16 text; save it as UTF-8"
_AMBIGUOUS_SIGNATURES = (b"PARE", b"ORC")  # signatures that the name of a column may begin with
_UNSUPPORTED_SIGNATURES = {
    b"PK\x03\x04": "a ZIP archive (Excel sheets are ZIP archives, too)",
    b"PK\x05\x06": "an empty ZIP archive",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ\x00": "xz data",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\x04\x22\x4d\x18": "LZ4 data",
    b"PARE": "an encrypted Parquet file",
    b"ARROW1": "an Arrow file",
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"\xd0\xcf\x11\xe0": "an old Excel sheet",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF document",
    b"\xff\xfe\x00\x00": "UTF-32 text; save it as UTF-8",
    b"\x00\x00\xfe\xff": "UTF-32 text; save it as UTF-8",
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
}
_DATA_LINE = re.compile(rb"^[ \t]*[^# \t\r\n]", re.MULTILINE)
_FEATURE_PAIR = re.compile(rb"-?\d+:")
_SEPARATOR_LINE = re.compile(rb'"?sep=.?"?[ \t]*', re.IGNORECASE)
_QUOTED = re.compile(rb'"[^"]*"')
_NAMES = {
    "letor": "LETOR text",
    "lightgbm": "LightGBM data without query ids",
    "csv": "delimited text",
    "parquet": "a Parquet file",
    "trec-qrels": "TREC qrels",
    "unknown": "text in an unknown format",
}
_DELIMITER_NAMES = {"\t": "tab-separated text", ";": "semicolon-separated text", ",": "comma-separated text"}


@dataclass(frozen=True)
class Content:
    """Format of a file.

    Attributes:
        format: letor, lightgbm, csv, parquet, trec-qrels or unknown.
        delimiter: Separator of the columns of delimited text.
        line: Number of the first line that is neither blank nor a comment, from 1.
        text: The start of that line.
    """

    format: str
    delimiter: str | None = None
    line: int | None = None
    text: str | None = None

    @property
    def name(self) -> str:
        """Name in messages."""
        return _NAMES[self.format] if self.delimiter is None else _DELIMITER_NAMES[self.delimiter]


def content_of(text: Bytes, file: str, *, has_query_sizes: bool = False) -> Content:
    """Detect LETOR, LightGBM's pairs, delimited text, Parquet, TREC qrels or unknown text.

    Args:
        text: (n_bytes,) the bytes of the file.
        file: Name of the file for messages.
        has_query_sizes: Whether the file has a query file; then a line of four whole numbers is a row of
            features, not a TREC judgment.

    Raises:
        DatasetError: The file is certainly of another format, or empty.
    """
    start = text[:_SAMPLE_BYTES].tobytes()
    if start.startswith(_PARQUET):
        return Content("parquet")
    if binary := binary_kind(text):
        raise DatasetError.at(f"expected {_SUPPORTED_FORMATS}, but found {binary}", file=file)
    judgments = None if has_query_sizes else _detect_qrels(start.removeprefix(BYTE_ORDER_MARK))
    if judgments:
        return judgments
    at = _first_data_position(text, file)
    sample = text[at : at + _SAMPLE_BYTES].tobytes()
    lines = [line for line in _lines(sample) if _DATA_LINE.match(line)][:_SAMPLE_LINES]
    tokens = [line.partition(b"#")[0].split() for line in lines]
    line = 1 + _line_feeds(text[:at])
    foreign = _markup_name(lines) or _run_description(tokens) or _separator_description(lines[0])
    if foreign:
        raise DatasetError.at(f"expected {_SUPPORTED_FORMATS}, but found {foreign}", file=file, line=line)
    excerpt = _excerpt(lines[0])
    if any(_has_query(row) for row in tokens):
        return Content("letor", line=line, text=excerpt)
    if any(_has_pairs(row) for row in tokens):
        return Content("lightgbm", line=line, text=excerpt)
    delimiter = _delimiter(start.removeprefix(BYTE_ORDER_MARK).lstrip())
    judged = _is_judgment(tokens[0]) or (delimiter is None and _has_relevance(tokens[0]))
    if judged and not has_query_sizes:
        # The qrels reader reports errors in later lines.
        return Content("trec-qrels", line=line, text=excerpt)
    table = None if delimiter else _table_description(lines[0], has_comments=line > 1)
    if table:
        raise DatasetError.at(f"expected {_SUPPORTED_FORMATS}, but found {table}", file=file, line=line)
    return Content("csv" if delimiter else "unknown", delimiter, line, excerpt)


def binary_kind(text: Bytes) -> str | None:
    """Return the format of a file that is not UTF-8 text, for messages; None where it may be UTF-8 text."""
    start = text[:_SAMPLE_BYTES].tobytes()
    for signature, name in _UNSUPPORTED_SIGNATURES.items():
        if start.startswith(signature) and (signature not in _AMBIGUOUS_SIGNATURES or _CONTROL.search(start)):
            return name
    if start[257:262] == b"ustar":
        return "a tar archive"
    if b"\0" not in start:
        return None
    zeros = start[::2].count(0), start[1::2].count(0)
    return _UTF_16 if min(zeros) == 0 and max(zeros) * 4 > len(start) else "binary data"


def _detect_qrels(start: bytes) -> Content | None:
    """Detect qrels by the first lines, before other formats, as a query id may be "#7" or "<7>"."""
    lines = [
        (number, line)
        for number, line in enumerate(_lines(start), start=1)
        if line.strip() and not _is_comment(line.split())
    ]
    if lines and all(_is_judgment(line.split()) for _, line in lines[:_SAMPLE_LINES]):
        return Content("trec-qrels", line=lines[0][0], text=_excerpt(lines[0][1]))
    return None


def _first_data_position(text: Bytes, file: str) -> int:
    """Return the position of the first line that is neither blank nor a comment."""
    at = len(BYTE_ORDER_MARK) if text[:3].tobytes() == BYTE_ORDER_MARK else 0
    match = _DATA_LINE.search(text[at:].data)
    if match is None:
        is_blank = re.search(rb"[^ \t\r\n]", text[at:].data) is None
        lines = "only blank lines" if is_blank else "only comments"
        raise DatasetError.at(f"expected judged documents, but found {lines}", file=file)
    return at + match.start()


def _line_feeds(text: Bytes) -> int:
    return sum(
        text[at : at + _SAMPLE_BYTES].tobytes().count(b"\n") for at in range(0, len(text), _SAMPLE_BYTES)
    )


def _lines(sample: bytes) -> list[bytes]:
    lines = re.split(rb"\r\n|\n|\r", sample)
    if len(lines) > 1 and len(sample) == _SAMPLE_BYTES:
        lines.pop()  # cut off by the end of the sample
    return lines


def _markup_name(lines: list[bytes]) -> str | None:
    first = lines[0].lstrip().lower()
    if first.startswith((b"<!doctype html", b"<html")):
        return "an HTML page"
    if first.startswith(b"<"):
        return "XML"
    if first.startswith(b"{"):
        return "JSON lines" if first.rstrip().endswith(b"}") and len(lines) > 1 else "JSON"
    return "JSON" if first.startswith(b"[") else None


def _run_description(tokens: list[list[bytes]]) -> str | None:
    if all(len(row) >= 6 and row[1] == b"Q0" for row in tokens):
        return (
            "a TREC run, which has scores but no labels; upload it as a ranking, or evaluate it by rankery"
            " evaluate --run"
        )
    return None


def _separator_description(line: bytes) -> str | None:
    if _SEPARATOR_LINE.fullmatch(line):
        return "a line for Excel above the header of a table; delete it"
    return None


def _table_description(header: bytes, *, has_comments: bool) -> str | None:
    """Describe a table that cannot be read, given its header; return None for other lines."""
    if header.count(b"|") > 1:
        return "columns separated by '|'; separate them by commas, semicolons or tabs"
    if has_comments and _delimiter(header):
        return "lines above the header of a table; delete them"
    return None


def _is_comment(tokens: list[bytes]) -> bool:
    return tokens[0].startswith(b"#") and (tokens[0] == b"#" or not _is_judgment(tokens))


def _is_judgment(tokens: list[bytes]) -> bool:
    return len(tokens) == 4 and tokens[1] in (b"0", b"1", b"Q0") and tokens[3].removeprefix(b"-").isdigit()


def _has_relevance(tokens: list[bytes]) -> bool:
    return len(tokens) == 4 and is_number(tokens[3])


def _has_query(tokens: list[bytes]) -> bool:
    return any(token.lower().startswith(b"qid:") for token in tokens[:2])


def _has_pairs(tokens: list[bytes]) -> bool:
    return bool(tokens) and is_number(tokens[0]) and any(_FEATURE_PAIR.match(token) for token in tokens[1:])


def _delimiter(start: bytes) -> str | None:
    header = re.split(rb"[\r\n]", _QUOTED.sub(b"", start), maxsplit=1)[0]
    count, delimiter = max((header.count(each.encode()), each) for each in DELIMITERS)
    return delimiter if count else None


def is_number(token: str | bytes) -> bool:
    """Return whether Python reads a token as a number."""
    try:
        float(token)
    except ValueError:
        return False
    return True


def _excerpt(line: bytes) -> str:
    return shortened(line.decode(errors="backslashreplace").strip())
