"""`rankery models inspect`: feature importance."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import RenderableType

from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.models import Reference, models
from rankery.cli.options import ColumnsOption, LabelMapOption, columns_of, label_map_of
from rankery.cli.printing import number, plain, table, titled
from rankery.cli.references import dataset_or_upload, refuse_unused_columns
from rankery.cli.service_options import service_command

if TYPE_CHECKING:
    from rankery.client.views.inspection import Inspection

__all__ = ["Top", "inspection_tables", "models"]

Top = Annotated[int, typer.Option(min=1, help="Number of features to show.")]
_PERMUTATION_PANEL = "Permutation importance, on a dataset"


@service_command(models, "inspect")
def inspect(
    session: ServiceConnection,
    model: Reference,
    top: Top = 20,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Measure on this dataset: its id or name, or a judged file.",
            autocompletion=complete_from_service("datasets"),
            rich_help_panel=_PERMUTATION_PANEL,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="Metric whose decrease is measured.",
            show_default="ndcg@10",
            rich_help_panel=_PERMUTATION_PANEL,
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            help="Number of times that each feature is shuffled.",
            show_default="5",
            rich_help_panel=_PERMUTATION_PANEL,
        ),
    ] = None,
    within: Annotated[
        Literal["dataset", "query"] | None,
        typer.Option(
            help="Shuffle values over the whole dataset, or within each query.",
            show_default="dataset",
            rich_help_panel=_PERMUTATION_PANEL,
        ),
    ] = None,
    columns: ColumnsOption = None,
    label_map: LabelMapOption = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**31 - 1,
            help="Seed of the shuffling.",
            show_default="42",
            rich_help_panel=_PERMUTATION_PANEL,
        ),
    ] = None,
) -> None:
    """Show feature importance: gains of the trees, or with --dataset permutation importance.

    Gains and splits are stored with the model. They describe the training data, and favour features with many
    values. With --dataset, a job measures how much a metric loses when a feature is shuffled.

    Example: `rankery models inspect web@champion --top 10`

    Example: `rankery models inspect web@champion --dataset test.txt --metric ndcg@10`
    """
    chosen = columns_of(columns)
    if dataset is None:
        permutation_options = {"--metric": metric, "--repeats": repeats, "--within": within, "--seed": seed}
        permutation_options |= {"--columns": columns, "--label-map": label_map}
        if unused := [name for name, value in permutation_options.items() if value is not None]:
            raise WrongUsage(f"{unused[0]} needs --dataset")
        _show_gains(session, model, top)
        return
    refuse_unused_columns(chosen, dataset)
    judged = dataset_or_upload(session, dataset, chosen)
    job = session.client.inspect(
        model,
        judged,
        metric=metric or "ndcg@10",
        repeats=repeats or 5,
        within=within or "dataset",
        label_map=label_map_of(label_map),
        seed=42 if seed is None else seed,
    )
    inspection = session.wait(job).inspection()
    session.show(inspection, *inspection_tables(inspection, top))


def _show_gains(session: ServiceConnection, model: str, top: int) -> None:
    importance = session.client.model(model).importance()
    numbers = ("gain", "share of gain", "splits")
    shown = table("feature", *numbers, right=numbers)
    for one in islice(importance.features, top):
        shown.add_row(plain(one.feature), f"{one.gain:,.4g}", f"{one.gain_share:.1%}", plain(one.split))
    session.show(importance, shown)


def inspection_tables(found: "Inspection", top: int) -> list[RenderableType]:
    """Return the tables of an inspection."""
    numbers = (f"decrease of {found.metric}", "lower", "upper")
    shown = table("feature", *numbers, right=numbers)
    for one in islice(found.importance, top):
        shown.add_row(plain(one.feature), *(number(value) for value in (one.mean, one.lower, one.upper)))
    baseline = number(found.baseline.mean)
    return [
        titled(
            f"{plain(found.metric)} is {baseline}; decrease by shuffling each feature, with its 95% interval",
            shown,
        )
    ]
