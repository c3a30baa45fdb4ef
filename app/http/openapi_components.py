"""Move what the OpenAPI document repeats into its `components`."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from typing import Any

from app.http.problems import MEDIA_TYPE

Document = dict[str, Any]
# A reference costs the readers of a document a step: smaller savings stay where they are.
_MIN_SAVED_BYTES = 100
_MIN_SCHEMA_BYTES = 80
_SECTIONS = ("responses", "parameters", "requestBodies")
_SCHEMA_KEYS = ("items", "additionalProperties", "propertyNames", "not")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMA_MAPS = ("properties", "patternProperties")
# Problems that do not depend on the operation, with a body and without one.
_GENERAL_PROBLEMS = {
    "RequestProblem": ("401", "403", "408", "413", "414", "415", "421", "429", "431", "503"),
    "Problem": ("401", "403", "414", "421", "429", "431", "503"),
}


@dataclass(frozen=True)
class _Place:
    """Location of an object in the document.

    Attributes:
        holder: The mapping or list that the object is in.
        key: Its key or index there.
        names: Names for a component of it, the best first.
        around: The place that this one is in.
    """

    holder: Any
    key: Any
    names: tuple[str, ...]
    around: "_Place | None" = None

    @property
    def value(self) -> Any:
        return self.holder[self.key]

    def is_within(self, replaced: set[int]) -> bool:
        """Return whether this location, or one around it, was replaced by a reference."""
        place: _Place | None = self
        while place is not None:
            if id(place) in replaced:
                return True
            place = place.around
        return False


def compact(document: Document) -> Document:
    """Return an equivalent document with every repeated response, parameter, body and schema once.

    References to components replace the repetitions. Problems that do not depend on the operation are its
    `default` response. An answer that has all properties of another one refers to it. Titles that repeat a
    name are left out, and so are the descriptions that FastAPI writes twice.
    """
    document = json.loads(json.dumps(document), parse_float=_number)
    _drop_repetitions(document)
    _join_problems(document)
    _inherit(document)
    operations = list(_operations(document))
    _share(document, "responses", [place for one in operations for place in _responses(one)])
    _share(document, "parameters", [place for one in operations for place in _parameters(one)])
    _share(document, "requestBodies", [place for one in operations for place in _bodies(one)])
    _share(document, "schemas", list(_schemas(document)), _MIN_SCHEMA_BYTES)
    for place in _schemas(document):
        _merge_null(place.value)
    _share_security(document)
    return document


def _number(text: str) -> float | int:
    """Read bounds of integers, which Pydantic writes as floats, as integers."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _share(document: Document, section: str, places: list[_Place], min_bytes: int = 0) -> None:
    """Make components of the objects that are at several places."""
    alike: dict[str, list[_Place]] = {}
    for place in places:
        text = _text(place.value)
        if "$ref" not in place.value and len(text) >= min_bytes:
            alike.setdefault(text, []).append(place)
    components = document["components"].setdefault(section, {})
    shared: list[tuple[list[_Place], dict[str, str]]] = []
    replaced: set[int] = set()
    # What is within a larger object is within one copy of it afterwards.
    for text in sorted(alike, key=len, reverse=True):
        same = [place for place in alike[text] if not place.is_within(replaced)]
        if same and _saved_bytes(text, section, same) >= _MIN_SAVED_BYTES:
            shared.append((same, {}))
            replaced.update(id(place) for place in same[1:])
    # The plain name goes to the most frequent.
    for same, reference in sorted(shared, key=lambda one: -len(one[0])):
        names = min((place.names for place in same), key=lambda names: len(names[0]))
        name = next(name for name in _candidates(names) if name not in components)
        components[name] = same[0].value
        reference["$ref"] = _reference(section, name)
        for place in same:
            place.holder[place.key] = reference


def _saved_bytes(text: str, section: str, same: list[_Place]) -> int:
    reference = _text({"$ref": _reference(section, same[0].names[0])})
    return (len(text) - len(reference)) * (len(same) - 1) - len(reference)


def _reference(section: str, name: str) -> str:
    return f"#/components/{section}/{name}"


def _share_security(document: Document) -> None:
    """Leave the most common requirement to the document: an operation without one has the document's."""
    operations = list(_operations(document))
    counts = Counter(_text(operation["security"]) for operation in operations)
    common, _ = counts.most_common(1)[0]
    document["security"] = json.loads(common)
    for operation in operations:
        if operation["security"] == document["security"]:
            del operation["security"]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _candidates(names: tuple[str, ...]) -> Iterator[str]:
    yield from names
    yield from (f"{names[-1]}{number}" for number in count(2))


def _pascal(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))


def _operations(document: Document) -> Iterator[Document]:
    for item in document["paths"].values():
        yield from item.values()


def _responses(operation: Document) -> Iterator[_Place]:
    """Yield the responses; problems are named by their kind, successes by their schema."""
    responses = operation["responses"]
    for status, response in responses.items():
        if status == "default":
            continue
        content = response.get("content", {})
        if status < "300":
            source = (
                content.get("application/json", {}).get("schema", {}).get("$ref", operation["operationId"])
            )
        else:
            problem = content.get(MEDIA_TYPE, {}).get("example", {})
            source = problem.get("type") or HTTPStatus(int(status)).phrase
        name = _pascal(source.rpartition("/")[2])
        yield _Place(responses, status, (name, f"{name}Of{_pascal(operation['tags'][0])}"))


