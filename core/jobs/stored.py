"""Convert specifications from and to their stored JSON, as the fields of their dataclasses declare."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_origin

from core.errors import InvalidInput

if TYPE_CHECKING:
    from cattrs import Converter

Json = dict[str, Any]
Stored = Mapping[str, Any]
T = TypeVar("T")
_KEY = "entry"


@dataclass(frozen=True)
class Entry:
    """The JSON of one field of a specification.

    Attributes:
        read: Convert the entry to the value, or None for the conversion by the field's type.
        write: Convert the value to the entry, or None for the conversion by the value's type.
        flat: Whether the value is stored as several entries of the specification.
        later: Whether to store it only if it differs from the default: earlier releases had no such entry.
    """

    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], Any] | None = None
    flat: bool = False
    later: bool = False


def entry(
    default: Any = MISSING,
    *,
    default_factory: Any = MISSING,
    read: Callable[[Any], Any] | None = None,
    write: Callable[[Any], Any] | None = None,
    flat: bool = False,
    later: bool = False,
) -> Any:
    """Declare a field of a specification with its JSON; see `Entry`."""
    metadata = {_KEY: Entry(read, write, flat, later)}
    if default_factory is not MISSING:
        return dataclasses.field(default_factory=default_factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def read_entries(specification: type[T], stored: Stored) -> T:
    """Build a specification from the JSON that this or an earlier release stored.

    An entry that is absent or null has the default of its field.

    Raises:
        InvalidInput: With a pointer for what is missing or unfit.
    """
    values = {}
    for field in dataclasses.fields(specification):  # type: ignore[arg-type]
        declared = _declared(field)
        given = stored if declared.flat else stored.get(field.name)
        if given is not None:
            values[field.name] = _read(field, declared, given)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InvalidInput.at(f"/{field.name}", "required")
    return specification(**values)


def write_entries(specification: Any) -> Json:
    """Return the JSON to store; `read_entries` reads it back to an equal specification."""
    written: Json = {}
    for field in dataclasses.fields(specification):
        declared, value = _declared(field), getattr(specification, field.name)
        if declared.later and value == field.default:
            continue
        write = declared.write or (write_entries if declared.flat else _converter().unstructure)
        given: Any = None if value is None else write(value)
        written |= given if declared.flat else {field.name: given}
    return written


def read_as(kind: type[T], stored: Any) -> T:
    """Convert a part of the stored JSON to its type.

    Raises:
        InvalidInput: It does not fit, or has an entry that only a later release knows.
    """
    from cattrs.errors import CattrsError

    try:
        return _converter().structure(stored, kind)
    except (AttributeError, CattrsError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput.at("", f"cannot be read: {error}") from error


def _read(field: "dataclasses.Field[Any]", declared: Entry, given: Any) -> Any:
    try:
        if declared.read is not None:
            return declared.read(given)
        return (read_entries if declared.flat else read_as)(cast("type[Any]", field.type), given)
    except InvalidInput as invalid:
        raise (invalid if declared.flat else invalid.below(f"/{field.name}")) from invalid


def _declared(field: "dataclasses.Field[Any]") -> Entry:
    declared: Entry = field.metadata.get(_KEY, Entry())
    return declared


@cache
def _converter() -> "Converter":
    """Return the converter of single entries; classes with `from_json` or `to_json` convert themselves.

    It is imported where a specification is parsed, since lists of jobs need none.
    """
    from cattrs import Converter
    from cattrs.strategies import use_class_methods

    converter = Converter(
        detailed_validation=False, forbid_extra_keys=True, unstruct_collection_overrides={tuple: list}
    )
    for kind in (bool, float, int, str):  # a whole number of seconds stays one
        converter.register_structure_hook(kind, _unchanged)
    converter.register_structure_hook_func(_is_literal, _unchanged)
    converter.register_structure_hook_func(_declares_entries, lambda stored, kind: read_entries(kind, stored))
    converter.register_unstructure_hook_func(_declares_entries, write_entries)
    use_class_methods(converter, "from_json", "to_json")
    return converter


def _declares_entries(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind) and any(
        _KEY in field.metadata for field in dataclasses.fields(kind)
    )


def _is_literal(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin is Literal


def _unchanged(value: Any, _: Any) -> Any:
    return value


def required(stored: Stored, name: str) -> Any:
    """Return an entry that every release has stored.

    Raises:
        InvalidInput: It is absent or null.
    """
    value = stored.get(name)
    if value is None:
        raise InvalidInput.at(f"/{name}", "required")
    return value


def first_named(stored: Stored, names: Iterable[str]) -> str | None:
    """Return the first entry that is neither absent nor empty, or None."""
    return next((str(stored[name]) for name in names if stored.get(name)), None)


@dataclass(frozen=True)
class JobLimits:
    """Limits of a job, beside those of the worker.

    Attributes:
        seconds: Running time over all attempts, or None.
        memory_bytes: Memory in a worker, or None.
    """

    seconds: float | None = None
    memory_bytes: int | None = None

    @classmethod
    def of(cls, stored: Stored) -> "JobLimits | None":
        """Read the limits of a specification, None where it has none."""
        limits = stored.get("limits")
        return None if limits is None else cls(limits.get("seconds"), limits.get("memory_bytes"))
