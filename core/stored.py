"""Convert dataclasses from and to their stored JSON, as their fields declare."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_origin

from core.errors import InputProblem, InvalidInput

if TYPE_CHECKING:
    from cattrs import Converter

Json = dict[str, Any]
Stored = Mapping[str, Any]
T = TypeVar("T")
_KEY = "entry"


@dataclass(frozen=True)
class Entry:
    """The JSON of one field of a dataclass.

    Attributes:
        names: Names of the entry: the name to write, then the names of earlier releases; empty for the name
            of the field.
        read: Convert the entry to the value, or None for the conversion by the field's type.
        write: Convert the value to the entry, or None for the conversion by the value's type.
        flat: Whether the value is stored as several entries, on the level of the other fields.
        omit_default: Whether to store the entry only if it differs from the default: earlier releases had no
            such entry.
    """

    names: tuple[str, ...] = ()
    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], Any] | None = None
    flat: bool = False
    omit_default: bool = False


def entry(
    default: Any = MISSING,
    *,
    default_factory: Any = MISSING,
    names: tuple[str, ...] = (),
    read: Callable[[Any], Any] | None = None,
    write: Callable[[Any], Any] | None = None,
    flat: bool = False,
    omit_default: bool = False,
) -> Any:
    """Declare a field of a dataclass with its JSON; see `Entry`."""
    metadata = {_KEY: Entry(names, read, write, flat, omit_default)}
    if default_factory is not MISSING:
        return dataclasses.field(default_factory=default_factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def read_entries(kind: type[T], stored: Stored, *, exact: bool = False) -> T:
    """Build a value of a dataclass from the JSON that this or an earlier release stored.

    An entry that is absent or null has the default of its field; without a default it is required.

    Args:
        exact: Whether to refuse unknown entries, such as those of a later release, instead of ignoring them.

    Raises:
        InvalidInput: With a pointer to a missing, invalid or unknown entry.
    """
    if not isinstance(stored, Mapping):
        raise InvalidInput.at("", "must be an object")
    values: dict[str, Any] = {}
    names: set[str] = set()
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        declared = _entry_of(field)
        names.update(declared.names)
        stored_value = stored if declared.flat else _first(stored, declared.names)
        if stored_value is not None:
            values[field.name] = _read(field, declared, stored_value)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InvalidInput.at(f"/{declared.names[0]}", "required")
    if exact and (unknown := [name for name in stored if name not in names]):
        listed = ", ".join(sorted(names))
        raise InvalidInput(*(InputProblem(f"/{name}", f"unknown; known: {listed}") for name in unknown))
    return kind(**values)


def write_entries(value: Any) -> Json:
    """Return the JSON of a dataclass to store; `read_entries` reads it back to an equal value."""
    entries: Json = {}
    for field in dataclasses.fields(value):
        declared, part = _entry_of(field), getattr(value, field.name)
        if declared.omit_default and part == field.default:
            continue
        write = declared.write or (write_entries if declared.flat else _converter().unstructure)
        part_json: Any = None if part is None else write(part)
        entries |= part_json if declared.flat else {declared.names[0]: part_json}
    return entries


def read_as(kind: type[T], stored: Any) -> T:
    """Convert a part of the stored JSON to its type; unknown entries are ignored.

    Raises:
        InvalidInput: The part cannot be converted.
    """
    from cattrs.errors import CattrsError

    try:
        return _converter().structure(stored, kind)
    except (AttributeError, CattrsError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput.at("", f"cannot be read: {error}") from error


def _read(field: "dataclasses.Field[Any]", declared: Entry, stored_value: Any) -> Any:
    try:
        if declared.read is not None:
            return declared.read(stored_value)
        return (read_entries if declared.flat else read_as)(cast("type[Any]", field.type), stored_value)
    except InvalidInput as invalid:
        raise (invalid if declared.flat else invalid.below(f"/{declared.names[0]}")) from invalid


def _first(stored: Stored, names: tuple[str, ...]) -> Any:
    return next((stored[name] for name in names if stored.get(name) is not None), None)


def _entry_of(field: "dataclasses.Field[Any]") -> Entry:
    declared: Entry = field.metadata.get(_KEY, Entry())
    return declared if declared.names else replace(declared, names=(field.name,))


@cache
def _converter() -> "Converter":
    """Return the converter of single entries.

    cattrs is imported only when a specification is parsed or written, since lists of jobs do not need it.
    """
    from cattrs import Converter

    converter = Converter(detailed_validation=False, unstruct_collection_overrides={tuple: list})
    for kind in (bool, float, int, str):  # keep whole numbers as int, also in a field of type float
        converter.register_structure_hook(kind, _identity)
    converter.register_structure_hook_func(_is_literal, _identity)
    converter.register_structure_hook_func(_declares_entries, lambda stored, kind: read_entries(kind, stored))
    converter.register_unstructure_hook_func(_declares_entries, write_entries)
    return converter


def _declares_entries(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind) and any(
        _KEY in field.metadata for field in dataclasses.fields(kind)
    )


def _is_literal(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin is Literal


def _identity(value: Any, _: Any) -> Any:
    return value


def required(stored: Stored, name: str) -> Any:
    """Return a required entry of the stored JSON.

    Raises:
        InvalidInput: The entry is absent or null.
    """
    value = stored.get(name)
    if value is None:
        raise InvalidInput.at(f"/{name}", "required")
    return value


def first_named(stored: Stored, names: Iterable[str]) -> str | None:
    """Return the first entry that is neither absent nor empty, or None."""
    return next((str(stored[name]) for name in names if stored.get(name)), None)
