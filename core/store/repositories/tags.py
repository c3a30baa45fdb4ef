"""Tags of jobs and models: texts by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute

from core.errors import InvalidInput

MAX_TAGS = 64

# Names of tags with the value that each must have, None where any will do.
WantedTags = Sequence[tuple[str, str | None]]


def with_tags(
    rows: Select[Any], column: InstrumentedAttribute[dict[str, str] | None], wanted: WantedTags
) -> Select[Any]:
    """Filter rows by tags, which must all match."""
    for tag, value in wanted:
        found = column[tag].as_string()
        rows = rows.where(found.is_not(None) if value is None else found == value)
    return rows


def changed_tags(tags: Mapping[str, str] | None, changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return tags with changes: those that are None are removed, all others stay or are set.

    Raises:
        InvalidInput: They would be too many.
    """
    merged = {**(tags or {}), **changes}
    kept = {tag: value for tag, value in merged.items() if value is not None}
    if len(kept) > MAX_TAGS:
        raise InvalidInput.at("/tags", f"would make {len(kept)} tags; there are at most {MAX_TAGS}")
    return kept
