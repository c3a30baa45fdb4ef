"""`rankery importance` and `inspect`: what a model does with its features."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import RenderableType

from rankery.cli.columns import ColumnsOption, columns_of
from rankery.cli.completion import of_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.models import Reference
from rankery.cli.printing import number, plain, table, titled
from rankery.cli.references import data_of, refuse_idle_columns
from rankery.cli.service_options import on_service

if TYPE_CHECKING:
    from rankery.client.views.inspection import Inspection

Top = Annotated[int, typer.Option(min=1, help="How many features to show.")]


@on_service
def importance(session: ServiceConnection, model: Reference, top: Top = 20) -> None:
    """Show the gains and splits of a model's features, as its trees have them; nothing is computed.

    Gains are of the training data, and favour features with many values; `rankery inspect` measures what a
    metric loses without a feature.

    Example: `rankery importance web@champion --top 10`
    """
    found = session.client.model(model).importance()
    numbers = ("gain", "of all", "splits")
    shown = table("feature", *numbers, right=numbers)
    for one in islice(found.features, top):
        shown.add_row(plain(one.feature), f"{one.gain:,.4g}", f"{one.gain_share:.1%}", plain(one.split))
    session.show(found, shown)


@on_service
def inspect(
    session: ServiceConnection,
    model: Reference,
    dataset: Annotated[
        str,
        typer.Option(
            help="Where to look: a dataset's id or name, or a judged file.",
            autocompletion=of_service("datasets"),
        ),
    ],
    metric: Annotated[str, typer.Option(help="What is lost when a feature is shuffled.")] = "ndcg@10",
    repeats: Annotated[int, typer.Option(min=1, max=100, help="How often each feature is shuffled.")] = 5,
    within: Annotated[
        Literal["dataset", "query"], typer.Option(help="Shuffle over all documents, or those of each query.")
    ] = "dataset",
    columns: ColumnsOption = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Of the shuffling.")] = 42,
    top: Top = 20,
) -> None:
    """Measure the importance of features by permutation: what a metric loses when a feature is shuffled.

    Example: `rankery inspect web@champion --dataset test.txt --metric ndcg@10`
    """
    chosen = columns_of(columns)
    refuse_idle_columns(chosen, dataset)
    judged = data_of(session, dataset, chosen)
    job = session.client.inspect(model, judged, metric=metric, repeats=repeats, within=within, seed=seed)
    found = session.wait(job).inspection()
    session.show(found, *inspection_tables(found, top))


def inspection_tables(found: "Inspection", top: int) -> list[RenderableType]:
    """Return what there is to see of an inspection."""
    numbers = (f"{found.metric} lost", "lower", "upper")
    shown = table("feature", *numbers, right=numbers)
    for one in islice(found.importance, top):
        shown.add_row(plain(one.feature), *(number(value) for value in (one.mean, one.lower, one.upper)))
    baseline = number(found.baseline.mean)
    return [titled(f"{plain(found.metric)} is {baseline}; it loses, with the 95% interval", shown)]
