"""Values written on the command line: JSON, and names with values."""

import json
from collections.abc import Sequence
from typing import Any

from rankery.errors import UserError


class NotUnderstood(UserError):
    """A value on the command line is not of the form it should have."""


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


def settings(texts: Sequence[str] | None, option: str) -> dict[str, Any]:
    """Read `name=value` texts: values are JSON where they can be, text otherwise.

    Example:
        >>> settings(["mu=5", "pair_selection=random", "gain=[0, 1, 3]"], "--loss-option")
        {'mu': 5, 'pair_selection': 'random', 'gain': [0, 1, 3]}

    Raises:
        NotUnderstood: A text has no `=`, or a name comes twice.
    """
    found: dict[str, Any] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise NotUnderstood(f"{option} wants name=value, not {text!r}")
        if name in found:
            raise NotUnderstood(f"{option} {name} is given twice")
        found[name.strip()] = _value(value)
    return found


def grid(texts: Sequence[str] | None, option: str) -> dict[str, list[Any]]:
    """Read `name=value,value` texts, the values that a grid goes through.

    Example:
        >>> grid(["num_leaves=31,63"], "--grid")
        {'num_leaves': [31, 63]}

    Raises:
        NotUnderstood: As `settings`.
    """
    found: dict[str, list[Any]] = {}
    for text in texts or ():
        name, equals, values = text.partition("=")
        if not equals or not name.strip() or not all(value.strip() for value in values.split(",")):
            raise NotUnderstood(f"{option} wants name=value,value, not {text!r}")
        if name in found:
            raise NotUnderstood(f"{option} {name} is given twice; give all its values at once")
        found[name.strip()] = [_value(value) for value in values.split(",")]
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
