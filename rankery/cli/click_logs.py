"""`rankery click-logs`: logs of ranked lists and clicks on a service."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table

from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.datasets import delete_all, show_data
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.findings import findings_table
from rankery.cli.interleavings import InterleavingReference
from rankery.cli.names import ClickLogFormat
from rankery.cli.options import Limit, OfProject, Permanently
from rankery.cli.printing import facts, moment, plain, table
from rankery.cli.references import NameUnclear, interleaving_of
from rankery.cli.served_events import EventsFile, batches, format_event_counts, read_events
from rankery.cli.service_options import service_command
from rankery.cli.texts import json_object

if TYPE_CHECKING:
    from rankery.client import ClickLog

click_logs = typer.Typer(help="Upload, inspect and delete click logs.", no_args_is_help=True)

_PREFIX = "clk_"
LogReference = Annotated[
    str, typer.Argument(help="The log's id or name.", autocompletion=complete_from_service("click-logs"))
]

_Actions = Annotated[
    str | None, typer.Option(metavar="JSON", help='Weights of actions: {"click": 1, "purchase": 5}.')
]


@service_command(click_logs, "upload")
def upload_click_log(
    session: ServiceConnection,
    data: Annotated[
        str,
        typer.Argument(
            help="A file: UBI, Metarank or sessions as JSON lines, Open Bandit, CSV, TSV or Parquet; gzip or"
            " Zstandard as well. Or a URL that RANKERY_SOURCES allows."
        ),
    ],
    name: Annotated[str | None, typer.Option(help="Name of the log.", show_default="the file's")] = None,
    queries: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="UBI's queries, if the file has only the events."),
    ] = None,
    format: Annotated[
        ClickLogFormat,
        typer.Option(help="The format; detected by default."),
    ] = "auto",
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="JSON", help='Columns of a table by role: {"document": "sku", "rank": "place"}.'
        ),
    ] = None,
    actions: _Actions = None,
    rank_base: Annotated[
        int | None, typer.Option(min=0, max=1, help="The lowest rank.", show_default="detected")
    ] = None,
    project: Annotated[str | None, typer.Option(help="Project of the log.")] = None,
) -> None:
    """Upload a click log, wait until it is read, and print the findings of its check.

    Example: `rankery click-logs upload clicks.csv --columns '{"document": "sku", "rank": "place"}'`

    Example: `rankery click-logs upload events.ndjson --actions '{"click": 1, "add_to_cart": 3}'`
    """
    base: Any = rank_base
    log = session.client.upload_clicks(
        data,
        name,
        queries=queries,
        format=format,
        columns=None if columns is None else json_object(columns, "--columns"),
        actions=None if actions is None else json_object(actions, "--actions"),
        rank_base=base,
        project=project,
    )
    _show_when_read(session, log)


@service_command(click_logs, "served")
def make_served_log(
    session: ServiceConnection,
    model: Annotated[str, typer.Argument(help="A model's name for all versions, or name:version.")],
    name: Annotated[
        str | None, typer.Option(help="Name of the log.", show_default="served by the model")
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0.001, help="Number of past days.", show_default="all stored days")
    ] = None,
    latest: Annotated[
        bool,
        typer.Option("--latest", help="Include rankings of the last half hour, whose users may still click."),
    ] = False,
    actions: _Actions = None,
    project: Annotated[str | None, typer.Option(help="Project of the log.")] = None,
) -> None:
    """Make a click log from the stored rankings that a model served, and from the events on them.

    Example: `rankery click-logs served web --days 7`
    """
    log = session.client.served_clicks(
        model,
        name,
        since=None if days is None else _days_ago(days),
        until=datetime.now(UTC) if latest else None,
        actions=None if actions is None else json_object(actions, "--actions"),
        project=project,
    )
    _show_when_read(session, log)


@service_command(click_logs, "interleaved")
def make_interleaved_log(
    session: ServiceConnection,
    interleaving: InterleavingReference,
    name: Annotated[
        str | None, typer.Option(help="Name of the log.", show_default="the interleaving's")
    ] = None,
    project: Annotated[str | None, typer.Option(help="Project of the log.")] = None,
) -> None:
    """Make a click log from the lists that an interleaving showed, and from the clicks on them.

    Example: `rankery click-logs interleaved features`
    """
    log = session.client.interleaved_clicks(interleaving_of(session, interleaving), name, project=project)
    _show_when_read(session, log)


@service_command(click_logs, "send-events")
def send_events(session: ServiceConnection, file: EventsFile) -> None:
    """Send events of users on rankings that `rankery rank --keep` or the API stored.

    Sending an event again has no effect. `at` of an event is its time, with a time zone.

    Example: `rankery click-logs send-events events.ndjson`
    """
    total = {"recorded": 0, "repeated": 0, "unknown": 0}
    for batch in batches(read_events(file)):
        body = {"events": batch}
        counts = session.client.request("POST", "/v1/served-rankings/events", json=body).json()
        for name in ("recorded", "repeated"):
            total[name] += counts[name]
        total["unknown"] += len(counts["unknown"])
    session.show(total, format_event_counts(total))


@service_command(click_logs, "list")
def list_click_logs(
    session: ServiceConnection,
    status: Annotated[
        Literal["pending", "ready", "invalid"] | None, typer.Option(help="Show only logs in this status.")
    ] = None,
    project: OfProject = None,
    limit: Limit = 20,
) -> None:
    """List click logs, newest first.

    Example: `rankery click-logs list --status ready`
    """
    logs = islice(session.client.click_logs(status, project=project), limit)
    show_data(session, logs, "lists", "impressions", "clicks")


@service_command(click_logs, "show")
def show_click_log(session: ServiceConnection, log: LogReference) -> None:
    """Show the counts of a click log and the findings of its check, or why it could not be read.

    Example: `rankery click-logs show clicks.csv`
    """
    show_log(session, log_of(session, log))


@service_command(click_logs, "delete")
def delete_click_logs(
    session: ServiceConnection,
    logs: Annotated[
        list[str],
        typer.Argument(help="Ids or names of logs.", autocompletion=complete_from_service("click-logs")),
    ],
    permanently: Permanently = False,
) -> None:
    """Delete click logs; models and datasets made from them stay.

    Logs move to the trash; `rankery trash restore` restores them.

    Example: `rankery click-logs delete clicks.csv`
    """
    delete_all(session, [log_of(session, log) for log in logs], permanently=permanently)


def log_of(session: ServiceConnection, reference: str) -> "ClickLog":
    """Return the click log with an id, or the newest one with a name.

    Raises:
        NameUnclear: No log has the name.
        RankeryApiError: The id is unknown.
    """
    if reference.startswith(_PREFIX):
        return session.client.click_log(reference)
    for log in session.client.click_logs(name=reference):
        return log
    raise NameUnclear(f"there is no click log {reference!r}; see `{session.command('click-logs list')}`")


def _days_ago(days: float) -> datetime:
    try:
        return datetime.now(UTC) - timedelta(days=days)
    except (OverflowError, ValueError):
        raise WrongUsage(f"--days {days:g} is out of range; leave it out for all stored days") from None


def _show_when_read(session: ServiceConnection, log: "ClickLog") -> None:
    """Wait until a log is read, and print it."""
    job = log.job()
    if job is not None:
        session.wait(job)
    show_log(session, log.refresh())


def show_log(session: ServiceConnection, log: "ClickLog") -> None:
    """Print the counts of a log and its findings."""
    findings = [finding.model_dump(mode="json") for finding in log.findings or ()]
    blocks: list[Any] = [_properties(log)]
    if ranks := (log.statistics or {}).get("ranks"):
        blocks += ["", _ranks(ranks)]
    if log.findings is not None:
        blocks += ["", findings_table(findings)]
    session.show(log, *blocks)


def _properties(log: "ClickLog") -> Table:
    statistics = log.statistics or {}
    units = ("lists", "impressions", "clicks", "queries", "documents", "users")
    base = statistics.get("rank_base")
    detected = ", detected" if statistics.get("rank_base_detected") else ""
    actions = ", ".join(f"{name}: {number:,}" for name, number in statistics.get("actions", {}).items())
    return facts(
        [
            ("id", log.id),
            ("name", log.name),
            ("status", log.status),
            ("problem", log.problem and log.problem.detail),
            *((unit, statistics.get(unit)) for unit in units),
            ("actions", actions or None),
            ("ranks from", None if base is None else f"{base}{detected}"),
            ("bytes", log.size_bytes),
            ("created", f"{moment(log.created_at)} UTC"),
        ]
    )


def _ranks(ranks: list[dict[str, Any]]) -> Table:
    numbers = ("rank", "impressions", "clicks", "rate")
    shown = table(*numbers, right=numbers)
    for one in ranks:
        rate = one["clicks"] / one["impressions"] if one["impressions"] else 0.0
        shown.add_row(plain(one["rank"]), plain(one["impressions"]), plain(one["clicks"]), f"{rate:.3f}")
    return shown
