"""Run comparison jobs."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.data import RankingDataset
from core.errors import InvalidInput
from core.evaluation import Evaluation, compare_systems, evaluate, slices, write_segments
from core.jobs import System
from core.jobs.measuring import CompareJob
from core.store import new_id
from core.store.artifacts.keys import comparison_key, comparison_segments_key
from core.types import Float64Array
from worker.job.reporter import Values
from worker.job.results import StoredRanking, store_ranking
from worker.job.run import JobRun
from worker.job.systems import ranked_queries, score_system
from worker.job.training_data import load_with_label_map


def run_comparison(run: JobRun, spec: CompareJob) -> None:
    """Rank a dataset by every system and compare pairs of systems; store the ranking of each model.

    Raises:
        InvalidInput: The metrics cannot use the labels, or a ranking cannot be joined with the dataset.
        DatasetError: The dataset has no features.
        FeaturesAbsent: The dataset lacks most features that a model uses.
    """
    run.reporter.phase("loading")
    measures = spec.measures
    dataset = load_with_label_map(run, spec.dataset_id, measures)
    if spec.pool_folds:
        dataset = _pooled(run, spec, dataset)
    rankings: list[tuple[System, StoredRanking | None]] = []
    evaluations: list[Evaluation] = []
    findings: list[Values] = []
    for system in spec.systems:
        run.reporter.phase(f"scoring by {system.name}")
        ranked = score_system(run, spec, system, dataset, measured_on=spec.dataset_id)
        evaluations.append(
            evaluate(
                ranked.scores,
                ranked.judgments,
                measures.metrics,
                measures.contract,
                seed=measures.seed,
                threads=run.threads,
            )
        )
        stored = store_ranking(run, ranked) if system.model_id else None
        findings += ranked.findings_json or ()
        rankings.append((system, stored))
    run.reporter.phase("comparing")
    values = {
        name: np.column_stack([evaluation.per_query[name] for evaluation in evaluations])
        for name in evaluations[0].metrics
    }
    directions = {name: metric.higher_is_better for name, metric in evaluations[0].metrics.items()}
    names = [system.name for system in spec.systems]
    comparison = compare_systems(
        names,
        values,
        directions,
        reference=spec.reference,
        correction="none" if spec.correction == "none" else "holm",
        permutations=spec.permutations,
        seed=measures.seed,
        threads=run.threads,
    )
    run.reporter.report(findings=findings or None)
    comparison_id = new_id("cmp_")
    with run.artifacts.writing(comparison_key(comparison_id)) as file:
        pq.write_table(values_table(dataset.query_ids, values), file)
    with run.artifacts.writing(comparison_segments_key(comparison_id)) as file:
        parts = slices(dataset, measures.contract.relevance_threshold)
        write_segments(parts, dataset.n_queries, file)
    with run.succeeding({"comparison_id": comparison_id}) as tx:
        for system, stored in rankings:
            if stored is not None:
                stored.add(tx, run.id, system, spec.dataset_id)
        tx.comparisons.add(
            comparison_id,
            job_id=run.id,
            dataset_id=spec.dataset_id,
            sentence=comparison.sentence,
            systems=[
                _system_json(system, stored, evaluation)
                for (system, stored), evaluation in zip(rankings, evaluations, strict=True)
            ],
            metrics=list(measures.metrics),
            contract=measures.contract.to_json(),
            permutations=spec.permutations,
            seed=measures.seed,
            pairs=[pair.to_json(dataset.query_ids) for pair in comparison.pairs],
        )


def _pooled(run: JobRun, spec: CompareJob, dataset: RankingDataset) -> RankingDataset:
    """Return the dataset without the test queries, which no cross-validation ranking has."""
    ranked = set(dataset.query_ids)
    for system in spec.systems:
        if system.ranking_id is not None:
            ranked &= ranked_queries(run.store, system.ranking_id)
    positions = [position for position, query_id in enumerate(dataset.query_ids) if query_id in ranked]
    if not positions:
        raise InvalidInput.at("/systems", "the cross-validation rankings have no common query of the dataset")
    return dataset.select_queries(positions)


def values_table(query_ids: tuple[str, ...], values: dict[str, Float64Array]) -> pa.Table:
    """Return the table of a comparison's values to store.

    Args:
        query_ids: (n_queries,) ids of the queries.
        values: (n_queries, n_systems) values by metric, NaN where undefined.

    Returns:
        The column `query_id`, and for each metric a column of lists with one value per system, or null.
    """
    columns = {
        name: pa.FixedSizeListArray.from_arrays(pa.array(table.ravel(), from_pandas=True), table.shape[1])
        for name, table in values.items()
    }
    return pa.table({"query_id": list(query_ids), **columns})


def _system_json(system: System, stored: StoredRanking | None, evaluation: Evaluation) -> dict[str, Any]:
    return {
        "name": system.name,
        "model_id": system.model_id,
        "ranking_id": stored.id if stored else system.ranking_id,
        "metrics": evaluation.to_json(),
        "findings": stored.findings if stored else None,
    }
