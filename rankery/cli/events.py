"""`rankery events` and `audit`: the event log and the audit log."""

from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankery.cli.connection import ServiceConnection
from rankery.cli.options import Limit
from rankery.cli.printing import json_line, moment, plain, show_text, table
from rankery.cli.service_options import on_service

if TYPE_CHECKING:
    from rankery.client.views.webhook import EventView


events = typer.Typer(help="List or follow events.", no_args_is_help=True)
audit = typer.Typer(help="List the audit log; needs the scope admin.", no_args_is_help=True)


@events.command("list")
@on_service
def list_events(
    session: ServiceConnection,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Print events as they happen, one per line, until Ctrl-C.")
    ] = False,
    kind: Annotated[
        list[str] | None, typer.Option(help="Kind of events, such as job.ended; may be repeated.")
    ] = None,
    of: Annotated[str | None, typer.Option(metavar="ID", help="Show only events of this object.")] = None,
    after: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Show only events after the event with this id; "
            "with --follow, 0 begins with the oldest stored event.",
        ),
    ] = None,
    limit: Limit = 50,
) -> None:
    """List events, newest first, or follow new events.

    With --follow, --limit does not apply, and with --json each event is a line of JSON. A lost connection is
    reopened without missing events.

    Example: `rankery events list --follow --kind job.ended --kind gate.refused`
    """
    if follow:
        for event in session.client.events(after, kinds=kind, object=of):
            show_text(f"{json_line(event) if session.json else _line(event)}\n")
        return
    events = list(islice(session.client.past_events(after=after, kinds=kind, object=of), limit))
    shown = table("id", "at", "kind", "object", "details", wrap=("details",))
    for event in events:
        shown.add_row(
            str(event.id), moment(event.at), event.kind, plain(event.object.id), plain(_details(event.data))
        )
    session.show(events, shown)


@audit.command("list")
@on_service
def list_audit(
    session: ServiceConnection,
    key: Annotated[str | None, typer.Option(help="Show only requests with this API key, key_…")] = None,
    limit: Limit = 50,
) -> None:
    """List the audit log, the requests that may have changed something, newest first; needs the scope admin.

    Example: `rankery audit list --limit 200`
    """
    entries = session.items("/v1/audit", limit, key_id=key)
    shown = table("at", "key", "method", "path", "status", "address", right=("status",), wrap=("path",))
    for entry in entries:
        shown.add_row(
            moment(datetime.fromisoformat(entry["at"])),
            plain(entry["key_id"] or ""),
            entry["method"],
            plain(entry["path"]),
            str(entry["status"]),
            plain(entry.get("address") or ""),
        )
    session.show(entries, shown)


def _line(event: "EventView") -> str:
    return f"{event.at:%Y-%m-%d %H:%M:%S} {event.kind} {event.object.id} {_details(event.data)}".rstrip()


def _details(data: dict[str, Any]) -> str:
    """Format the scalar fields of an event; nested values are left out."""
    values = {key: value for key, value in data.items() if isinstance(value, str | int | float)}
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in values.items())
