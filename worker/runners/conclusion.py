"""Run the jobs that conclude studies."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from core.errors import InvalidInput, JobCancelled
from core.evaluation import Pair, compare_systems
from core.jobs import System
from core.jobs.promote import PromoteJob
from core.jobs.study import ConcludeJob
from core.store import Evaluation, Model, Study, Transaction, new_id
from core.store.artifacts.keys import (
    comparison_key,
    comparison_segments_key,
    evaluation_key,
    evaluation_segments_key,
)
from core.store.repositories.projects import Labels
from core.studies.conclusion import Conclusion, TrialResult, conclude, conclude_without_improvement
from core.types import Float64Array
from worker.job.reporter import Values
from worker.job.run import JobRun
from worker.runners.comparison import values_table

PERMUTATIONS = 100_000


@dataclass(frozen=True)
class _Refit:
    """A trial that was trained again on all queries except the held-out ones.

    Attributes:
        model: Model of the second training.
    """

    trial: TrialResult
    model: Model
    evaluation: Evaluation
    ranking_id: str


def run_conclusion(run: JobRun, job: ConcludeJob) -> None:
    """Compare winner and default on the held-out queries and store the conclusion of the study.

    If the winner is better, the transaction that ends the job moves the alias or queues its promotion job.

    Raises:
        InvalidInput: A refit was not measured on the held-out queries.
        JobCancelled: The study was cancelled.
    """
    run.reporter.phase("comparing")
    with run.store.read() as tx:
        study = tx.studies.get(job.study_id)
        default = _refit(tx, study, 0, study.default_job_id)
        winner = _refit(tx, study, study.best_number or 0, study.winner_job_id or study.default_job_id)
        counts = tx.studies.counts([study.id])[study.id]
    if winner.trial.number == 0:
        mean = (default.evaluation.summaries.get(job.metric) or {}).get("mean")
        others = counts["succeeded"] + counts["pruned"] - 1
        conclusion = conclude_without_improvement(job.metric, default.trial, mean, others)
        with run.succeeding({"study_id": study.id}) as tx:
            _require_concluding(run, tx, study.id)
            tx.studies.conclude(study.id, asdict(conclusion) | {"comparison_id": None})
        return
    _conclude(run, job, study, winner, default)


def _conclude(run: JobRun, job: ConcludeJob, study: Study, winner: _Refit, default: _Refit) -> None:
    metric = job.metric
    query_ids, values = _values(run, metric, [default, winner])
    compared = compare_systems(
        [refit.model.reference for refit in (default, winner)],
        {metric: values},
        {metric: bool(study.spec["higher_is_better"])},
        permutations=PERMUTATIONS,
        seed=study.spec["seed"],
        threads=run.threads,
    )
    pair: Pair = compared.pairs[0]
    conclusion = conclude(metric, winner.trial, default.trial, pair.metrics[metric])
    comparison_id = new_id("cmp_")
    with run.artifacts.writing(comparison_key(comparison_id)) as file:
        pq.write_table(values_table(query_ids, {metric: values}), file)
    segments = evaluation_segments_key(default.evaluation.id)
    with (
        run.store.verified.open(segments) as stored,
        run.artifacts.writing(comparison_segments_key(comparison_id)) as file,
    ):
        file.write(stored.read())
    result = {"study_id": study.id, "comparison_id": comparison_id, "verdict": conclusion.verdict}
    with run.succeeding(result) as tx:
        _require_concluding(run, tx, study.id)
        tx.comparisons.add(
            comparison_id,
            job_id=run.id,
            dataset_id=default.evaluation.dataset_id,
            sentence=compared.sentence,
            systems=[_system(refit) for refit in (default, winner)],
            metrics=[metric],
            contract=default.evaluation.contract,
            permutations=PERMUTATIONS,
            seed=study.spec["seed"],
            pairs=[pair.to_json(query_ids)],
        )
        promoted = _promote(run, tx, study, winner.model, conclusion)
        tx.studies.conclude(
            study.id, {**asdict(conclusion), "comparison_id": comparison_id, "promoted": promoted}
        )


def _require_concluding(run: JobRun, tx: Transaction, study_id: str) -> None:
    """Lock the study; refuse a conclusion if it was cancelled meanwhile."""
    if tx.studies.locked(study_id).status == "cancelled":
        raise JobCancelled(run.id)


def _refit(tx: Transaction, study: Study, number: int, job_id: str | None) -> _Refit:
    result = tx.jobs.get(job_id or "").result or {}
    if "evaluation_id" not in result:
        raise InvalidInput.at("/test", f"trial {number} could not be evaluated on the held-out queries")
    model = tx.models.get(result["model_id"])
    trial = tx.studies.trial(study.id, number)
    evaluation = tx.evaluations.get(result["evaluation_id"])
    value = TrialResult(number, trial.value or 0.0, model.reference)
    return _Refit(value, model, evaluation, result["ranking_id"])


def _values(run: JobRun, metric: str, refits: list[_Refit]) -> tuple[tuple[str, ...], Float64Array]:
    """Return the held-out queries, and (n_queries, n_systems) values of the metric."""
    tables = []
    for refit in refits:
        with run.store.verified.open(evaluation_key(refit.evaluation.id)) as file:
            tables.append(pq.read_table(file, columns=["query_id", metric]))
    columns = [table[metric].to_numpy().astype(np.float64) for table in tables]
    query_ids = tuple(str(each) for each in tables[0]["query_id"].to_pylist())
    return query_ids, np.column_stack(columns)


def _system(refit: _Refit) -> Values:
    return {
        "name": refit.model.reference,
        "model_id": refit.model.id,
        "ranking_id": refit.ranking_id,
        "metrics": refit.evaluation.summaries,
        "findings": refit.evaluation.findings,
    }


def _promote(run: JobRun, tx: Transaction, study: Study, winner: Model, conclusion: Conclusion) -> str | None:
    """Point the study's alias at a better winner, or queue the promotion job if the alias has a gate."""
    name, alias = study.model_name, study.spec.get("alias")
    if alias is None or conclusion.verdict != "better":
        return None
    row: Any = tx.aliases.find_locked(name, alias)
    gate = tx.aliases.find_gate(name, alias)
    if gate is None or row is None:
        tx.aliases.move(name, alias, winner.version, run.key_id)
        return f"{name}@{alias} points at {winner.reference}"
    champion, challenger = (System(each.reference, each.id) for each in (row.model, winner))
    job = tx.enqueue(
        PromoteJob.by_gate(name, alias, (champion, challenger), gate.dataset_id, gate.rule),
        run.key_id,
        Labels(project=study.project),
    )
    return f"the gate of {name}@{alias} decides, {job.id}"
