"""`rankery evaluate`: run files by judgments without a service, or a model on a dataset of a service."""

from pathlib import Path
from typing import Annotated

import typer

from rankery.cli.completion import completed
from rankery.cli.names import METRICS, PRESETS
from rankery.cli.printing import show_json
from rankery.cli.session import Session, on_service

_TREC_METRICS = ("map", "mrr", "ndcg", "ndcg@10", "precision@10", "recall@100", "bpref")


@on_service
def evaluate(
    session: Session,
    qrels: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, readable=True, help="Judgments: TREC qrels, or any judged dataset."
        ),
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, readable=True, help="TREC run; several are compared."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Such as ndcg@10; the first decides comparisons.", autocompletion=completed(METRICS)
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="Conventions: default, lightgbm, xgboost, sklearn, trec_eval or letor.",
            autocompletion=completed(PRESETS),
        ),
    ] = None,
    only_retrieved: Annotated[
        bool,
        typer.Option("--only-retrieved", help="Leave out queries without a result, which otherwise count 0."),
    ] = False,
    permutations: Annotated[int, typer.Option(min=1_000, max=10_000_000)] = 100_000,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1)] = 42,
    per_query: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Also write each query's values to this CSV file.")
    ] = None,
) -> None:
    """Measure.

    Example: `rankery evaluate --qrels judged.qrels --run bm25.run --run ours.run`
    """
    from rankery.cli.runs import runs_as_json, show_runs, write_queries
    from rankery.local import evaluate_runs

    assert qrels and run
    found = evaluate_runs(
        qrels,
        run,
        list(dict.fromkeys(metric or _TREC_METRICS)),
        contract=preset or "trec_eval",
        only_retrieved=only_retrieved,
        permutations=permutations,
        seed=seed,
    )
    if per_query is not None:
        write_queries(found, per_query)
    if session.json:
        show_json(runs_as_json(found))
    else:
        show_runs(found)
