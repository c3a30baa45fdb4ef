"""Files of events on lists that users saw."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from rankery.errors import FileUnusable
from rankery.json_text import parsed_json

EventsFile = Annotated[
    Path,
    typer.Argument(
        exists=True,
        dir_okay=False,
        help='JSON lines with one event each: {"ranking_id": "…", "document_id": "d2", "action": "click"}.',
    ),
]
_MAX_EVENTS_PER_REQUEST = 1_000
_REQUIRED_FIELDS = ("ranking_id", "document_id")
Event = TypeVar("Event")


def read_events(path: Path) -> list[dict[str, Any]]:
    """Read a file of events.

    Raises:
        FileUnusable: The file cannot be read, or a line is not an event; the message then has its number.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FileUnusable(f"{path} cannot be read: {error}") from None
    return [_event(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def batches(events: Sequence[Event]) -> Iterator[Sequence[Event]]:
    """Yield events in batches of the size of one request."""
    for first in range(0, len(events), _MAX_EVENTS_PER_REQUEST):
        yield events[first : first + _MAX_EVENTS_PER_REQUEST]


def format_event_counts(counts: Mapping[str, int]) -> str:
    """Format the number of events by outcome: "3 recorded, 1 repeated"."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _event(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        event = parsed_json(line)
    except ValueError as error:
        raise FileUnusable(f"{path.name}, line {number}: invalid JSON: {error}") from None
    if not isinstance(event, dict) or not all(isinstance(event.get(name), str) for name in _REQUIRED_FIELDS):
        raise FileUnusable(f"{path.name}, line {number}: an event needs a ranking_id and a document_id")
    return event
