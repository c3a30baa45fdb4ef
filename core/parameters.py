"""Hyperparameters declared once: default, bounds and description are metadata of the dataclass field.

The API's schema, the documentation and the checks here use the same declaration.
"""

import dataclasses
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from core.errors import InputProblem, InvalidInput, pointer_of
from core.names import did_you_mean

_KEY = "parameter"
_TYPES: dict[Any, tuple[Any, str]] = {
    float: (int | float, "must be a finite number"),
    int: (int, "must be a whole number"),
    bool: (bool, "must be true or false"),
    str: (str, "must be text"),
}
TextOrNumbers = str | tuple[float, ...]
WholeNumbers = tuple[int, ...]
Numbers = tuple[float, ...]
Names = tuple[str, ...]
WholeByName = dict[str, int]
NumberByName = dict[str, float]
GroupsOfNames = tuple[tuple[str, ...], ...]
T = TypeVar("T")


@dataclass(frozen=True)
class Parameter:
    """The declaration of one hyperparameter.

    Attributes:
        type: Type of the field, without `| None`.
        optional: Whether None is allowed; None disables the parameter unless its description says otherwise.
        minimum: Inclusive lower bound, or exclusive where `above` is set.
        maximum: Inclusive upper bound.
        above: Whether `minimum` itself is excluded.
        choices: The allowed values of a text parameter; empty if any value is allowed, and for other types.
        earlier: The value for specifications stored before the parameter existed.
        aliases: Names of the hyperparameter in other libraries; not accepted, but errors suggest `name`.
    """

    name: str
    type: Any
    optional: bool
    default: Any
    description: str
    minimum: float | None
    maximum: float | None
    above: bool
    choices: tuple[str, ...]
    earlier: Any
    aliases: tuple[str, ...]


def parameter(
    default: Any,
    description: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    above: bool = False,
    choices: tuple[str, ...] = (),
    earlier: Any = None,
    aliases: str = "",
) -> Any:
    """Declare a dataclass field as a hyperparameter with its bounds, and aliases separated by spaces."""
    declaration = {
        "description": description,
        "minimum": minimum,
        "maximum": maximum,
        "above": above,
        "choices": choices,
        "earlier": default if earlier is None else earlier,
        "aliases": tuple(aliases.split()),
    }
    return dataclasses.field(default=default, metadata={_KEY: declaration})


_parameters: dict[type, tuple[Parameter, ...]] = {}


def parameters_of(cls: type) -> tuple[Parameter, ...]:
    """List the hyperparameters that a dataclass declares, in order."""
    if cls not in _parameters:
        _parameters[cls] = tuple(_declared_parameters(cls))
    return _parameters[cls]


def _declared_parameters(cls: type) -> Iterator[Parameter]:
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        if _KEY in field.metadata:
            kind, optional = _without_none(hints[field.name])
            declaration = field.metadata[_KEY]
            yield Parameter(
                name=field.name, type=kind, optional=optional, default=field.default, **declaration
            )


def build(cls: type[T], values: Mapping[str, Any], pointer: str = "") -> T:
    """Create an instance from a mapping; the error lists all unknown and invalid entries.

    Raises:
        InvalidInput: With one problem for each invalid entry, its pointer below `pointer`.
    """
    declared = {p.name: p for p in parameters_of(cls)}
    problems = [
        InputProblem(
            pointer + pointer_of(name), f"unknown; {suggestion(cls, name) or _known_names(declared)}"
        )
        for name in values
        if name not in declared
    ]
    fitted = {}
    for name, value in values.items():
        if name in declared:
            fault = _fault(declared[name], value)
            if fault:
                problems.append(InputProblem(f"{pointer}/{name}", fault))
            else:
                fitted[name] = _converted(declared[name], value)
    if problems:
        raise InvalidInput(*problems)
    return cls(**fitted)


def suggestion(cls: type, name: str) -> str | None:
    """Return a suggestion for an undeclared name of a dataclass, None without a similar name.

    The class may define `ELSEWHERE`: names that are set elsewhere in a request, each with the field to set.
    """
    elsewhere: Mapping[str, str] = getattr(cls, "ELSEWHERE", {})
    if name in elsewhere:
        return f"set {elsewhere[name]} instead"
    spellings = {spelling: p.name for p in parameters_of(cls) for spelling in (p.name, *p.aliases)}
    return did_you_mean(name, spellings)


def check(instance: Any) -> None:
    """Check an instance created in Python against its declarations.

    Raises:
        InvalidInput: With one problem for each invalid field.
    """
    faults = [(p.name, _fault(p, getattr(instance, p.name))) for p in parameters_of(type(instance))]
    problems = [InputProblem(f"/{name}", fault) for name, fault in faults if fault]
    if problems:
        raise InvalidInput(*problems)