def _parameters(operation: Document) -> Iterator[_Place]:
    parameters = operation.get("parameters", [])
    for index, parameter in enumerate(parameters):
        name = _pascal(parameter["name"])
        yield _Place(parameters, index, (name, f"{name}Of{_pascal(operation['tags'][0])}"))


def _bodies(operation: Document) -> Iterator[_Place]:
    if "requestBody" in operation:
        yield _Place(operation, "requestBody", (_pascal(operation["operationId"]),))


def _schemas(document: Document) -> Iterator[_Place]:
    """Yield every schema below the named ones, and every schema of a parameter, body or response."""
    components = document["components"]
    for name, schema in components["schemas"].items():
        yield from _inner_schemas(schema, name, None)
    for section in _SECTIONS:
        for name, component in components.get(section, {}).items():
            yield from _held_schemas(component, name)
    for operation in _operations(document):
        yield from _held_schemas(operation, _pascal(operation["operationId"]))


def _held_schemas(value: Any, name: str) -> Iterator[_Place]:
    """Yield the schemas within anything that is not a schema itself."""
    if isinstance(value, list):
        for one in value:
            yield from _held_schemas(one, name)
    elif isinstance(value, dict):
        name = _pascal(value["name"]) if "name" in value and "in" in value else name
        for key, one in value.items():
            if key == "schema":
                yield from _with_inner(_Place(value, key, (name,)))
            elif key not in ("example", "examples"):
                yield from _held_schemas(one, name)


def _with_inner(place: _Place) -> Iterator[_Place]:
    if isinstance(place.value, dict):
        yield place
        yield from _inner_schemas(place.value, place.names[0], place)


def _inner_schemas(schema: Document, name: str, around: _Place | None) -> Iterator[_Place]:
    for key in _SCHEMA_KEYS:
        if key in schema:
            yield from _with_inner(_Place(schema, key, (f"{name}Item",), around))
    for key in _SCHEMA_LISTS:
        options = schema.get(key, [])
        for index in range(len(options)):
            yield from _with_inner(_Place(options, index, (f"{name}Value",), around))
    for key in _SCHEMA_MAPS:
        members = schema.get(key, {})
        for member in members:
            inner = _pascal(member) if key == "properties" else f"{name}Item"
            yield from _with_inner(_Place(members, member, (inner, f"{inner}Of{name}"), around))


def _drop_repetitions(document: Document) -> None:
    for name, schema in document["components"]["schemas"].items():
        _drop_title(schema, name)
    for place in _schemas(document):
        _drop_title(place.value, place.names[0])
    for operation in _operations(document):
        for parameter in operation.get("parameters", []):
            if parameter["schema"].get("description") == parameter.get("description"):
                parameter["schema"].pop("description", None)
            if parameter.get("required") is False:  # as where it is left out
                del parameter["required"]


def _join_problems(document: Document) -> None:
    """Make one `default` response of the general problems; a status that an operation lists keeps its own."""
    operations = [operation["responses"] for operation in _operations(document)]
    counts = Counter((status, _text(one[status])) for one in operations for status in one)
    usual = dict(response for response, _ in reversed(counts.most_common()))
    for name, statuses in _GENERAL_PROBLEMS.items():
        having = [one for one in operations if "default" not in one and one.keys() >= set(statuses)]
        for one in having:
            for status in statuses:
                if _text(one[status]) == usual[status]:
                    del one[status]
            one["default"] = {"$ref": _reference("responses", name)}
        if having:
            problems = {status: json.loads(usual[status]) for status in statuses}
            document["components"].setdefault("responses", {})[name] = _joined(problems)


def _joined(problems: dict[str, Document]) -> Document:
    """Return one response with an example of each problem."""
    contents = {status: response["content"][MEDIA_TYPE] for status, response in problems.items()}
    (schema,) = {_text(content["schema"]) for content in contents.values()}
    examples = {
        status: {"summary": problems[status]["description"], "value": content["example"]}
        for status, content in contents.items()
    }
    return {
        "description": f"A problem with the status {', '.join(problems)}",
        "content": {MEDIA_TYPE: {"schema": json.loads(schema), "examples": examples}},
    }


def _inherit(document: Document) -> None:
    """Let an object refer to another one that has a part of its properties, beside the rest of them."""
    objects = {
        name: schema
        for name, schema in document["components"]["schemas"].items()
        if "properties" in schema and "additionalProperties" not in schema
    }
    parts = {
        name: {_text(part) for part in (*schema["properties"].items(), *schema.get("required", ()))}
        for name, schema in objects.items()
    }
    sizes = {name: len("".join(texts)) for name, texts in parts.items()}
    for name, schema in objects.items():
        bases = [base for base in objects if parts[base] < parts[name] and sizes[base] >= _MIN_SAVED_BYTES]
        if bases:
            base = max(bases, key=sizes.__getitem__)
            own = [one for one in schema.pop("properties").items() if _text(one) not in parts[base]]
            required = [one for one in schema.pop("required", ()) if _text(one) not in parts[base]]
            rest = {"type": schema.pop("type"), "properties": dict(own), "required": required}
            schema["allOf"] = [{"$ref": _reference("schemas", base)}, rest]


def _merge_null(schema: Document) -> None:
    """Write a type or null as a list of types."""
    taken = {"const", "enum", *schema}
    match schema.get("anyOf"):
        case [{"type": str(kind)} as typed, {"type": "null"}] if not typed.keys() & taken:
            del schema["anyOf"]
            schema.update(typed, type=[kind, "null"])


def _drop_title(schema: Document, name: str) -> None:
    if _pascal(schema.get("title", "")).lower() == _pascal(name).lower():
        schema.pop("title", None)
