"""Move properties that schemas of the OpenAPI document share into base schemas."""

import json
import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

Document = dict[str, Any]
# References are harder to read: share only properties that save at least this many bytes.
MIN_SAVED_BYTES = 60
# A base schema must save more: it also adds a name that is not a model of the service.
_MIN_SAVED_BY_BASE = 400
_MIN_SHARED = 4
_WORD = re.compile("[A-Z][^A-Z]*")
_CLOSED = {"additionalProperties": False}


def canonical_json(value: Any) -> str:
    """Return a value as compact JSON with sorted keys: equal values have equal texts."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def reference_to(section: str, name: str) -> str:
    """Return the `$ref` of a component."""
    return f"#/components/{section}/{name}"


def extend_objects(schemas: Document) -> None:
    """Replace properties of an object schema by a reference to another schema with a subset of them."""
    objects = {name: schema for name, schema in schemas.items() if _is_open(schema)}
    parts = {name: _texts(schema) for name, schema in objects.items()}
    sizes = {name: len("".join(texts)) for name, texts in parts.items()}
    for name, schema in objects.items():
        bases = [base for base in objects if parts[base] < parts[name] and sizes[base] >= MIN_SAVED_BYTES]
        if bases:
            base = max(bases, key=sizes.__getitem__)
            _extend(schema, base, [key for key in schema["properties"] if _text(schema, key) in parts[base]])


def add_bases(schemas: Document) -> None:
    """Add a base schema for properties that several objects share, where references save enough."""
    schemas_by_property: dict[str, list[str]] = {}
    for name, schema in schemas.items():
        if "properties" in schema and (_is_open(schema) or schema.items() >= _CLOSED.items()):
            for part in _texts(schema):
                schemas_by_property.setdefault(part, []).append(name)
    groups: dict[tuple[str, ...], list[str]] = {}
    for part in sorted(schemas_by_property):
        groups.setdefault(tuple(schemas_by_property[part]), []).append(part)
    for names, shared in groups.items():
        if len(shared) >= _MIN_SHARED and _saved_bytes(names, shared) >= _MIN_SAVED_BY_BASE:
            first = schemas[names[0]]
            keys = [
                key for key in _inline_part(first)["properties"] if _text(_inline_part(first), key) in shared
            ]
            base = f"{_common_ending(names)}With{keys[0].title().replace('_', '')}"
            schemas[base] = _object(_inline_part(first), keys)
            for name in names:
                _extend(schemas[name], base, keys)


def _is_open(schema: Document) -> bool:
    return "properties" in schema and "additionalProperties" not in schema


def _texts(schema: Document) -> set[str]:
    return {_text(schema, key) for key in schema["properties"]}


def _text(schema: Document, key: str) -> str:
    return canonical_json([key, schema["properties"][key], key in schema.get("required", ())])


def _saved_bytes(names: tuple[str, ...], parts: list[str]) -> int:
    reference = canonical_json({"allOf": [{"$ref": reference_to("schemas", max(names, key=len))}, {}]})
    return sum(map(len, parts)) * (len(names) - 1) - len(reference) * (len(names) + 1)


def _common_ending(names: Iterable[str]) -> str:
    """Return the common last words: `TrainRequest` for `TrainRequest` and `ScheduledTrainRequest`."""
    endings = zip(*(reversed(_WORD.findall(name)) for name in names), strict=False)
    shared = takewhile(lambda words: len(set(words)) == 1, endings)
    return "".join(reversed([words[0] for words in shared]))


def _object(schema: Document, keys: Iterable[str]) -> Document:
    """Return an object schema with some properties of another."""
    required = [key for key in keys if key in schema.get("required", ())]
    properties = {key: schema["properties"][key] for key in keys}
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def _inline_part(schema: Document) -> Document:
    """Return the part of an object schema that is not a reference."""
    inline: Document = schema["allOf"][-1] if "allOf" in schema else schema
    return inline


def _extend(schema: Document, base: str, keys: Iterable[str]) -> None:
    """Replace properties of an object by a reference to the schema that has them.

    `additionalProperties` would refuse the properties of the base; `unevaluatedProperties` allows them.
    """
    if "allOf" not in schema:
        inline = _object(schema, schema["properties"])
        for key in inline:
            del schema[key]
        schema["allOf"] = [inline]
        if schema.pop("additionalProperties", True) is False:
            schema["unevaluatedProperties"] = False
    remaining = [key for key in _inline_part(schema)["properties"] if key not in keys]
    schema["allOf"][-1:] = [{"$ref": reference_to("schemas", base)}, _object(_inline_part(schema), remaining)]
