"""Reader of JSON lines, in blocks, with helpers for the members of objects."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from core.data.compression import Bytes
from core.data.file_text import FileText
from core.errors import MAX_PROBLEMS, DatasetError, DatasetProblem
from core.names import shortened
from core.types import OnProgress

Json = dict[str, Any]

_BLOCK_BYTES = 2**23
MAX_LINE_BYTES = 2**24
_DIGITS = re.compile(r"-?[0-9]{1,10}")
_SURROGATE = re.compile("[\ud800-\udfff]")


class InvalidLine(Exception):
    """A line has invalid JSON members; the message states the expected and the found value."""


def each_line(text: Bytes, file: str, read: Callable[[Json], None], on_progress: OnProgress | None) -> None:
    """Call a function with the object of each line; empty lines are skipped.

    Args:
        file: Name of the file in messages.
        read: Function that reads one object; raises `InvalidLine` for an invalid object.
        on_progress: Called with the number of bytes done and their total.

    Raises:
        DatasetError: With up to 100 lines that are not JSON objects or are invalid.
    """
    problems: list[DatasetProblem] = []
    for number, line in _lines(text, file, on_progress):
        try:
            value = json.loads(line)
            if not isinstance(value, dict):
                raise InvalidLine(f"expected a JSON object, but found {_excerpt(line)}")
            read(value)
        except InvalidLine as error:
            problems.append(DatasetProblem(str(error), file, number))
        except (ValueError, RecursionError) as error:
            detail = f"expected a JSON object, but found {_excerpt(line)}: {_reason(error)}"
            problems.append(DatasetProblem(detail, file, number))
        if len(problems) == MAX_PROBLEMS:
            break
    if problems:
        raise DatasetError(*problems, more=len(problems) == MAX_PROBLEMS)


def document_of(value: Json) -> Json:
    """Return the document of a search hit, as exported by elasticdump; any other object unchanged."""
    document = value.get("_source")
    return document if isinstance(document, dict) else value


def text_of(value: Json, *names: str) -> str | None:
    """Return the first of some members that is a text or a number, as text, or None.

    Raises:
        InvalidLine: The text has half of a surrogate pair, as texts cut by JavaScript may have.
    """
    texts = (_text(value.get(name)) for name in names)
    return next((text for text in texts if text is not None), None)


def non_blank_text_of(value: Json, *names: str) -> str | None:
    """Return the first of some members that is a number or a text other than blanks, as text, or None."""
    texts = (text_of(value, name) for name in names)
    return next((text for text in texts if text and not text.isspace()), None)


def required_text(value: Json, name: str, content: str) -> str:
    """Return a member that is a text or a number, as text; `content` names the expected text in messages.

    Raises:
        InvalidLine: The member is missing, empty or of another type.
    """
    member = text_of(value, name)
    if not member:
        raise InvalidLine(f"expected {content} in {name!r}, but found {json_text(value.get(name))}")
    return member


def object_in(value: Json, name: str) -> Json:
    """Return a member that is an object, an empty object where it is absent or null.

    Raises:
        InvalidLine: The member is of another type.
    """
    member = value.get(name)
    if member is None:
        return {}
    if not isinstance(member, dict):
        raise InvalidLine(f"expected an object in {name!r}, but found {json_text(member)}")
    return member


def list_in(value: Json, name: str) -> list[Any]:
    """Return a member that is a list, an empty list where it is absent or null.

    Raises:
        InvalidLine: The member is of another type.
    """
    member = value.get(name)
    if member is None:
        return []
    if not isinstance(member, list):
        raise InvalidLine(f"expected a list in {name!r}, but found {json_text(member)}")
    return member


def texts_in(value: Json, name: str, content: str) -> list[str]:
    """Return a member that is a list of texts and numbers, as texts; an empty list where absent or null.

    Args:
        content: Name of the expected texts in messages.

    Raises:
        InvalidLine: The member is of another type, or an entry is empty or of another type.
    """
    texts = []
    for position, entry in enumerate(list_in(value, name), start=1):
        text = _text(entry)
        if not text:
            raise InvalidLine(f"expected {content} in {name!r}, but entry {position} is {json_text(entry)}")
        texts.append(text)
    return texts


def whole_number(value: Json, name: str, bound: int = 2**31) -> int | None:
    """Return a member that is a whole number or its text, None where it is absent or null.

    Args:
        value: The object.
        bound: Bound of the absolute value.

    Raises:
        InvalidLine: The member is of another type, or is not below the bound.
    """
    member = value.get(name)
    if member is None:
        return None
    number = int(member) if isinstance(member, str) and _DIGITS.fullmatch(member) else member
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    if not is_number or number != number // 1 or abs(number) >= bound:
        expected = f"expected a whole number in {name!r}, below {bound:,}"
        raise InvalidLine(f"{expected}, but found {json_text(member)}")
    return int(number)


def _text(member: Any) -> str | None:
    if isinstance(member, str):
        if not member.isascii() and _SURROGATE.search(member):
            raise InvalidLine(f"expected Unicode, but found half of a surrogate pair in {json_text(member)}")
        return member
    is_number = isinstance(member, int | float) and not isinstance(member, bool)
    return str(member) if is_number else None


def json_text(member: Any) -> str:
    """Return a member as JSON for a message, shortened."""
    return shortened(json.dumps(member))


def _lines(text: Bytes, file: str, on_progress: OnProgress | None) -> Iterator[tuple[int, bytes]]:
    source, number = FileText(text, file), 0
    for start, stop in pairwise(source.cuts(_BLOCK_BYTES).tolist()):
        if stop - start > _BLOCK_BYTES + MAX_LINE_BYTES:
            expected = f"expected lines of at most {MAX_LINE_BYTES:,} bytes, one JSON object each"
            raise DatasetError.at(f"{expected}, but found a longer one", file=file, line=number + 1)
        for line in text[start:stop].tobytes().split(b"\n"):
            number += 1
            if line.strip():
                yield number, line
        number -= 1  # do not count the empty piece after the last line feed
        if on_progress is not None:
            on_progress(stop, text.size)


def _excerpt(line: bytes) -> str:
    return repr(shortened(line[:200].decode(errors="backslashreplace").strip()))


def _reason(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
