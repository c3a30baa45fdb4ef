"""`rankery compare`: compare models and rankings, with significance tests."""

import shlex
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.console import RenderableType

from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.findings import findings_below
from rankery.cli.measures import means_table, pair_table
from rankery.cli.metric_options import Metrics, Preset
from rankery.cli.options import ColumnsOption, LabelMapOption, columns_of, label_map_of
from rankery.cli.printing import number, plain, table, titled
from rankery.cli.references import dataset_or_upload, refuse_unused_columns
from rankery.cli.service_options import on_service
from rankery.errors import FileUnusable
from rankery.local_files import is_file

if TYPE_CHECKING:
    from rankery.client import Comparison, Dataset
    from rankery.client.schemas.answers import ChangedQuery
    from rankery.client.schemas.requests import Contract

_SHOWN_QUERIES = 5


class Correction(StrEnum):
    """Correction of p-values for multiple comparisons."""

    HOLM = "holm"
    NONE = "none"


@on_service
def compare(
    session: ServiceConnection,
    systems: Annotated[
        list[str],
        typer.Argument(
            help="Two or more systems: models (id, name, name:version or name@alias), rankings (rnk_…), or"
            " files of TREC runs.",
            autocompletion=complete_from_service("models"),
        ),
    ],
    dataset: Annotated[
        str,
        typer.Option(
            help="Dataset of the comparison: its id or name, or a judged file.",
            autocompletion=complete_from_service("datasets"),
        ),
    ],
    reference: Annotated[
        str | None,
        typer.Option(
            help="Baseline: compare every other system only with this one.", show_default="all pairs"
        ),
    ] = None,
    correction: Annotated[
        Correction,
        typer.Option(help="Multiple-comparison correction of the p-values; use none for one planned test."),
    ] = Correction.HOLM,
    folds: Annotated[
        bool,
        typer.Option(
            "--folds",
            help="Rank each query by the model of a cross-validation that has not seen it; models must have"
            " been trained with --folds on the dataset.",
        ),
    ] = False,
    columns: ColumnsOption = None,
    label_map: LabelMapOption = None,
    metric: Metrics = None,
    preset: Preset = None,
    permutations: Annotated[
        int, typer.Option(min=1_000, max=10_000_000, help="Permutations of Fisher's randomisation test.")
    ] = 100_000,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of the resampling.")] = 42,
) -> None:
    """Compare models and rankings on one dataset, query by query, with significance tests.

    Each later system is compared with each earlier one, or with --reference every other system with the
    baseline. The output has the difference with its 95% interval, and the queries that lost most. The tests
    are Fisher's randomisation test and the paired t-test. Unless --correction is none, p-values are also
    shown after Holm's correction over all pairs and metrics.

    Example: `rankery compare web:1 web:2 --dataset test.txt --metric ndcg@10`

    Example: `rankery compare web:1 web:2 web:3 --dataset train.txt --folds --reference web:1`
    """
    if len(systems) < 2:
        raise WrongUsage("give at least two systems")
    if reference is not None and reference not in systems:
        raise WrongUsage("--reference must be one of the compared systems, spelled as in the arguments")
    chosen = columns_of(columns)
    refuse_unused_columns(chosen, dataset)
    judged = dataset_or_upload(session, dataset, chosen)
    job = session.client.compare(
        judged,
        [_system(session, system, judged) for system in systems],
        reference=None if reference is None else systems.index(reference),
        correction=correction.value,
        pool_folds=folds or None,
        metrics=metric,
        contract=cast("Contract | None", preset),
        label_map=label_map_of(label_map),
        permutations=permutations,
        seed=seed,
    )
    comparison = session.wait(job).comparison()
    session.show(comparison, *comparison_tables(comparison), *findings_below(job))


def comparison_tables(comparison: "Comparison") -> list[RenderableType]:
    """Return the conclusion, means and pairwise tests of a comparison, to print."""
    names = [system.name for system in comparison.systems]
    means = {
        system.name: {name: summary.model_dump() for name, summary in system.metrics.items()}
        for system in comparison.systems
    }
    shown: list[RenderableType] = [
        f"[bold]{plain(comparison.sentence)}[/bold]",
        means_table(means, comparison.contract.preset),
    ]
    for pair in comparison.pairs:
        if len(comparison.pairs) > 1:
            shown += ["", plain(pair.sentence)]
        shown.append(pair_table(pair.model_dump(), names, comparison.correction))
        if pair.most_harmed:
            shown.append(
                _most_harmed_table(pair.most_harmed, (names[pair.a], names[pair.b]), comparison.metrics[0])
            )
    return shown


def _most_harmed_table(
    queries: "Sequence[ChangedQuery]", names: tuple[str, str], metric: str
) -> RenderableType:
    numbers = (*map(plain, names), "change")
    shown = table("query", *numbers, right=numbers)
    for query in queries[:_SHOWN_QUERIES]:
        change = number(query.difference, signed=True)
        shown.add_row(plain(query.query_id), number(query.a), number(query.b), change)
    return titled(f"queries that lose most by {metric}", shown)


def _system(session: ServiceConnection, reference: str, dataset: "Dataset") -> str:
    """Return the reference of a model or a ranking; upload a run file first."""
    from rankery.client.model_text import is_model_file

    path = Path(reference)
    if not is_file(path):
        return reference
    if is_model_file(path):
        words = session.command(f"models import {shlex.quote(reference)} --name NAME")
        raise FileUnusable(f"{path.name} is a model of LightGBM, not a run; import it first: `{words}`")
    return session.wait(session.client.upload_run(path, dataset)).made("ranking_id")
