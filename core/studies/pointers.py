"""Read and replace parts of a JSON document by pointer (RFC 6901)."""

from collections.abc import Mapping
from typing import Any

ABSENT = object()


def tokens_of(pointer: str) -> tuple[str, ...]:
    """Return the unescaped reference tokens of a pointer; empty for the whole document."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def read(document: Any, pointer: str) -> Any:
    """Return the value at a pointer, `ABSENT` where there is none."""
    for token in tokens_of(pointer):
        if not isinstance(document, Mapping) or token not in document:
            return ABSENT
        document = document[token]
    return document


def replaced(document: Any, pointer: str, value: Any) -> Any:
    """Return a copy of the document with another value at a pointer; missing parents become objects."""

    def put(part: Any, tokens: tuple[str, ...]) -> Any:
        if not tokens:
            return value
        members = dict(part) if isinstance(part, Mapping) else {}
        members[tokens[0]] = put(members.get(tokens[0]), tokens[1:])
        return members

    return put(document, tokens_of(pointer))


def are_related(a: str, b: str) -> bool:
    """Return whether two pointers are equal or one is a parent of the other."""
    shorter, longer = sorted((tokens_of(a), tokens_of(b)), key=len)
    return longer[: len(shorter)] == shorter
