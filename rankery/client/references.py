"""References to resources: an id, a name or an object."""

import re
from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeGuard
from urllib.parse import quote

from rankery.client.schemas.requests import ModelSystem, RankingSystem
from rankery.errors import InvalidArgument, WrongType

DATASET_PREFIX = "ds_"
RANKING_PREFIX = "rnk_"
_SOURCE_URL = re.compile(r"(s3|gs|https?|hf)://|(hf|ir_datasets|upload):", re.ASCII)


class HasId(Protocol):
    """A resource with an id."""

    @property
    def id(self) -> str:
        """Identifier."""


def id_of(thing: str | HasId, accepted: str = "an id, a name or an object of the client") -> str:
    """Return the id of a resource, or a text unchanged.

    Args:
        accepted: Accepted types, for the message.

    Raises:
        WrongType: The argument is of another type.
    """
    thing_id = thing if isinstance(thing, str) else getattr(thing, "id", None)
    if isinstance(thing_id, str):
        return thing_id
    raise WrongType(f"{accepted} is expected here, not {described(thing)}")


def is_source_url(thing: object) -> TypeGuard[str]:
    """Return whether a text is the URL of data to import, such as `s3://clicks/may.parquet`."""
    return isinstance(thing, str) and _SOURCE_URL.match(thing) is not None


def path_of(thing: Any, accepted: str) -> Path:
    """Return a path.

    Args:
        accepted: Accepted types, for the message.

    Raises:
        WrongType: The argument is of another type.
    """
    if isinstance(thing, str | PathLike):
        return Path(thing)
    raise WrongType(f"{accepted} is expected here, not {described(thing)}")


def mapping_of(thing: Any, accepted: str) -> dict[Any, Any]:
    """Return a mapping as a dictionary.

    Args:
        accepted: Accepted types, for the message.

    Raises:
        WrongType: The argument is of another type.
    """
    if isinstance(thing, Mapping):
        return dict(thing)
    raise WrongType(f"{accepted} is expected here, not {described(thing)}")


def described(value: Any) -> str:
    """Return a short description of a value of a wrong type.

    Example:
        >>> described(3), described([1, 2])
        ('3 (int)', 'a list of 2')
    """
    name = f"{type(value).__module__.partition('.')[0]}.{type(value).__qualname__}".removeprefix("builtins.")
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"a {name} of shape {shape}"
    if value is None or isinstance(value, str | int | float):
        return "None" if value is None else f"{value!r:.60} ({name})"
    article = "an" if name[0].lower() in "aeiou" else "a"
    return f"{article} {name} of {len(value)}" if isinstance(value, Collection) else f"{article} {name}"


def escaped_reference(thing: str | HasId) -> str:
    """Return the reference, escaped as a part of a URL path.

    Raises:
        InvalidArgument: See `escaped_path_segment`.
    """
    return escaped_path_segment(id_of(thing), safe="@:")


def escaped_path_segment(text: str, safe: str = "") -> str:
    """Escape a text as one part of a URL path; dots alone would select another folder.

    Raises:
        InvalidArgument: The text has a lone surrogate.
    """
    try:
        return quote(text, safe=safe) if text.strip(".") else text.replace(".", "%2E")
    except UnicodeEncodeError as error:
        raise not_unicode(error) from error


def not_unicode(error: UnicodeEncodeError) -> InvalidArgument:
    """Return the error of a text that UTF-8 cannot encode, such as bytes of a command line in Latin-1."""
    return InvalidArgument(f"{error.object!r} is not valid Unicode text")


def system_of(system: "str | HasId | ModelSystem | RankingSystem") -> dict[str, Any]:
    """Return the system of a comparison: a model or a ranking, whose ids begin with `rnk_`."""
    if isinstance(system, Mapping):
        return dict(system)
    reference = id_of(system, "a model, a ranking or scores")
    return {"ranking_id" if reference.startswith(RANKING_PREFIX) else "model": reference}
