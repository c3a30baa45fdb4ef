"""Base classes of the client's schemas, so that each field is written once."""

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any

from app.http.schemas import RequestModel, ResponseModel
from core.losses import LOSSES
from core.scorers import SCORERS

Schema = dict[str, Any]


def with_bases(schemas: dict[str, Schema]) -> dict[str, Schema]:
    """Add base schemas: a class of the service gives its fields to the schemas of its subclasses.

    A schema that inherits a field refers to the base schema instead of repeating the field.
    """
    classes = {name: cls for name, cls in _declaring_classes() if name in schemas}
    names = {cls: name for name, cls in classes.items()}
    bases = dict(_bases(schemas, classes))
    names |= {base: base.__name__.removeprefix("_") for base in bases.keys() - names.keys()}
    complete = {names[base]: schema for base, schema in bases.items()} | schemas
    for cls, name in names.items():
        nearest = _nearest(cls, bases)
        complete[name] = _inheriting(complete[name], [(names[base], bases[base]) for base in nearest])
    return dict(sorted(complete.items()))


def _bases(schemas: dict[str, Schema], classes: dict[str, type]) -> Iterator[tuple[type, Schema]]:
    """Yield the classes to inherit from, each with the schema of its fields."""
    heirs: dict[type, list[str]] = {}
    for name, cls in classes.items():
        for ancestor in cls.__mro__:
            heirs.setdefault(ancestor, []).append(name)
    written = {cls: schemas[name] for name, cls in classes.items()}
    for cls, inheriting in heirs.items():
        schema = _common(cls, [schemas[name] for name in inheriting])
        fields = schema["properties"]
        below = (other for other in heirs if other is not cls and issubclass(other, cls))
        is_shared = len(inheriting) > 1 and all(heirs[other] != inheriting for other in below)
        if fields and is_shared and fields == written.get(cls, schema)["properties"]:
            yield cls, schema


def _declaring_classes() -> Iterator[tuple[str, type]]:
    """Yield the name of each schema with the class that declares its fields, such as a loss or a scorer."""
    models: list[Any] = [RequestModel, ResponseModel]
    declaring = (*LOSSES.values(), *SCORERS.values())
    while models:
        model = models.pop()
        models += model.__subclasses__()
        declared: Any = getattr(model, "declared_by", None)
        yield re.sub(r"[\[\]]", "_", model.__name__), declared if declared in declaring else model


def _common(cls: type, heirs: Sequence[Schema]) -> Schema:
    """Return the schema of the fields of a class that are the same in all schemas that inherit from it."""
    declared = getattr(cls, "model_fields", None) or getattr(cls, "__dataclass_fields__", {})
    first, *others = heirs
    fields = {
        name: schema
        for name, schema in first["properties"].items()
        if name in declared
        and all(other["properties"].get(name) == schema for other in others)
        and len({name in heir.get("required", ()) for heir in heirs}) == 1
    }
    description = (inspect.getdoc(cls) or "").split("\n\n")[0]
    return _object(fields, first) | {"description": description}


def _nearest(cls: type, bases: dict[type, Schema]) -> list[type]:
    """Return the nearest bases of a class."""
    return [
        base
        for parent in cls.__bases__
        for base in ([parent] if parent in bases else _nearest(parent, bases))
    ]


def _inheriting(schema: Schema, bases: Sequence[tuple[str, Schema]]) -> Schema:
    """Return a schema with references to its bases in place of their fields."""
    if not bases:
        return schema
    inherited = {name for _, base in bases for name in base["properties"]}
    own = {name: value for name, value in schema["properties"].items() if name not in inherited}
    references = [{"$ref": f"#/components/schemas/{name}"} for name, _ in bases]
    described = {key: schema[key] for key in schema.keys() & {"description"}}
    return {"allOf": [*references, _object(own, schema)], **described}


def _object(properties: Schema, source: Schema) -> Schema:
    required = [name for name in source.get("required", ()) if name in properties]
    return {"type": "object", "properties": properties, "required": required}
