"""Run evaluation jobs."""

from typing import Any

from core.diagnostics import diagnose
from core.jobs.evaluate import EvaluateJob
from core.stored import write_entries
from worker.job.results import store_evaluation, store_ranking
from worker.job.run import JobRun
from worker.job.systems import ScoredDataset, score_system
from worker.job.training_data import load_with_label_map


def run_evaluation(run: JobRun, spec: EvaluateJob) -> None:
    """Rank a dataset by a system; store the metrics by query, their summaries, and a model's ranking.

    Raises:
        InvalidInput: The metrics cannot use the labels.
        DatasetError: The dataset has no features.
        FeaturesAbsent: The dataset lacks most features that the model uses.
    """
    dataset_id, system = spec.dataset_id, spec.system
    run.reporter.phase("loading")
    dataset = load_with_label_map(run, dataset_id, spec.measures)
    run.reporter.phase("scoring")
    ranked = score_system(run, spec, system, dataset, measured_on=dataset_id)
    evaluation = store_evaluation(run, spec.measures, ranked, system.name)
    ranking = store_ranking(run, ranked) if system.model_id else None
    diagnostics = _diagnose(run, spec, ranked)
    run.reporter.report(metrics={"test": evaluation.means}, findings=evaluation.columns["findings"])
    result = {"evaluation_id": evaluation.id, "ranking_id": ranking.id if ranking else system.ranking_id}
    with run.succeeding(result) as tx:
        evaluation.add(tx, run.id, system, dataset_id, diagnostics)
        if ranking:
            ranking.add(tx, run.id, system, dataset_id)


def _diagnose(run: JobRun, spec: EvaluateJob, ranked: ScoredDataset) -> dict[str, Any] | None:
    diagnostics = spec.diagnostics
    if diagnostics is None:
        return None
    run.reporter.phase("diagnosing")
    values = diagnose(
        diagnostics.loss,
        ranked.scores,
        ranked.dataset.labels,
        ranked.dataset.query_boundaries,
        cutoff=diagnostics.cutoff,
        seed=spec.measures.seed,
    )
    return {**write_entries(diagnostics), "values": values}
