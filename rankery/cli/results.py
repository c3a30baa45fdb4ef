"""`rankery evaluations`, `comparisons`, `rankings` and `inspections`: results of jobs."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rankery.cli.bulk import add_delete
from rankery.cli.compare import comparison_tables
from rankery.cli.connection import ServiceConnection
from rankery.cli.evaluate import evaluation_tables
from rankery.cli.inspections import Top, inspection_tables
from rankery.cli.models import Reference
from rankery.cli.options import Limit, OfModel, OfProject, OnDataset
from rankery.cli.printing import age, number, plain, say, table
from rankery.cli.service_options import service_command

evaluations = typer.Typer(help="List, show and delete evaluations.", no_args_is_help=True)
comparisons = typer.Typer(help="List, show and delete comparisons.", no_args_is_help=True)
rankings = typer.Typer(help="List, download and delete rankings.", no_args_is_help=True)
inspections = typer.Typer(help="List, show and delete inspections of models.", no_args_is_help=True)


@service_command(evaluations, "list")
def list_evaluations(
    session: ServiceConnection,
    model: OfModel = None,
    dataset: OnDataset = None,
    project: OfProject = None,
    limit: Limit = 20,
) -> None:
    """List evaluations, newest first, with the mean of their first metric.

    Example: `rankery evaluations list --dataset ds_01k9x2m4q7c8v5n3b6r9`
    """
    filters = {"model_id": model, "dataset_id": dataset, "project": project}
    evaluations = session.items("/v1/evaluations", limit, **filters)
    shown = table("id", "system", "dataset", "mean", "age", right=("mean", "age"), wrap=("system", "dataset"))
    for one in evaluations:
        metric, summary = next(iter(one["metrics"].items()))
        mean = f"{plain(metric)} {number(summary.get('mean'))}"
        shown.add_row(one["id"], plain(one["system"]), _dataset(one), mean, _age(one))
    session.show(evaluations, shown)


@service_command(evaluations, "show")
def show_evaluation(
    session: ServiceConnection, evaluation: Annotated[str, typer.Argument(help="Id of the evaluation, evl_…")]
) -> None:
    """Show the means of an evaluation with their intervals, and its untrained baselines.

    Example: `rankery evaluations show evl_01k9x2m4q7c8v5n3b6r9`
    """
    resource = session.client.evaluation(evaluation)
    session.show(resource, *evaluation_tables(resource))


@service_command(comparisons, "list")
def list_comparisons(
    session: ServiceConnection, dataset: OnDataset = None, project: OfProject = None, limit: Limit = 20
) -> None:
    """List comparisons, newest first, with their conclusions.

    Example: `rankery comparisons list --project search`
    """
    comparisons = session.items("/v1/comparisons", limit, dataset_id=dataset, project=project)
    shown = table("id", "dataset", "conclusion", "age", right=("age",), wrap=("dataset", "conclusion"))
    for one in comparisons:
        shown.add_row(one["id"], _dataset(one), plain(one["sentence"]), _age(one))
    session.show(comparisons, shown)


@service_command(comparisons, "show")
def show_comparison(
    session: ServiceConnection, comparison: Annotated[str, typer.Argument(help="Id of the comparison, cmp_…")]
) -> None:
    """Show the conclusion of a comparison, and the tests of each pair.

    Example: `rankery comparisons show cmp_01k9x2m4q7c8v5n3b6r9`
    """
    resource = session.client.comparison(comparison)
    session.show(resource, *comparison_tables(resource))


@service_command(rankings, "list")
def list_rankings(
    session: ServiceConnection, dataset: OnDataset = None, project: OfProject = None, limit: Limit = 20
) -> None:
    """List stored rankings, newest first: uploaded runs and rankings by models.

    Example: `rankery rankings list --dataset ds_01k9x2m4q7c8v5n3b6r9`
    """
    rankings = session.items("/v1/rankings", limit, dataset_id=dataset, project=project)
    shown = table("id", "system", "dataset", "age", right=("age",), wrap=("system", "dataset"))
    for one in rankings:
        shown.add_row(one["id"], plain(one["system"]), _dataset(one), _age(one))
    session.show(rankings, shown)


@service_command(rankings, "download")
def download_ranking(
    session: ServiceConnection,
    ranking: Annotated[str, typer.Argument(help="Id of the ranking, rnk_…")],
    file: Annotated[
        Path | None, typer.Argument(dir_okay=False, help="File to write.", show_default="ID.run or .parquet")
    ] = None,
    format: Annotated[Literal["trec", "parquet"], typer.Option(help="File format.")] = "trec",
) -> None:
    """Download a ranking: a TREC run for any evaluation tool, or Parquet.

    Example: `rankery rankings download rnk_01k9x2m4q7c8v5n3b6r9 web.run`
    """
    suffix = "run" if format == "trec" else format
    target = session.client.ranking(ranking).download(file or Path(f"{ranking}.{suffix}"), format)
    say(f"wrote {ranking} to {target}")
    session.show({"ranking": ranking, "path": str(target), "format": format})


@service_command(inspections, "list")
def list_inspections(session: ServiceConnection, model: Reference, limit: Limit = 20) -> None:
    """List the inspections of a version of a model, newest first.

    Example: `rankery inspections list web@champion`
    """
    inspections = session.items(f"/v1/models/{session.client.model(model).id}/inspections", limit)
    shown = table("id", "dataset", "metric", "shuffled within", "age", right=("age",))
    for one in inspections:
        shown.add_row(one["id"], one["dataset_id"], plain(one["metric"]), one["within"], _age(one))
    session.show(inspections, shown)


@service_command(inspections, "show")
def show_inspection(
    session: ServiceConnection,
    inspection: Annotated[str, typer.Argument(help="Id of the inspection, ins_…")],
    top: Top = 20,
) -> None:
    """Show an inspection: how much of a metric is lost when each feature is shuffled.

    Example: `rankery inspections show ins_01k9x2m4q7c8v5n3b6r9 --top 10`
    """
    resource = session.client.inspection(inspection)
    session.show(resource, *inspection_tables(resource, top))


add_delete(evaluations, "evaluations", "--model mdl_01k9x3a7d5f8g2h4j6k9 --dry-run")
add_delete(comparisons, "comparisons", "--older-than 90 --yes")
add_delete(rankings, "rankings", "rnk_01k9x2m4q7c8v5n3b6r9 --with-results")
add_delete(inspections, "inspections", "--model mdl_01k9x3a7d5f8g2h4j6k9 --yes")


def _dataset(one: dict[str, Any]) -> str:
    return plain(one.get("dataset_name") or one["dataset_id"])


def _age(one: dict[str, Any]) -> str:
    return age(datetime.fromisoformat(one["created_at"]))
