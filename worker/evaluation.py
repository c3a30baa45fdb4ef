"""Evaluating a model, or a ranking from elsewhere, on a dataset."""

from typing import Any

from core.diagnostics import diagnose
from core.losses import stored_loss
from worker.jobs import JobRun
from worker.labels import load_judged
from worker.results import store_evaluation, store_ranking
from worker.systems import Ranked, rank_by, system_of


def run_evaluation(run: JobRun) -> None:
    """Rank a dataset; store each query's metrics, what they say together, and the ranking of a model.

    Raises:
        InvalidInput: The metrics cannot use the labels.
        DatasetError: The dataset has no features.
        FeaturesAbsent: It lacks most of those that the model uses.
    """
    dataset_id, system = run.spec["dataset_id"], system_of(run.spec)
    run.phase("loading")
    dataset = load_judged(run, dataset_id)
    run.phase("scoring")
    ranked = rank_by(run, system, dataset)
    evaluation = store_evaluation(run, ranked)
    ranking = store_ranking(run, ranked) if system.model_id else None
    diagnostics = _diagnose(run, ranked)
    run.report(metrics={"test": evaluation.means}, findings=ranked.findings_json)
    result = {"evaluation_id": evaluation.id, "ranking_id": ranking.id if ranking else system.ranking_id}
    with run.succeeding(result) as tx:
        evaluation.add(tx, run, system, dataset_id, diagnostics)
        if ranking:
            ranking.add(tx, run, system, dataset_id)


def _diagnose(run: JobRun, ranked: Ranked) -> dict[str, Any] | None:
    asked: dict[str, Any] | None = run.spec.get("diagnostics")
    if asked is None:
        return None
    run.phase("diagnosing")
    values = diagnose(
        stored_loss(**asked["loss"]),
        ranked.scores,
        ranked.dataset.labels,
        ranked.dataset.query_boundaries,
        cutoff=asked["cutoff"],
        seed=run.spec["seed"],
    )
    return {**asked, "values": values}
