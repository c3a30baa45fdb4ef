"""Detect the format of a click log from the content of its file."""

import json
from dataclasses import dataclass

from core.clicks.reading.json_lines import MAX_LINE_BYTES, document_of
from core.clicks.reading.options import ROLES
from core.data.compression import Bytes
from core.data.content import DELIMITERS, binary_kind
from core.data.file_text import BYTE_ORDER_MARK
from core.errors import DatasetError

_SAMPLE_BYTES = 2**16
_SAMPLE_LINES = 20  # of JSON; a single one may be longer than the sample
_PARQUET = b"PAR1"
_JSON_FORMATS = ("ubi", "sessions", "metarank")
_OPEN_BANDIT_COLUMNS = frozenset({"item_id", "position", "click", "propensity_score"})


@dataclass(frozen=True)
class Content:
    """The content of a file.

    Attributes:
        format: One of `core.clicks.reading.options.FORMATS`, but not `auto`.
        delimiter: Separator of a table's columns; None for Parquet and JSON.
    """

    file: str
    format: str
    delimiter: str | None = None


def content_of(text: Bytes, file: str, requested: str = "auto") -> Content:
    """Detect the format of a file; a requested format of the same kind, JSON lines or table, is preferred.

    Args:
        text: Decompressed bytes of the file.

    Raises:
        DatasetError: The content has no known format, or is a table where JSON lines are requested, or the
            reverse.
    """
    start = text[:_SAMPLE_BYTES].tobytes().removeprefix(BYTE_ORDER_MARK)
    detected = _detected(text, start, file)
    if requested in ("auto", detected.format):
        return detected
    kind, detected_kind = (
        "lines of JSON objects" if name in _JSON_FORMATS else "a table"
        for name in (requested, detected.format)
    )
    if kind != detected_kind:
        line = None if start.startswith(_PARQUET) else 1
        raise DatasetError.at(
            f"expected {requested}, {kind}, but found {detected_kind}", file=file, line=line
        )
    return Content(file, requested, detected.delimiter)


def _detected(text: Bytes, start: bytes, file: str) -> Content:
    if start.startswith(_PARQUET):
        return Content(file, "table")
    if (kind := binary_kind(text)) is not None:
        raise DatasetError.at(f"expected a click log, but found {kind}", file=file)
    if start.lstrip()[:1] in (b"{", b"["):
        return Content(file, _json_format(text[:MAX_LINE_BYTES].tobytes(), file))
    header = start.lstrip(b"\r\n").split(b"\n", 1)[0].decode(errors="replace").rstrip("\r")
    delimiter = max(DELIMITERS, key=header.count)
    names = {name.strip().strip('"').lower() for name in header.split(delimiter)}
    if names >= _OPEN_BANDIT_COLUMNS:
        return Content(file, "open-bandit", delimiter)
    usual_names = {name for names_of_role in ROLES.values() for name in names_of_role}
    if delimiter not in header and not names & usual_names:
        expected = "expected a click log: JSON lines, a table with a header, or Parquet"
        raise DatasetError.at(f"{expected}, but found {header[:40]!r}", file=file, line=1)
    return Content(file, "table", delimiter)


def _json_format(start: bytes, file: str) -> str:
    """Return the format of JSON lines, detected by the members of the first objects."""
    if start.lstrip().startswith(b"["):
        raise _no_lines(file, "an array; write an object per line: jq -c '.[]'")
    for line in start.split(b"\n", _SAMPLE_LINES)[:_SAMPLE_LINES]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict) or "index" in value or "create" in value:
            continue
        if document_of(value).keys() & {"action_name", "user_query", "query_id"}:
            return "ubi"
        if "items" in value or "event" in value:
            return "metarank"
        if "documents" in value:
            return "sessions"
    is_response = b'"hits"' in start[:_SAMPLE_BYTES]
    response = "the response of a search; write a hit per line: jq -c '.hits.hits[]'"
    raise _no_lines(file, response if is_response else "none")


def _no_lines(file: str, found: str) -> DatasetError:
    expected = "expected one JSON object per line: UBI events, Metarank events, or sessions with documents"
    return DatasetError.at(f"{expected}, but found {found}", file=file, line=1)
