"""Store evaluations and rankings of all job kinds."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.evaluation import (
    Baseline,
    Evaluation,
    Judgments,
    Slice,
    baseline_findings,
    baselines,
    evaluate,
    measure,
    random_order,
    rank_documents,
    slices,
    summarise_all,
    write_query_values,
    write_segments,
)
from core.jobs import System
from core.jobs.measuring import Measures
from core.metrics import parse_metric
from core.store import Transaction, new_id
from core.store.artifacts import keys
from core.training.cross_validation import CrossValidation
from core.types import Float64Array
from worker.job.reporter import Values
from worker.job.run import JobRun
from worker.job.systems import ScoredDataset

_RESAMPLES = 1_000  # bootstrap resamples for the intervals of baselines, segments and folds


@dataclass(frozen=True)
class StoredEvaluation:
    """An evaluation whose per-query values are stored, but whose row is not added yet.

    Attributes:
        means: Mean over queries by metric.
        columns: Columns of the row, without its id, job, system, dataset and diagnostics.
        baseline_findings: Findings of the comparison with baselines, also included in the row.
    """

    id: str
    means: dict[str, float | None]
    columns: dict[str, Any]
    baseline_findings: list[Values]

    def add(
        self,
        tx: Transaction,
        job_id: str,
        system: System,
        dataset_id: str,
        diagnostics: dict[str, Any] | None = None,
    ) -> None:
        """Add the row to the database."""
        tx.evaluations.add(
            self.id,
            job_id=job_id,
            system=system,
            dataset_id=dataset_id,
            diagnostics=diagnostics,
            **self.columns,
        )


@dataclass(frozen=True)
class StoredRanking:
    """A ranking whose documents are stored, but whose row is not added yet."""

    id: str
    queries: int
    documents: int
    findings: list[Values] | None = None

    def add(self, tx: Transaction, job_id: str, system: System, dataset_id: str) -> None:
        """Add the row to the database."""
        tx.rankings.add(
            self.id,
            job_id=job_id,
            system=system,
            dataset_id=dataset_id,
            queries=self.queries,
            documents=self.documents,
            findings=self.findings,
        )


def store_evaluation(run: JobRun, measures: Measures, ranked: ScoredDataset, system: str) -> StoredEvaluation:
    """Evaluate the scores of a system by a job's metrics, and store the values of every query."""
    run.reporter.phase("evaluating")
    contract = measures.contract
    segments = slices(ranked.dataset, contract.relevance_threshold)
    evaluation = evaluate(
        ranked.scores, ranked.judgments, measures.metrics, contract, seed=measures.seed, threads=run.threads
    )
    measured = measure_baselines(measures, ranked)
    against_baselines = [
        asdict(finding)
        for metric in measures.metrics[:1]
        for finding in baseline_findings(
            system,
            metric,
            evaluation.per_query[metric],
            [(baseline, values[metric]) for baseline, values in measured],
            higher_is_better=evaluation.metrics[metric].higher_is_better,
            seed=measures.seed,
            threads=run.threads,
        )
    ]
    columns = {
        "summaries": evaluation.to_json(),
        "contract": contract.to_json(),
        "baselines": [
            {
                "name": baseline.name,
                "detail": baseline.detail,
                "metrics": _intervals(run, values, measures.seed),
            }
            for baseline, values in measured
        ],
        "slices": _segments_json(run, segments, evaluation),
        "findings": [*(ranked.findings_json or ()), *against_baselines] or None,
    }
    stored = StoredEvaluation(new_id("evl_"), evaluation.means, columns, against_baselines)
    with run.artifacts.writing(keys.evaluation_key(stored.id)) as file:
        evaluation.to_parquet(file, ranked.judgments.query_ids)
    with run.artifacts.writing(keys.evaluation_segments_key(stored.id)) as file:
        write_segments(segments, len(ranked.judgments.query_ids), file)
    return stored


def measure_baselines(
    measures: Measures, ranked: ScoredDataset
) -> list[tuple[Baseline, dict[str, Float64Array]]]:
    """Return the baselines of a ranking, and (n_queries,) values of each by metric."""
    judged: list[tuple[Baseline, Judgments]]
    if ranked.dataset.n_features:
        judged = [(baseline, ranked.dataset) for baseline in baselines(ranked.dataset, measures.seed)]
    else:
        judged = [(random_order(ranked.scores, measures.seed), ranked.judgments)]
    return [
        (baseline, measure(baseline.scores, judgments, measures.metrics, measures.contract))
        for baseline, judgments in judged
    ]


def store_validation(run: JobRun, measures: Measures, ranked: ScoredDataset, model_id: str) -> Values:
    """Store the values of every validation query; return the column `validation` of the model's row."""
    run.reporter.phase("evaluating")
    values = measure(ranked.scores, ranked.judgments, measures.metrics, measures.contract)
    return _store_validation_values(run, measures, list(ranked.judgments.query_ids), values, model_id)


def store_cross_validation(
    run: JobRun, measures: Measures, query_ids: Sequence[str], validated: CrossValidation, model_id: str
) -> Values:
    """Store the held-out values of every query; return the column `validation` of the model's row."""
    run.reporter.phase("evaluating")
    stored = _store_validation_values(run, measures, query_ids, validated.per_query, model_id)
    with run.artifacts.writing(keys.folds_key(model_id)) as file:
        names = np.array(validated.assignment.names, object)[validated.fold_of]
        pq.write_table(pa.table({"query_id": list(query_ids), "fold": list(names)}), file)
    return stored | {"cross_validation": validated.to_json()}


def _store_validation_values(
    run: JobRun,
    measures: Measures,
    query_ids: Sequence[str],
    values: Mapping[str, Float64Array],
    model_id: str,
) -> Values:
    with run.artifacts.writing(keys.validation_key(model_id)) as file:
        write_query_values(file, query_ids, values)
    return {
        "metrics": _intervals(run, values, measures.seed),
        "queries": len(query_ids),
        "query_ids_sha256": hashlib.sha256("\n".join(query_ids).encode()).hexdigest(),
    }


def store_ranking(run: JobRun, ranked: ScoredDataset) -> StoredRanking:
    """Rank the documents of every query by score, and store the ranking."""
    run.reporter.phase("ranking")
    stored = write_ranking(run, rank_documents(ranked.scores, ranked.dataset), ranked.dataset.n_queries)
    return replace(stored, findings=ranked.findings_json)


def write_ranking(run: JobRun, table: pa.Table, queries: int) -> StoredRanking:
    """Store a ranking in the table format of `rank_documents`."""
    stored = StoredRanking(new_id("rnk_"), queries, table.num_rows)
    with run.artifacts.writing(keys.ranking_key(stored.id)) as file:
        pq.write_table(table, file)
    return stored


def _segments_json(run: JobRun, segments: Sequence[Slice], evaluation: Evaluation) -> list[dict[str, Any]]:
    return [
        {
            "by": segment.by,
            "value": segment.value,
            "queries": len(segment.queries),
            "metrics": _intervals(
                run, {name: values[segment.queries] for name, values in evaluation.per_query.items()}, 0
            ),
        }
        for segment in segments
    ]


def _intervals(run: JobRun, values: Mapping[str, Float64Array], seed: int) -> dict[str, dict[str, Any]]:
    summaries = summarise_all(
        values,
        resamples=_RESAMPLES,
        seed=seed,
        threads=run.threads,
        metrics={name: parse_metric(name) for name in values},
    )
    return {
        name: {"mean": summary.mean, "lower": summary.lower, "upper": summary.upper}
        for name, summary in summaries.items()
    }
