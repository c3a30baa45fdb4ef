"""Move repeated parts of the OpenAPI document into its `components`."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from typing import Any

from app.http.openapi_bases import (
    MIN_SAVED_BYTES,
    Document,
    add_bases,
    canonical_json,
    extend_objects,
    reference_to,
)
from app.http.problems import MEDIA_TYPE

_MIN_SCHEMA_BYTES = 60
_SECTIONS = ("responses", "parameters", "requestBodies")
_SCHEMA_KEYS = ("items", "additionalProperties", "propertyNames", "not")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMA_MAPS = ("properties", "patternProperties")
# Smallest number of operations with the same problems that share a response.
_MIN_OPERATIONS = 3
# The problems of every request with a body of JSON.
_BODY_STATUSES = frozenset({"408", "413", "415", "422"})


@dataclass(frozen=True)
class _Location:
    """Location of an object in the document.

    Attributes:
        container: The mapping or list that the object is in.
        key: Its key or index there.
        names: Candidate names of its component, the best first.
        parent: The location of the enclosing schema, None at the top.
    """

    container: Any
    key: Any
    names: tuple[str, ...]
    parent: "_Location | None" = None

    @property
    def value(self) -> Any:
        return self.container[self.key]

    def is_within(self, replaced: set[int]) -> bool:
        """Return whether this location or one of its parents was replaced by a reference."""
        location: _Location | None = self
        while location is not None:
            if id(location) in replaced:
                return True
            location = location.parent
        return False


def compact(document: Document) -> Document:
    """Return an equivalent document with every repeated response, parameter, body and schema once.

    References to components replace the repetitions. Problems that do not depend on the operation are its
    `default` response. A schema with all properties of another one refers to it, and schemas that share
    properties refer to a base schema. Titles that repeat a name are left out, and so are the descriptions
    that FastAPI writes twice.
    """
    document = json.loads(json.dumps(document), parse_float=_number)
    _drop_repetitions(document)
    _join_problems(document)
    extend_objects(document["components"]["schemas"])
    add_bases(document["components"]["schemas"])
    operations = list(_operations(document))
    _share(document, "responses", [location for one in operations for location in _responses(one)])
    _share(document, "parameters", [location for one in operations for location in _parameters(one)])
    _share(document, "requestBodies", [location for one in operations for location in _bodies(one)])
    _share(document, "schemas", list(_schemas(document)), _MIN_SCHEMA_BYTES)
    for schema in (
        *document["components"]["schemas"].values(),
        *(location.value for location in _schemas(document)),
    ):
        _merge_null(schema)
    _share_security(document)
    return document


def _number(text: str) -> float | int:
    """Parse whole numbers as integers, since Pydantic writes bounds of integers as floats."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _share(document: Document, section: str, locations: list[_Location], min_bytes: int = 0) -> None:
    """Replace objects that occur at several locations by references to components."""
    alike: dict[str, list[_Location]] = {}
    for location in locations:
        text = canonical_json(location.value)
        if "$ref" not in location.value and len(text) >= min_bytes:
            alike.setdefault(text, []).append(location)
    components = document["components"].setdefault(section, {})
    shared: list[tuple[list[_Location], dict[str, str]]] = []
    replaced: set[int] = set()
    # Larger objects first: an object within a shared one occurs only once afterwards.
    for text in sorted(alike, key=len, reverse=True):
        same = [location for location in alike[text] if not location.is_within(replaced)]
        if same and _saved_bytes(text, section, same) >= MIN_SAVED_BYTES:
            shared.append((same, {}))
            replaced.update(id(location) for location in same[1:])
    # The most frequent object gets the plain name.
    for same, reference in sorted(shared, key=lambda one: -len(one[0])):
        names = min((location.names for location in same), key=lambda names: len(names[0]))
        name = next(name for name in _candidates(names) if name not in components)
        components[name] = same[0].value
        reference["$ref"] = reference_to(section, name)
        for location in same:
            location.container[location.key] = reference


def _saved_bytes(text: str, section: str, same: list[_Location]) -> int:
    reference = canonical_json({"$ref": reference_to(section, same[0].names[0])})
    return (len(text) - len(reference)) * (len(same) - 1) - len(reference)


def _share_security(document: Document) -> None:
    """Move the most common security requirement from the operations to the document, as its default."""
    operations = list(_operations(document))
    counts = Counter(canonical_json(operation["security"]) for operation in operations)
    common, _ = counts.most_common(1)[0]
    document["security"] = json.loads(common)
    for operation in operations:
        if operation["security"] == document["security"]:
            del operation["security"]


def _candidates(names: tuple[str, ...]) -> Iterator[str]:
    yield from names
    yield from (f"{names[-1]}{number}" for number in count(2))


def _pascal(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))


def _operations(document: Document) -> Iterator[Document]:
    for item in document["paths"].values():
        yield from item.values()


def _responses(operation: Document) -> Iterator[_Location]:
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
        yield _Location(responses, status, (name, f"{name}Of{_pascal(operation['tags'][0])}"))


def _parameters(operation: Document) -> Iterator[_Location]:
    parameters = operation.get("parameters", [])
    for index, parameter in enumerate(parameters):
        name = _pascal(parameter["name"])
        yield _Location(parameters, index, (name, f"{name}Of{_pascal(operation['tags'][0])}"))


def _bodies(operation: Document) -> Iterator[_Location]:
    if "requestBody" in operation:
        yield _Location(operation, "requestBody", (_pascal(operation["operationId"]),))


