"""`rankery evaluate`: evaluate a model on a dataset, or run files without a service."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.findings import findings_below
from rankery.cli.measures import baselines_table, means_table
from rankery.cli.metric_options import JudgedOnly, MaxDocuments, Metrics, Preset, RelevanceLevel, contract_of
from rankery.cli.options import ColumnsOption, LabelMapOption, columns_of, file_option, label_map_of
from rankery.cli.references import dataset_or_upload, refuse_unused_columns
from rankery.cli.service_options import on_service

if TYPE_CHECKING:
    from rankery.client import Evaluation

_TREC_METRICS = ("map", "mrr", "ndcg", "ndcg@10", "precision@10", "recall@100", "bpref")
_RUN_FILES_PANEL = "Run files, without a service"


@on_service
def evaluate(
    session: ServiceConnection,
    model: Annotated[
        str | None,
        typer.Argument(
            help="A model (id, name, name:version or name@alias) or a ranking, rnk_…",
            autocompletion=complete_from_service("models"),
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Dataset of the evaluation: its id or name, or a judged file.",
            autocompletion=complete_from_service("datasets"),
        ),
    ] = None,
    columns: ColumnsOption = None,
    label_map: LabelMapOption = None,
    metric: Metrics = None,
    preset: Preset = None,
    relevance_level: RelevanceLevel = None,
    max_documents: MaxDocuments = None,
    judged_only: JudgedOnly = False,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of the resampling.")] = 42,
    qrels: Annotated[
        Path | None,
        file_option(
            "Judgments: TREC qrels, or any judged dataset.",
            rich_help_panel=_RUN_FILES_PANEL,
        ),
    ] = None,
    run: Annotated[
        list[Path] | None,
        file_option(
            "TREC run; may be repeated to compare runs.",
            rich_help_panel=_RUN_FILES_PANEL,
        ),
    ] = None,
    only_retrieved: Annotated[
        bool,
        typer.Option(
            "--only-retrieved",
            help="Leave out queries without a result; by default they count as 0.",
            rich_help_panel=_RUN_FILES_PANEL,
        ),
    ] = False,
    permutations: Annotated[
        int,
        typer.Option(
            min=1_000,
            max=10_000_000,
            help="Permutations of Fisher's randomisation test.",
            rich_help_panel=_RUN_FILES_PANEL,
        ),
    ] = 100_000,
    per_query: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            help="Also write each query's values to this CSV file.",
            rich_help_panel=_RUN_FILES_PANEL,
        ),
    ] = None,
) -> None:
    """Evaluate a model on a dataset; or, with --qrels and --run, run files of any system without a service.

    A file given as --dataset is uploaded first. For runs, all queries of the judgments count, as with
    trec_eval's -c, unless --only-retrieved is given. Two or more runs are compared query by query: Fisher's
    randomisation test, the paired t-test, and Holm's correction over all pairs and metrics. Metrics may have
    their trec_eval or ir_measures spelling: P_10, recip_rank, nDCG@10.

    Example: `rankery evaluate web@champion --dataset test.txt --metric ndcg@10`

    Example: `rankery evaluate --qrels judged.qrels --run bm25.run --run ours.run`

    Example: `rankery evaluate --qrels judged.qrels --run bm25.run -l 2 -M 100 --metric P_10`
    """
    if model is not None and dataset is not None and not (qrels or run):
        if only_retrieved or per_query is not None:
            raise WrongUsage(
                "--only-retrieved and --per-query apply only to --qrels and --run; leave them out"
            )
        chosen = columns_of(columns)
        refuse_unused_columns(chosen, dataset)
        judged = dataset_or_upload(session, dataset, chosen)
        job = session.client.evaluate(
            model,
            judged,
            metrics=metric,
            contract=contract_of(preset or "default", relevance_level, max_documents, judged_only),
            label_map=label_map_of(label_map),
            seed=seed,
        )
        evaluation = session.wait(job).evaluation()
        session.show(evaluation, *evaluation_tables(evaluation))
    elif qrels is not None and run and model is None and dataset is None:
        if label_map is not None:
            raise WrongUsage("--label-map applies only to MODEL and --dataset; leave it out")
        from rankery.cli.runs import runs_as_json, runs_tables, write_queries
        from rankery.local import evaluate_runs

        comparison = evaluate_runs(
            qrels,
            run,
            metric or _TREC_METRICS,
            columns=columns_of(columns),
            contract=contract_of(preset or "trec_eval", relevance_level, max_documents, judged_only),
            only_retrieved=only_retrieved,
            permutations=permutations,
            seed=seed,
        )
        if per_query is not None:
            write_queries(comparison, per_query)
        session.show(runs_as_json(comparison), *runs_tables(comparison))
    else:
        raise WrongUsage("give either MODEL and --dataset, or --qrels and --run")


def evaluation_tables(evaluation: "Evaluation") -> list[RenderableType]:
    """Return the tables of an evaluation: means, baselines and findings."""
    metrics = {name: summary.model_dump() for name, summary in evaluation.metrics.items()}
    contract = getattr(evaluation.contract, "preset", None)
    tables: list[RenderableType] = [means_table({evaluation.system: metrics}, contract)]
    if evaluation.baselines:
        tables.append(baselines_table([one.model_dump() for one in evaluation.baselines]))
    return [*tables, *findings_below(evaluation)]
