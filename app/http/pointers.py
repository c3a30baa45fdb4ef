"""JSON pointers of invalid values: converted from pydantic's error locations, or below another pointer."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from core.errors import InputProblem, InvalidInput, pointer_of
from core.names import did_you_mean

Request = TypeVar("Request", bound=BaseModel)

_PHRASES = {
    "missing": "required",
    "extra_forbidden": "unknown field",
    "model_attributes_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
    "list_type": "must be a JSON array",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "finite_number": "must be a finite number",
}

_SUBJECT = re.compile(r"^(Input|String|List|Dictionary|Value) should ")


@contextmanager
def pointers_below(pointer: str) -> Iterator[None]:
    """Put a pointer before the pointers of an `InvalidInput` that the block raises."""
    try:
        yield
    except InvalidInput as invalid:
        raise invalid.below(pointer) from invalid


def problems_of(check: Callable[[], object], pointer: str = "") -> Sequence[InputProblem]:
    """Return the problems of the `InvalidInput` that a check raises, with a pointer before their pointers."""
    try:
        check()
    except InvalidInput as invalid:
        return invalid.below(pointer).problems
    return ()


def body_errors(error: ValidationError) -> list[dict[str, Any]]:
    """Return pydantic's errors about a parsed body with locations that begin with `body`, as FastAPI does."""
    return [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_url=False)]


def input_problems(errors: Iterable[Mapping[str, Any]], body: Any) -> list[InputProblem]:
    """Translate pydantic's errors, dropping the union tags that it mixes into locations.

    Query, path and header parameters are pointed at by their names, as if they were members of a body.
    """
    problems = [InputProblem(_pointer(error, body), _detail(error)) for error in errors]
    return list(dict.fromkeys(problems))


def validated(model: type[Request], body: Mapping[str, Any]) -> Request:
    """Return the request that a body in JSON describes, for requests that are made from other requests.

    Raises:
        InvalidInput: The body is not valid.
    """
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise InvalidInput(*input_problems(body_errors(error), body)) from error


def name_problem(error: ValidationError) -> InvalidInput:
    """Translate pydantic's error about the name in the form of an upload."""
    return InvalidInput.at("/name", _detail(error.errors()[0]))


def _pointer(error: Mapping[str, Any], body: Any) -> str:
    origin, *parts = error["loc"]
    if origin != "body":
        return pointer_of(*parts)
    if error["type"] == "json_invalid":
        return ""
    untagged = _untagged(parts, body, missing=error["type"] == "missing")
    path = parts if untagged is None else untagged
    tag = _discriminator(error) if error["type"].startswith("union_tag") else ""
    return pointer_of(*path, *([tag] if tag else []))


def _untagged(parts: Sequence[str | int], value: Any, *, missing: bool) -> list[str | int] | None:
    """Return a location without its union tags, which are the parts that the value does not have."""
    if not parts or not isinstance(value, dict | list):
        return []
    head, *rest = parts
    if _holds(value, head):
        below = _untagged(rest, value[head], missing=missing)  # type: ignore[call-overload, index, unused-ignore]
        if below is not None:
            return [head, *below]
    if rest:
        return _untagged(rest, value, missing=missing)
    return [head] if missing else []


def _holds(value: dict[str, Any] | list[Any], part: str | int) -> bool:
    if isinstance(value, dict):
        return part in value
    return isinstance(part, int) and part < len(value)


def _discriminator(error: Mapping[str, Any]) -> str:
    # A callable discriminator is reported as its function's name followed by "()".
    name = str(error.get("ctx", {}).get("discriminator", "")).strip("'")
    return "" if name.endswith("()") else name


def _detail(error: Mapping[str, Any]) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "missing" and error["loc"] == ("body",):
        return "a JSON body is required"
    if kind == "json_invalid":
        return f"not valid JSON: {context['error']}"
    if kind == "union_tag_invalid":
        tags = re.findall(r"'([^']+)'", context["expected_tags"])
        hint = did_you_mean(str(context["tag"]), tags)
        return f"must be one of {context['expected_tags']}" + (f"; {hint}" if hint else "")
    if kind == "union_tag_not_found":
        return "required"
    message = _SUBJECT.sub("must ", str(error["msg"]).removeprefix("Value error, "))
    message = message.replace(" after validation", "")
    return _PHRASES.get(kind, message[:1].lower() + message[1:])
