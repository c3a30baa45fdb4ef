"""References to resources: an id or an object."""

from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote

from rankery.client.schemas.requests import ModelSystem, RankingSystem


class HasId(Protocol):
    """A resource with an id."""

    @property
    def id(self) -> str:
        """Its id."""


def id_of(thing: str | HasId) -> str:
    """Return the id, or the reference as it was given."""
    return thing if isinstance(thing, str) else thing.id


def address_of(thing: str | HasId) -> str:
    """Return the reference as it stands in an address."""
    return quote(id_of(thing), safe="@:")


def part_of_address(text: str) -> str:
    """Return any text as one part of an address; dots alone would mean another folder."""
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def system_of(system: "str | HasId | ModelSystem | RankingSystem") -> dict[str, Any]:
    """Return a model or a ranking as comparisons are told of it; ids of rankings begin with `rnk_`."""
    if isinstance(system, Mapping):
        return dict(system)
    reference = id_of(system)
    return {"ranking_id" if reference.startswith("rnk_") else "model": reference}
