"""`rankery interleavings`: online comparison of rankers by clicks on interleaved lists."""

from datetime import datetime
from typing import Annotated, Any

import typer

from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.options import Limit
from rankery.cli.printing import moment, number, p_value, plain, say, table
from rankery.cli.references import interleaving_of
from rankery.cli.served_events import EventsFile, batches, format_event_counts, read_events
from rankery.cli.service_options import service_command

interleavings = typer.Typer(help="Compare rankers by clicks on interleaved lists.", no_args_is_help=True)

_PATH = "/v1/interleavings"
InterleavingReference = Annotated[
    str,
    typer.Argument(
        help="The interleaving's id or name.", autocompletion=complete_from_service("interleavings")
    ),
]


@service_command(interleavings, "create")
def create_interleaving(
    session: ServiceConnection,
    name: Annotated[str, typer.Argument(help="Name of the interleaving.")],
    model: Annotated[list[str] | None, typer.Option(help="Model to compare; give two or more.")] = None,
    ranking: Annotated[
        list[str] | None, typer.Option(help="Name of a ranker of your system; give two or more.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="Method: team_draft, balanced, probabilistic or optimised.")
    ] = "team_draft",
    length: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of documents in a list.")] = 10,
    difference: Annotated[
        float,
        typer.Option(
            min=0.001, max=0.499, help="Smallest difference to detect between the share of wins and one half."
        ),
    ] = 0.05,
) -> None:
    """Create an interleaving of models, or of rankings that your system produces.

    Example: `rankery interleavings create features --model web:3 --model web:4`
    """
    if bool(model) == bool(ranking):
        raise WrongUsage("give either --model or --ranking, two or more times")
    body: dict[str, Any] = {"name": name, "method": method, "length": length, "difference": difference}
    body |= {"models": model} if model else {"rankings": ranking}
    interleaving = session.client.request("POST", _PATH, json=body).json()
    size, unit = interleaving["sample_size"], interleaving["unit"]
    say(f"a test with a fixed sample size would need {size:,} decided {unit}s")
    session.show(interleaving, plain(interleaving["id"]))


@service_command(interleavings, "list")
def list_interleavings(session: ServiceConnection, limit: Limit = 20) -> None:
    """List interleavings, newest first.

    Example: `rankery interleavings list`
    """
    resources = session.items(_PATH, limit)
    shown = table("id", "name", "rankers", "method", "created", wrap=("name", "rankers"))
    for one in resources:
        created = moment(datetime.fromisoformat(one["created_at"]))
        rankers = plain(", ".join(one["rankers"]))
        shown.add_row(one["id"], plain(one["name"]), rankers, one["method"], created)
    session.show(resources, shown)


@service_command(interleavings, "show")
def show_interleaving(session: ServiceConnection, interleaving: InterleavingReference) -> None:
    """Show an interleaving.

    Example: `rankery interleavings show features`
    """
    answer = session.client.request("GET", f"{_PATH}/{interleaving_of(session, interleaving)}").json()
    shown = table("", "")
    for name, value in answer.items():
        shown.add_row(plain(name), plain(", ".join(value) if isinstance(value, list) else value))
    session.show(answer, shown)


@service_command(interleavings, "send-clicks")
def send_clicks(session: ServiceConnection, interleaving: InterleavingReference, file: EventsFile) -> None:
    """Send clicks on lists of an interleaving; sending a click again has no effect.

    Events with another `action` than `click` are counted and ignored.

    Example: `rankery interleavings send-clicks features clicks.ndjson`
    """
    events = read_events(file)
    clicks = [
        (event["ranking_id"], event["document_id"])
        for event in events
        if event.get("action", "click") == "click"
    ]
    interleaving = interleaving_of(session, interleaving)
    total = {"recorded": 0, "repeated": 0, "late": 0, "unknown": 0, "ignored": len(events) - len(clicks)}
    for batch in batches(clicks):
        answer = session.client.send_clicks(interleaving, batch).model_dump()
        for name, count in answer.items():
            total[name] += count
    session.show(total, format_event_counts(total))


@service_command(interleavings, "verdict")
def show_verdict(session: ServiceConnection, interleaving: InterleavingReference) -> None:
    """Show which ranker users prefer; repeated checks do not raise the error rate.

    Example: `rankery interleavings verdict features`
    """
    answer = session.client.request("GET", f"{_PATH}/{interleaving_of(session, interleaving)}/verdict").json()
    numbers = ("wins", "losses", "ties", "Δ", "p")
    shown = table("first", "second", *numbers, "conclusion", right=numbers)
    for pair in answer["pairs"]:
        counts = (plain(pair[name]) for name in ("wins", "losses", "ties"))
        values = (number(pair["delta"]), p_value(pair["sequential_p"]))
        shown.add_row(plain(pair["first"]), plain(pair["second"]), *counts, *values, pair["conclusion"])
    session.show(answer, plain(answer["sentence"]), shown)


@service_command(interleavings, "delete")
def delete_interleaving(session: ServiceConnection, interleaving: InterleavingReference) -> None:
    """Delete an interleaving with its lists and clicks permanently.

    Example: `rankery interleavings delete features`
    """
    interleaving = interleaving_of(session, interleaving)
    session.client.delete_interleaving(interleaving)
    say(f"deleted {interleaving}")
    session.show([interleaving])
