"""Values written on the command line: JSON, and names with values."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rankery.errors import FileUnusable, UserError


class NotUnderstood(UserError):
    """A value on the command line is not of the form it should have; the exit code is 2."""


def json_object(text: str, option: str) -> dict[str, Any]:
    """Read an option's JSON object.

    Raises:
        NotUnderstood: It is none.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        raise NotUnderstood(f"{option} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise NotUnderstood(f'{option} must be a JSON object such as {{"label": "grade"}}, not {text}')
    return value


def object_of_file(path: Path, example: str) -> dict[str, Any]:
    """Read the JSON object that a file holds.

    Raises:
        FileUnusable: It holds none.
    """
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise FileUnusable(f"{path.name} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise FileUnusable(f"{path.name} must hold a JSON object such as {example}")
    return value


def assigned(texts: Sequence[str] | None, option: str) -> dict[str, str]:
    """Read `name=value` texts.

    Raises:
        NotUnderstood: A text has no `=`, or a name comes twice.
    """
    return dict(_pairs(texts, option))


def settings(texts: Sequence[str] | None, option: str) -> dict[str, Any]:
    """Read `name=value` texts whose values are JSON where they can be, text otherwise.

    Example:
        >>> settings(["mu=5", "pair_selection=random", "gain=[0, 1, 3]"], "--loss-option")
        {'mu': 5, 'pair_selection': 'random', 'gain': [0, 1, 3]}

    Raises:
        NotUnderstood: As `assigned`.
    """
    return {name: _value(text) for name, text in _pairs(texts, option)}


def grid(texts: Sequence[str] | None, option: str) -> dict[str, list[Any]]:
    """Read `name=value,value` texts, the values that a grid goes through.

    Commas within brackets, braces and quotes belong to a value.

    Example:
        >>> grid(["num_leaves=31,63", "loss.gain=[0,1,3],[0,1,7]"], "--grid")
        {'num_leaves': [31, 63], 'loss.gain': [[0, 1, 3], [0, 1, 7]]}

    Raises:
        NotUnderstood: As `assigned`; or a value is empty, comes twice, or has a bracket that stays open.
    """
    return {name: _values(name, text, option) for name, text in _pairs(texts, option)}


def _values(name: str, text: str, option: str) -> list[Any]:
    parts = _between_commas(text)
    if parts is None:
        raise NotUnderstood(f"{option} {name} has a bracket or a quote without its partner: {text}")
    values: list[Any] = []
    for part in parts:
        if not part:
            raise NotUnderstood(f"{option} {name} has nothing between two commas, or after the last: {text}")
        value = _value(part)
        if value in values:
            raise NotUnderstood(f"{option} {name} goes through {part} twice")
        values.append(value)
    return values


def _between_commas(text: str) -> list[str] | None:
    """Split at the commas outside brackets, braces and quotes; None where one of those stays open."""
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
            raise NotUnderstood(f"{option} wants name=value, not {text!r}")
        if name in seen:
            raise NotUnderstood(f"{option} {name} is given twice")
        seen.add(name)
        yield name, value


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
