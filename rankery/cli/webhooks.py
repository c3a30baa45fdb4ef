"""`rankery webhooks`, `events` and `audit`: receivers of events, the event log and the audit log."""

from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import FAILED, WrongUsage
from rankery.cli.options import Limit
from rankery.cli.printing import facts, json_line, moment, number, plain, say, show_text, table
from rankery.cli.service_options import service_command

if TYPE_CHECKING:
    from rankery.client.views.webhook import EventView


webhooks = typer.Typer(help="Send events to other systems; needs the scope admin.", no_args_is_help=True)

_PATH = "/v1/webhooks"
Reference = Annotated[str, typer.Argument(help="The webhook's id, whk_…")]
Events = Annotated[
    list[str] | None,
    typer.Option(
        "--event", help="Kind of events to send, such as job.ended; may be repeated.", show_default="all"
    ),
]
NewEvents = Annotated[
    list[str] | None,
    typer.Option("--event", help="Kind of events to send instead of the present ones; may be repeated."),
]


@service_command(webhooks, "list")
def list_webhooks(session: ServiceConnection, limit: Limit = 50) -> None:
    """List webhooks with the number of their pending deliveries.

    Example: `rankery webhooks list`
    """
    webhooks = session.items(_PATH, limit)
    columns = ("id", "url", "events", "state", "waiting", "delivered")
    shown = table(*columns, right=("waiting",), wrap=("url", "events"))
    for one in webhooks:
        last = one.get("last_delivered_at")
        shown.add_row(
            one["id"],
            plain(one["url"]),
            ", ".join(one["events"]) or "all",
            _state(one),
            plain(one["waiting"]),
            "never" if last is None else moment(datetime.fromisoformat(last)),
        )
    session.show(webhooks, shown)


@service_command(webhooks, "show")
def show_webhook(session: ServiceConnection, webhook: Reference, limit: Limit = 10) -> None:
    """Show a webhook and its latest deliveries, with the responses of the receiver.

    Example: `rankery webhooks show whk_01k9x2m4q7c8v5n3b6r9`
    """
    found = _request(session, "GET", f"/{webhook}")
    deliveries = session.items(f"{_PATH}/{webhook}/deliveries", limit)
    shown = table("id", "event", "object", "state", "attempts", "last response", right=("attempts",))
    for one in deliveries:
        last = (one.get("log") or [{}])[-1]
        answer = last.get("error") or last.get("status") or ""
        words = (one["id"], one["event_kind"], plain(one["object_id"]), one["state"])
        shown.add_row(*words, plain(one["attempts"]), plain(answer))
    session.show({"webhook": found, "deliveries": deliveries}, facts(_properties(found)), "", shown)


@service_command(webhooks, "create")
def create_webhook(
    session: ServiceConnection,
    receiver: Annotated[str, typer.Argument(metavar="URL", help="URL that receives the events, https://…")],
    event: Events = None,
    description: Annotated[str | None, typer.Option(help="Description of the webhook.")] = None,
    project: Annotated[str | None, typer.Option(help="Send only events of this project.")] = None,
) -> None:
    """Create a webhook that posts events to a URL; its signing secret is not shown again.

    Example: `rankery webhooks create https://ci.example.org/rankery --event gate.refused --event alias.moved`
    """
    values = {"url": receiver, "events": event, "description": description, "project": project}
    webhook = _request(
        session, "POST", "", {key: value for key, value in values.items() if value is not None}
    )
    say(f"{webhook['id']} receives {', '.join(webhook['events']) or 'all events'}; store its secret")
    session.show(
        webhook, facts([("id", webhook["id"]), ("secret", webhook["secret"]), ("url", webhook["url"])])
    )


