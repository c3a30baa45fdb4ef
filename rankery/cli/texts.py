"""Parsers of option values: JSON, `name=value` and grids."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rankery.errors import FileUnusable, UserError
from rankery.json_text import parsed_json


class NotUnderstood(UserError):
    """Raised when an option value cannot be parsed; the exit code is 2."""


def json_object(text: str, option: str) -> dict[str, Any]:
    """Parse the JSON object of an option.

    Raises:
        NotUnderstood: The text is not a JSON object.
    """
    try:
        value = parsed_json(text)
    except ValueError as error:
        raise NotUnderstood(
            f'{option} is not valid JSON ({error}); names are in double quotes, as in {{"label": "grade"}}'
        ) from None
    if not isinstance(value, dict):
        raise NotUnderstood(f'{option} must be a JSON object such as {{"label": "grade"}}, not {text}')
    return value


def object_of_file(path: Path, example: str) -> dict[str, Any]:
    """Parse the JSON object in a file.

    Raises:
        FileUnusable: The file does not contain a JSON object.
    """
    try:
        value = parsed_json(path.read_bytes())
    except ValueError as error:
        raise FileUnusable(f"{path.name} is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise FileUnusable(f"{path.name} must hold a JSON object such as {example}")
    return value


def tags_of(texts: Sequence[str] | None, option: str) -> dict[str, str]:
    """Parse the `name=value` texts of tags.

    Raises:
        NotUnderstood: A text has no `=`, no name or no value, or a name is repeated.
    """
    return dict(_pairs(texts, option))


def settings(texts: Sequence[str] | None, option: str) -> dict[str, Any]:
    """Parse `name=value` texts; values are parsed as JSON if possible, else kept as text.

    Example:
        >>> settings(["mu=5", "pair_selection=random", "gain=[0, 1, 3]"], "--loss-option")
        {'mu': 5, 'pair_selection': 'random', 'gain': [0, 1, 3]}

    Raises:
        NotUnderstood: See `tags_of`.
    """
    return {name: _value(text) for name, text in _pairs(texts, option)}


def grid(texts: Sequence[str] | None, option: str) -> dict[str, list[Any]]:
    """Parse `name=value,value` texts into the values of a grid.

    Commas within brackets, braces and quotes belong to a value.

    Example:
        >>> grid(["num_leaves=31,63", "loss.gain=[0,1,3],[0,1,7]"], "--grid")
        {'num_leaves': [31, 63], 'loss.gain': [[0, 1, 3], [0, 1, 7]]}

    Raises:
        NotUnderstood: A value is empty or repeated, a bracket or quote is not closed, or a value lacks its
            name, see `tags_of`.
    """
    return {name: _values(name, text, option) for name, text in _pairs(texts, option)}


def _values(name: str, text: str, option: str) -> list[Any]:
    parts = _between_commas(text)
    if parts is None:
        raise NotUnderstood(f"{option} {name} has an unclosed bracket or quote: {text}")
    values: list[Any] = []
    for part in parts:
        if not part:
            raise NotUnderstood(f"{option} {name} has an empty value between commas or at the end: {text}")
        value = _value(part)
        if value in values:
            raise NotUnderstood(f"{option} {name} lists {part} twice")
        values.append(value)
    return values


def _between_commas(text: str) -> list[str] | None:
    """Split at commas outside brackets, braces and quotes; return None if one of them is not closed."""
    parts, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == '"'
        if not quoted:
            depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return None if depth or quoted else [part.strip() for part in parts]


def _pairs(texts: Sequence[str] | None, option: str) -> Iterator[tuple[str, str]]:
    seen = set()
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise NotUnderstood(f"{option} takes name=value, not {text!r}")
        if name in seen:
            raise NotUnderstood(f"{option} {name} is given twice")
        seen.add(name)
        yield name, value


def _value(text: str) -> Any:
    try:
        return parsed_json(text)
    except ValueError:
        return text
