"""Tags of jobs and models: values by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute

from core.errors import InvalidInput

MAX_TAGS = 64

# Names of tags with their required value, None for any value.
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
    """Return tags with changes; None removes a tag.

    Raises:
        InvalidInput: There would be too many tags.
    """
    merged = {**(tags or {}), **changes}
    kept = {tag: value for tag, value in merged.items() if value is not None}
    if len(kept) > MAX_TAGS:
        raise InvalidInput.at("/tags", f"would make {len(kept)} tags; there are at most {MAX_TAGS}")
    return kept
