"""`rankery click-logs propensities` and `simulate`: examination by rank and simulated logs."""

import shlex
from typing import Annotated, Any, Literal

import typer

from rankery.cli.click_logs import LogReference, click_logs, log_of, show_log
from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.names import PropensityMethod
from rankery.cli.options import ColumnsOption, columns_of
from rankery.cli.printing import plain, say, table
from rankery.cli.references import dataset_or_upload, refuse_unused_columns
from rankery.cli.service_options import service_command

__all__ = ["click_logs"]  # re-exported after this module has added its commands


@service_command(click_logs, "propensities")
def estimate_propensities(
    session: ServiceConnection,
    log: LogReference,
    method: Annotated[
        PropensityMethod,
        typer.Option(help="Estimation method; regression-em and trust-em need --dataset."),
    ] = "all-pairs",
    positions: Annotated[
        int | None, typer.Option(min=2, max=100, help="Number of ranks.", show_default="10")
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Dataset with the features, for regression-em and trust-em.",
            autocompletion=complete_from_service("datasets"),
        ),
    ] = None,
    columns: ColumnsOption = None,
) -> None:
    """Estimate how often users examine each rank, relative to rank 1.

    Example: `rankery click-logs propensities clicks.csv --method pivot`
    """
    chosen = columns_of(columns)
    refuse_unused_columns(chosen, dataset)
    features = None if dataset is None else dataset_or_upload(session, dataset, chosen)
    options: dict[str, Any] = {"dataset": features, "positions": positions}
    job = session.wait(session.client.propensities(log_of(session, log), method, **options))
    result: dict[str, Any] = dict(job.result or {})
    say(result["sentence"])
    use = f"--click-option correction={'affine' if result.get('intercepts') else 'ips'}"
    train = f"train FEATURES --clicks {shlex.quote(log)} {use} --click-option propensity_job={job.id}"
    say(f"use them: `{session.command(train)}`")
    intercepts = result.get("intercepts")
    numbers = ("rank", "propensity", "lower", "upper", *(("intercept",) if intercepts else ()), "impressions")
    shown = table(*numbers, right=numbers)
    lower, upper = result["lower"], result["upper"]
    for index, value in enumerate(result["propensities"]):
        cells = [
            f"{value:.3f}",
            *(("", "") if lower is None else (f"{lower[index]:.3f}", f"{upper[index]:.3f}")),
        ]
        cells += [f"{intercepts[index]:.3f}"] if intercepts else []
        shown.add_row(plain(index + 1), *cells, plain(result["impressions"][index]))
    session.show(result, shown)


@service_command(click_logs, "simulate")
def simulate_clicks(
    session: ServiceConnection,
    dataset: Annotated[
        str,
        typer.Argument(
            help="Judged dataset, its id or name, or a file.",
            autocompletion=complete_from_service("datasets"),
        ),
    ],
    name: Annotated[str, typer.Option(help="Name of the log.")],
    model: Annotated[
        list[str] | None, typer.Option(help="Model that ranks the lists; may be repeated.")
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(help="Feature that ranks lists, besides or instead of models; may be repeated."),
    ] = None,
    users: Annotated[str, typer.Option(help="Simulated user model of a publication.")] = "ultra-pbm",
    lists: Annotated[int | None, typer.Option(min=1, help="Number of lists.", show_default="100,000")] = None,
    swaps: Annotated[
        Literal["none", "first", "adjacent", "shuffle"], typer.Option(help="Randomisation of the lists.")
    ] = "none",
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 0,
    columns: ColumnsOption = None,
) -> None:
    """Simulate a click log on judged documents with known propensities.

    Example: `rankery click-logs simulate judged.csv --name simulated --feature bm25 --swaps first`
    """
    chosen = columns_of(columns)
    refuse_unused_columns(chosen, dataset)
    job = session.wait(
        session.client.simulate_clicks(
            dataset_or_upload(session, dataset, chosen),
            name,
            models=model or (),
            features=feature or (),
            user_model=users,
            lists=lists,
            swaps=swaps,
            seed=seed,
        )
    )
    show_log(session, session.client.click_log(job.made("click_log_id")))
