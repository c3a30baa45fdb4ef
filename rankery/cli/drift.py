"""`rankery drift`: compare the features of requests with those of the training data."""

from datetime import datetime
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import FAILED
from rankery.cli.models import Reference
from rankery.cli.options import Limit
from rankery.cli.printing import moment, number, p_value, plain, say, table
from rankery.cli.service_options import service_command

drift = typer.Typer(
    help="Compare logged requests with the training data and with the requests of the period before.",
    no_args_is_help=True,
)

_REPORTS = "/v1/drift-reports"
_DRIFTED = "drift"


@service_command(drift, "check")
def check_drift(
    session: ServiceConnection,
    model: Reference,
    days: Annotated[
        float | None, typer.Option(min=0.001, help="Days of logged requests to check.", show_default="7")
    ] = None,
    psi: Annotated[
        float | None,
        typer.Option(
            min=0, help="Smallest PSI at which a significant difference counts as drift.", show_default="0.2"
        ),
    ] = None,
    p: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Significance level: maximum p-value, adjusted for all features, of drift.",
            show_default="0.01",
        ),
    ] = None,
    missing: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Smallest change in the share of missing values at which a significant difference counts as"
            " drift.",
            show_default="0.1",
        ),
    ] = None,
) -> None:
    """Check the logged requests of a model for drift; the exit code is 1 if drift is detected.

    The service must log requests: RANKERY_SCORE_LOG_SHARE.

    Example: `rankery drift check web@champion --days 7`
    """
    thresholds = {"psi": psi, "p": p, "missing": missing}
    chosen_thresholds = {key: value for key, value in thresholds.items() if value is not None}
    job = session.client.drift(model, days=days, thresholds=chosen_thresholds or None)
    report = _report(session, session.wait(job).made("drift_report_id"))
    say(report["sentence"])
    session.show(report, *_report_tables(report))
    if report["verdict"] == _DRIFTED:
        raise typer.Exit(FAILED)


@service_command(drift, "list")
def list_reports(
    session: ServiceConnection,
    model: Annotated[str | None, typer.Option(help="Show only reports of this model.")] = None,
    limit: Limit = 20,
) -> None:
    """List drift reports, newest first.

    Example: `rankery drift list --model web@champion`
    """
    reports = session.items(_REPORTS, limit, model=model)
    shown = table(
        "id", "model", "until", "verdict", "queries", "features", right=("queries",), wrap=("features",)
    )
    for one in reports:
        until = moment(datetime.fromisoformat(one["until"]))
        features = plain(", ".join(one["drifted_features"]))
        shown.add_row(one["id"], plain(one["model"]), until, one["verdict"], plain(one["queries"]), features)
    session.show(reports, shown)


@service_command(drift, "show")
def show_report(
    session: ServiceConnection, report: Annotated[str, typer.Argument(help="Id of the report, drf_…")]
) -> None:
    """Show a drift report, with one line for each feature.

    Example: `rankery drift show drf_01k9x2m4q7c8v5n3b6r9`
    """
    resource = _report(session, report)
    session.show(resource, plain(resource["sentence"]), *_report_tables(resource))


def _report(session: ServiceConnection, report: str) -> dict[str, Any]:
    document: dict[str, Any] = session.client.request("GET", f"{_REPORTS}/{report}").json()
    return document


def _report_tables(report: dict[str, Any]) -> list[RenderableType]:
    shown: list[RenderableType] = []
    for comparison in report["comparisons"]:
        numbers = ("PSI", "p", "missing before", "missing now")
        made = table("feature", "verdict", *numbers, right=numbers)
        scores = [{**comparison["scores"], "name": "(scores)"}] if comparison.get("scores") else []
        for one in (*comparison["features"], *scores):
            shares = (number(one.get(name)) for name in ("missing_before", "missing_after"))
            row = (plain(one["name"]), one["verdict"], number(one.get("psi")), p_value(one.get("p")), *shares)
            made.add_row(*row, style="bold" if one["verdict"] == _DRIFTED else "")
        shown += ["", f"{plain(comparison['with'])}: {plain(comparison['sentence'])}", made]
    return shown
