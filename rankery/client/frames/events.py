"""Clicks and other events on lists, from tuples or a data frame."""

from collections.abc import Iterable
from operator import index
from typing import Any

from rankery.client.frames.candidates import DOCUMENT, identifiers
from rankery.client.frames.cells import listed, suggestion
from rankery.client.frames.incoming import as_table, collected, is_frame
from rankery.client.references import described
from rankery.errors import DataUnusable, WrongType

RANKING = "ranking_id"
_OPTIONAL = ("action", "at")


def event_tuples(events: Any, max_size: int) -> list[tuple[Any, ...]]:
    """Return events as tuples of a ranking id, a document id as text, and up to `max_size` values in all.

    Args:
        events: Tuples; or a data frame with the columns `ranking_id` and `document_id`. If `max_size` is 4,
            the columns `action` and `at` follow, with None where they have no value.

    Raises:
        DataUnusable: An event is not a tuple of these sizes, or has an id of another type, and the message
            has its position; or the data frame lacks a column.
        WrongType: The events are not iterable, or are a string or bytes.
    """
    events = collected(events)
    if is_frame(events):
        return _of_frame(events, max_size)
    if not isinstance(events, Iterable) or isinstance(events, str | bytes):
        raise WrongType(
            f"tuples of ({RANKING}, {DOCUMENT}) or a data frame are expected, not {described(events)}"
        )
    return [_of_tuple(position, event, max_size) for position, event in enumerate(events)]


def _of_frame(frame: Any, max_size: int) -> list[tuple[Any, ...]]:
    from rankery.client.frames.arrow import pa

    table = as_table(frame)
    names = table.column_names
    for name in (RANKING, DOCUMENT):
        if name not in names:
            raise DataUnusable(
                f"there is no column {name!r}{suggestion(name, names)} (the frame has {listed(names)})"
            )
    ids = [identifiers(frame, name, table.column(name)).cast(pa.string()) for name in (RANKING, DOCUMENT)]
    nulls = pa.nulls(len(table))
    others = [table.column(name) if name in names else nulls for name in _OPTIONAL[: max_size - 2]]
    return list(zip(*(column.to_pylist() for column in (*ids, *others)), strict=True))


def _of_tuple(position: int, event: Any, max_size: int) -> tuple[Any, ...]:
    if not isinstance(event, tuple | list) or not 2 <= len(event) <= max_size:
        raise DataUnusable(
            f"event {position}: a tuple of ({RANKING}, {DOCUMENT}) is expected, not {described(event)}"
        )
    ranking, document, *others = event
    if not isinstance(ranking, str):
        raise DataUnusable(f"event {position}: the {RANKING} must be a text, not {described(ranking)}")
    return (ranking, _document_id(position, document), *others)


def _document_id(position: int, document: Any) -> str:
    """Return the id of a document, a text or a whole number, as text."""
    if isinstance(document, str):
        return document
    try:
        if not isinstance(document, bool):
            return str(index(document))
    except TypeError:
        pass
    raise DataUnusable(
        f"event {position}: the {DOCUMENT} must be a text or a whole number, not {described(document)}"
    )
