"""`rankery click-logs fit` and `judge`: fit click models to a log, and judge documents by a click model."""

from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from rankery.cli.click_jobs import click_logs
from rankery.cli.click_logs import LogReference, log_of
from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.names import ClickModel
from rankery.cli.options import ColumnsOption, columns_of
from rankery.cli.printing import facts, number, plain, say, table
from rankery.cli.references import dataset_or_upload, refuse_unused_columns
from rankery.cli.service_options import service_command
from rankery.cli.texts import json_object

__all__ = ["click_logs"]  # re-exported after this module has added its commands

Options = Annotated[
    str | None, typer.Option("--options", metavar="JSON", help='Options of the model: {"iterations": 100}.')
]


@service_command(click_logs, "fit")
def fit_click_models(
    session: ServiceConnection,
    log: LogReference,
    model: Annotated[
        list[str] | None, typer.Option(help="Click model; may be repeated to compare models.")
    ] = None,
    held_out: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Share of users held out for the comparison; of lists, if the log has no users.",
            show_default="0.2",
        ),
    ] = None,
    options: Options = None,
) -> None:
    """Estimate click models and compare them on held-out lists.

    Example: `rankery click-logs fit clicks.csv --model pbm --model dbn`
    """
    job = session.client.fit_click_model(
        log_of(session, log),
        model or ["pbm"],
        held_out=held_out,
        options=None if options is None else json_object(options, "--options"),
    )
    result: dict[str, Any] = session.wait(job).result or {}
    say(result["sentence"])
    for finding in result["click_model"]["findings"]:
        say(finding)
    session.show(result, _comparison(result), "", *_parameters(result["click_model"]))


@service_command(click_logs, "judge")
def judge_by_clicks(
    session: ServiceConnection,
    log: LogReference,
    features: Annotated[
        str,
        typer.Argument(
            help="Dataset with the features, its id or name, or a file.",
            autocompletion=complete_from_service("datasets"),
        ),
    ],
    model: Annotated[ClickModel, typer.Option(help="The click model.")] = "pbm",
    name: Annotated[str | None, typer.Option(help="Name of the dataset.", show_default="the log's")] = None,
    judged: Annotated[
        str | None, typer.Option(help="Judged dataset to compare with, its id or name, or a file.")
    ] = None,
    min_impressions: Annotated[
        int | None, typer.Option(min=1, help="Smallest number of impressions for a grade.", show_default="10")
    ] = None,
    unjudged: Annotated[
        Literal["drop", "zero"], typer.Option(help="Handling of documents without a grade.")
    ] = "drop",
    options: Options = None,
    columns: ColumnsOption = None,
) -> None:
    """Grade documents by a click model, and make a dataset with their features.

    Example: `rankery click-logs judge clicks.csv features.csv --model dbn`
    """
    chosen = columns_of(columns)
    refuse_unused_columns(chosen, features, judged)
    job = session.client.judge_clicks(
        log_of(session, log),
        dataset_or_upload(session, features, chosen),
        model,
        dataset_name=name,
        judged=None if judged is None else dataset_or_upload(session, judged, chosen),
        unjudged=unjudged,
        options=None if options is None else json_object(options, "--options"),
        judgments=None if min_impressions is None else {"min_impressions": min_impressions},
    )
    result: dict[str, Any] = session.wait(job).result or {}
    counts = result["judgments"]
    agreement = result.get("agreement") or {}
    session.show(
        result,
        facts(
            [
                ("dataset", result["dataset_id"]),
                ("judged pairs", counts["judged"]),
                ("with too few impressions", counts["left_out"]),
                ("by grade", ", ".join(map(str, counts["by_grade"]))),
                ("share of unambiguous grades", number(counts["certain_share"])),
                ("kappa", number(agreement.get("kappa")) if agreement else None),
                ("Kendall's tau", number(agreement.get("kendall_tau")) if agreement else None),
            ]
        ),
    )


def _comparison(result: dict[str, Any]) -> Table:
    numbers = ("log-likelihood", "perplexity", "conditional perplexity")
    shown = table("model", *numbers, right=numbers)
    for row in result["comparison"]["models"]:
        values = (row["log_likelihood"], row["perplexity"], row["conditional_perplexity"])
        shown.add_row(plain(row["label"]), *(number(value) for value in values))
    return shown


def _parameters(model: dict[str, Any]) -> list[Table]:
    shown = []
    for name, rows in model["parameters"].items():
        numbers = ("value", "lower", "upper")
        shown_table = table(plain(name.replace("_", " ")), *numbers, right=numbers)
        for row in rows:
            parameter = ", ".join(
                f"{key.replace('_', ' ')} {row[key]}" for key in ("rank", "last_click") if key in row
            )
            shown_table.add_row(parameter, *(number(row.get(key)) for key in numbers))
        shown.append(shown_table)
    return shown