@service_command(webhooks, "change")
def change_webhook(
    session: ServiceConnection,
    webhook: Reference,
    receiver: Annotated[str | None, typer.Option(metavar="URL", help="New URL of the receiver.")] = None,
    event: NewEvents = None,
    description: Annotated[str | None, typer.Option(help="Description of the webhook.")] = None,
    enabled: Annotated[
        bool | None, typer.Option("--enable/--disable", help="Send events, or stop sending them.")
    ] = None,
) -> None:
    """Change, enable or disable a webhook.

    Example: `rankery webhooks change whk_01k9x2m4q7c8v5n3b6r9 --enable`
    """
    values = {"url": receiver, "events": event, "description": description, "enabled": enabled}
    body = {key: value for key, value in values.items() if value is not None}
    if not body:
        raise WrongUsage("give a change: --receiver, --event, --description, --enable or --disable")
    answer = _request(session, "PATCH", f"/{webhook}", body)
    session.show(answer, facts(_properties(answer)))


@service_command(webhooks, "test")
def test_webhook(session: ServiceConnection, webhook: Reference) -> None:
    """Post a test event now and show the response; the exit code is 1 if it was not delivered.

    Example: `rankery webhooks test whk_01k9x2m4q7c8v5n3b6r9`
    """
    answer = _request(session, "POST", f"/{webhook}/test")
    rows = [("delivered", "yes" if answer["delivered"] else "no"), ("status", answer.get("status"))]
    rows += [("error", answer.get("error")), ("response", answer.get("answer") or None)]
    session.show(answer, facts([*rows, ("seconds", number(answer.get("took_seconds")))]))
    if not answer["delivered"]:
        raise typer.Exit(FAILED)


@service_command(webhooks, "redeliver")
def redeliver(
    session: ServiceConnection,
    webhook: Reference,
    deliveries: Annotated[list[str], typer.Argument(help="Ids of deliveries, dlv_…")],
) -> None:
    """Deliver events again, whether they were delivered or not.

    Example: `rankery webhooks redeliver whk_01k9x2m4q7c8v5n3b6r9 dlv_01k9x2m4q7c8v5n3b6r9`
    """
    redelivered = [_request(session, "POST", f"/{webhook}/deliveries/{one}/redeliver") for one in deliveries]
    say(f"queued {len(redelivered)} deliveries")
    session.show(redelivered)


@service_command(webhooks, "rotate")
def rotate(session: ServiceConnection, webhook: Reference) -> None:
    """Rotate the signing secret and print the new one, once; the old secret also signs for a day.

    Example: `rankery webhooks rotate whk_01k9x2m4q7c8v5n3b6r9`
    """
    answer = _request(session, "POST", f"/{webhook}/rotate")
    session.show(answer, facts([("id", answer["id"]), ("secret", answer["secret"])]))


@service_command(webhooks, "delete")
def delete_webhooks(
    session: ServiceConnection, webhooks: Annotated[list[str], typer.Argument(help="Ids, whk_…")]
) -> None:
    """Delete webhooks with their deliveries.

    Example: `rankery webhooks delete whk_01k9x2m4q7c8v5n3b6r9`
    """
    for webhook in webhooks:
        session.client.request("DELETE", f"{_PATH}/{webhook}")
        say(f"deleted {webhook}")
    session.show(webhooks)


def _request(
    session: ServiceConnection,
    method: Literal["GET", "POST", "PATCH"],
    path: str,
    body: dict[str, Any] | None = None,
) -> dict[str, Any]:
    document: dict[str, Any] = session.client.request(method, f"{_PATH}{path}", json=body).json()
    return document


def _state(webhook: dict[str, Any]) -> str:
    if not webhook["enabled"]:
        return "disabled"
    return "failing" if webhook.get("failing_since") else "active"


def _properties(webhook: dict[str, Any]) -> list[tuple[str, Any]]:
    return [
        ("id", webhook["id"]),
        ("url", webhook["url"]),
        ("events", ", ".join(webhook["events"]) or "all"),
        ("description", webhook.get("description")),
        ("project", webhook.get("project")),
        ("state", _state(webhook)),
        ("reason", webhook.get("disabled_reason")),
        ("waiting", webhook["waiting"]),
    ]


events = typer.Typer(help="List or follow events.", no_args_is_help=True)
audit = typer.Typer(help="List the audit log; needs the scope admin.", no_args_is_help=True)


@service_command(events, "list")
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


@service_command(audit, "list")
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