def _schemas(document: Document) -> Iterator[_Location]:
    """Yield every schema inside the named schemas, and every schema of a parameter, body or response."""
    components = document["components"]
    for name, schema in components["schemas"].items():
        yield from _inner_schemas(schema, name, None)
    for section in _SECTIONS:
        for name, component in components.get(section, {}).items():
            yield from _held_schemas(component, name)
    for operation in _operations(document):
        yield from _held_schemas(operation, _pascal(operation["operationId"]))


def _held_schemas(value: Any, name: str) -> Iterator[_Location]:
    """Yield the schemas inside a value that is not itself a schema."""
    if isinstance(value, list):
        for item in value:
            yield from _held_schemas(item, name)
    elif isinstance(value, dict):
        name = _pascal(value["name"]) if "name" in value and "in" in value else name
        for key, member in value.items():
            if key == "schema":
                yield from _with_inner(_Location(value, key, (name,)))
            elif key not in ("example", "examples"):
                yield from _held_schemas(member, name)


def _with_inner(location: _Location) -> Iterator[_Location]:
    if isinstance(location.value, dict):
        yield location
        yield from _inner_schemas(location.value, location.names[0], location)


def _inner_schemas(schema: Document, name: str, parent: _Location | None) -> Iterator[_Location]:
    for key in _SCHEMA_KEYS:
        if key in schema:
            yield from _with_inner(_Location(schema, key, (f"{name}Item",), parent))
    for key in _SCHEMA_LISTS:
        options = schema.get(key, [])
        for index in range(len(options)):
            yield from _with_inner(_Location(options, index, (f"{name}Value",), parent))
    for key in _SCHEMA_MAPS:
        members = schema.get(key, {})
        for member in members:
            inner = _pascal(member) if key == "properties" else f"{name}Item"
            yield from _with_inner(_Location(members, member, (inner, f"{inner}Of{name}"), parent))


def _drop_repetitions(document: Document) -> None:
    for name, schema in document["components"]["schemas"].items():
        _drop_title(schema, name)
    for location in _schemas(document):
        _drop_title(location.value, location.names[0])
    for operation in _operations(document):
        for parameter in operation.get("parameters", []):
            if parameter["schema"].get("description") == parameter.get("description"):
                parameter["schema"].pop("description", None)
            if parameter.get("required") is False:  # false is the default
                del parameter["required"]
            _drop_null(parameter["schema"])


def _drop_null(schema: Document) -> None:
    """Remove null from the values of a parameter, since a URL or header cannot have null."""
    match schema.get("anyOf"):
        case [dict(value), {"type": "null"}] if not value.keys() & schema.keys():
            del schema["anyOf"]
            schema.update(value)
        case [*values, {"type": "null"}]:
            schema["anyOf"] = values


def _join_problems(document: Document) -> None:
    """Make one `default` response of the usual problems of an operation; others keep their own response.

    A problem is usual if its response is the most frequent one with its status. A set of usual problems that
    several operations have is a `default` response. Each operation gets the largest such set among its own.
    """
    operations = [operation["responses"] for operation in _operations(document)]
    counts = Counter(
        (status, canonical_json(response))
        for responses in operations
        for status, response in responses.items()
        if "example" in response.get("content", {}).get(MEDIA_TYPE, {})
    )
    usual_texts = dict(response for response, _ in reversed(counts.most_common()))
    usual_statuses = [
        frozenset(
            status for status, text in usual_texts.items() if canonical_json(responses.get(status)) == text
        )
        for responses in operations
    ]
    shared_sets = [
        statuses
        for statuses, number in Counter(usual_statuses).items()
        if statuses and number >= _MIN_OPERATIONS
    ]
    common = frozenset.intersection(*shared_sets) if shared_sets else frozenset()
    examples, shared = (document["components"].setdefault(name, {}) for name in ("examples", "responses"))
    for responses, usual in zip(operations, usual_statuses, strict=True):
        joined = max(
            (statuses for statuses in shared_sets if statuses <= usual), key=len, default=frozenset()
        )
        if joined:
            name = _problems_name(joined - common)
            shared[name] = _joined({status: responses.pop(status) for status in sorted(joined)}, examples)
            responses["default"] = {"$ref": reference_to("responses", name)}


def _problems_name(statuses: frozenset[str]) -> str:
    """Return the name of a joined response by its less common statuses: `RequestProblem404-409`."""
    kind = "RequestProblem" if statuses >= _BODY_STATUSES else "Problem"
    return kind + "-".join(sorted(statuses - _BODY_STATUSES if kind == "RequestProblem" else statuses))


def _joined(problems: dict[str, Document], examples: Document) -> Document:
    """Return one response for several problems, and add an example of each of them."""
    contents = {status: response["content"][MEDIA_TYPE] for status, response in problems.items()}
    (schema,) = {canonical_json(content["schema"]) for content in contents.values()}
    references = {}
    for status, content in contents.items():
        name = _pascal(content["example"]["type"].rpartition("/")[2])
        examples[name] = {"summary": problems[status]["description"], "value": content["example"]}
        references[status] = {"$ref": reference_to("examples", name)}
    return {
        "description": f"A problem with the status {', '.join(problems)}",
        "content": {MEDIA_TYPE: {"schema": json.loads(schema), "examples": references}},
    }


def _merge_null(schema: Document) -> None:
    """Replace an `anyOf` of a type and null by a list of types."""
    members = {"const", "enum", *schema}
    match schema.get("anyOf"):
        case [{"type": str(kind)} as typed, {"type": "null"}] if not typed.keys() & members:
            del schema["anyOf"]
            schema.update(typed, type=[kind, "null"])


def _drop_title(schema: Document, name: str) -> None:
    title = _pascal(schema.get("title", "")).lower()
    if title in (_pascal(name).lower(), f"response{_pascal(name).lower()}"):
        schema.pop("title", None)
