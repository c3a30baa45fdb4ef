"""Describe schemas of the OpenAPI document: types, bounds, tables of fields."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

OBJECTS = "objects.md"
_BOUNDS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "maxProperties": "at most {} members",
    "pattern": "matches {}",
}
_TYPE_NAMES = {
    "string": "text",
    "binary": "bytes",
    "date-time": "time",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "null": "null",
    "object": "object",
}


def cell(text: str) -> str:
    """Escape text for a table cell."""
    return " ".join(text.split()).replace("|", "\\|")


def kind(schema: Schema) -> str:
    """Return the type name of a value, with links to its possible object types."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}]({OBJECTS}#{name.lower()})"
    if alternatives := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(kind(alternative) for alternative in alternatives))
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'])}" if schema.get("items") else "list"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"object of {kind(schema['additionalProperties']) or 'anything'}"
    type_or_format = schema.get("format") if schema.get("format") in _TYPE_NAMES else schema.get("type")
    return _TYPE_NAMES.get(str(type_or_format), "anything")


def bounds(schema: Schema) -> str:
    """Describe the limits of a value and its default."""
    limits = list(dict.fromkeys(_limits(schema)))
    if schema.get("default") is not None:
        limits.append(f"default `{json.dumps(schema['default'], ensure_ascii=False)}`")
    return ", ".join(limits)


def _limits(schema: Schema) -> Iterator[str]:
    for alternative in (schema, *schema.get("anyOf", ())):
        for bound, phrase in _BOUNDS.items():
            if bound in alternative:
                value = alternative[bound]
                text = f"`{value}`" if bound == "pattern" else f"{value:,}"
                yield phrase.format(text)


def table(schema: Schema) -> str:
    """Return a table of the fields of an object, one row each."""
    rows = [
        f"| `{name}`{' *' if name in schema.get('required', ()) else ''} "
        f"| {cell(kind(field))} | {cell(_described(field))} |\n"
        for name, field in schema.get("properties", {}).items()
    ]
    if not rows:
        return ""
    return "| field | type | description |\n| --- | --- | --- |\n" + "".join(rows) + "\n"


def parameters(listed: list[Schema]) -> str:
    """Return a table of the parameters of an operation, one row each."""
    if not listed:
        return ""
    rows = [
        f"| `{parameter['name']}`{' *' if parameter.get('required') else ''} | {parameter['in']} "
        f"| {cell(kind(parameter['schema']))} "
        f"| {cell(_described({**parameter['schema'], 'description': parameter.get('description', '')}))} |\n"
        for parameter in listed
    ]
    return "| parameter | in | type | description |\n| --- | --- | --- | --- |\n" + "".join(rows) + "\n"


def _described(field: Schema) -> str:
    """Return a field's description, then its bounds."""
    return "; ".join(filter(None, (field.get("description"), bounds(field))))