def values_of(instance: Any) -> dict[str, Any]:
    """Return the hyperparameters of an instance as plain values for storage."""
    return {p.name: getattr(instance, p.name) for p in parameters_of(type(instance))}


def stored_values(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Complete stored values with the `earlier` values of newer hyperparameters."""
    return {p.name: p.earlier for p in parameters_of(cls) if p.earlier != p.default} | dict(values)


def _known_names(declared: Mapping[str, Parameter]) -> str:
    return f"known here: {', '.join(declared) or 'none'}"


def _without_none(hint: Any) -> tuple[Any, bool]:
    if isinstance(hint, types.UnionType):
        rest = tuple(a for a in typing.get_args(hint) if a is not type(None))
        if len(rest) < len(typing.get_args(hint)):
            return (rest[0] if len(rest) == 1 else typing.Union[rest]), True  # noqa: UP007 - built at run time
    return hint, False


def _converted(declared: Parameter, value: Any) -> Any:
    if declared.type is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if declared.type == GroupsOfNames and isinstance(value, list | tuple):
        return tuple(tuple(group) if isinstance(group, list | tuple) else group for group in value)
    if declared.type == NumberByName and isinstance(value, Mapping):
        return {name: _converted(_NUMBER, number) for name, number in value.items()}
    if declared.type in (WholeNumbers, Names) and isinstance(value, list | tuple):
        return tuple(value)
    if isinstance(value, list):
        return tuple(float(number) for number in value)
    return value


def _fault(declared: Parameter, value: Any) -> str | None:
    if value is None:
        return None if declared.optional else "must not be null"
    if declared.type in _BY_NAME:
        return _mapping_fault(declared, value)
    if declared.type == GroupsOfNames:
        return _groups_fault(value)
    if declared.type in _LISTS:
        return _list_fault(declared, value)
    return _wrong_type(declared, value) or _out_of_bounds(declared, value)


def _wrong_type(declared: Parameter, value: Any) -> str | None:
    if declared.type == TextOrNumbers and not isinstance(value, str):
        return _numbers_fault(value)
    accepted, phrase = _TYPES.get(declared.type, (object, ""))
    if not isinstance(value, accepted) or (isinstance(value, bool) and declared.type is not bool):
        return phrase
    if declared.type is float and not abs(value) <= sys.float_info.max:
        return phrase
    if declared.choices and value not in declared.choices:
        return f"must be one of {', '.join(declared.choices)}"
    return None


def _numbers_fault(value: Any) -> str | None:
    numbers = value if isinstance(value, list | tuple) else ()
    if not numbers or any(_wrong_type(_NUMBER, number) or number < 0 for number in numbers):
        return "must be a name or a list of finite numbers, each at least 0"
    return None


def _list_fault(declared: Parameter, value: Any) -> str | None:
    kind, plural = _LISTS[declared.type]
    if not isinstance(value, list | tuple) or not value:
        return f"must be a list of {plural}"
    entry = dataclasses.replace(declared, type=kind, optional=False)
    faults = ((position, _fault(entry, each)) for position, each in enumerate(value))
    return next((f"entry {position} {fault}" for position, fault in faults if fault), None)


def _mapping_fault(declared: Parameter, value: Any) -> str | None:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        return FORMS[declared.type]
    entry = dataclasses.replace(declared, type=_BY_NAME[declared.type], optional=False)
    faults = ((name, _fault(entry, number)) for name, number in value.items())
    return next((f"{name[:40]!r} {fault}" for name, fault in faults if fault), None)


def _groups_fault(value: Any) -> str | None:
    groups = value if isinstance(value, list | tuple) else ((),)
    are_lists = all(isinstance(group, list | tuple) and group for group in groups)
    if are_lists and all(isinstance(name, str) for group in groups for name in group):
        return None
    return FORMS[GroupsOfNames]


def _out_of_bounds(declared: Parameter, value: Any) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = declared.minimum, declared.maximum
        if low is not None and (value < low or (declared.above and value <= low)):
            return f"must be {'above' if declared.above else 'at least'} {low:g}"
        if high is not None and value > high:
            return f"must be at most {high:g}"
    return None


_LISTS: Mapping[Any, tuple[type, str]] = {
    WholeNumbers: (int, "whole numbers"),
    Numbers: (float, "numbers"),
    Names: (str, "names"),
}
# LightGBM takes these values by column.
FORMS: Mapping[Any, str] = {
    WholeByName: 'must be an object of whole numbers by feature name, such as {"bm25": 1}',
    NumberByName: 'must be an object of numbers by feature name, such as {"bm25": 0.5}',
    GroupsOfNames: 'must be a list of non-empty lists of names, such as [["bm25", "age"], ["clicks"]]',
}
_BY_NAME: Mapping[Any, type] = {WholeByName: int, NumberByName: float}
_NUMBER = Parameter("", float, False, None, "", None, None, False, (), None, ())
