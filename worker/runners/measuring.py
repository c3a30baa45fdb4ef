"""Evaluate, rank and inspect models, and evaluate them on clicks."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from core.diagnostics import diagnose
from core.evaluation import Summary
from core.inspection import (
    Grid,
    PermutationImportance,
    Permutations,
    partial_dependence,
    permutation_importance,
)
from core.jobs.clicks import CounterfactualJob
from core.jobs.measuring import EvaluateJob, InspectJob, RankJob
from core.metrics import parse_metric
from core.store import new_id
from core.stored import write_entries
from worker.job.datasets import load_dataset
from worker.job.reporter import counting
from worker.job.results import store_evaluation, store_ranking
from worker.job.run import JobRun
from worker.job.systems import ScoredDataset, alignment_findings, estimate_systems, load_model, score_system
from worker.job.training_data import apply_label_map, load_with_label_map


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


DEFAULT_FEATURE_COUNT = 10  # features whose partial dependence is computed when none are named


def run_inspection(run: JobRun, spec: InspectJob) -> None:
    """Compute and store the permutation importance and partial dependence of a model.

    Raises:
        InvalidInput: The metric cannot use the labels.
        DatasetError: The dataset has no features.
        FeaturesAbsent: The dataset lacks most features that the model uses.
    """
    dependence_plan, contract, seed = spec.partial_dependence, spec.measures.contract, spec.measures.seed
    model_id = str(spec.system.model_id)
    run.reporter.phase("loading")
    model = load_model(run.store, model_id)
    names = model.feature_names
    loaded = load_dataset(run.store, run.caches, spec.dataset_id).dataset
    absent_features = alignment_findings(spec, spec.system.name, model, loaded)
    findings = [asdict(finding) for finding in absent_features] or None
    run.reporter.report(findings=findings)
    dataset = model.align(apply_label_map(spec.measures, loaded, None))
    run.reporter.phase("shuffling features")
    baseline, importance = permutation_importance(
        model.scorer,
        dataset,
        spec.metric,
        contract,
        Permutations(spec.repeats, spec.within, seed),
        threads=run.threads,
        on_step=counting(run.reporter, "shuffling features"),
    )
    run.reporter.phase("partial dependence", reset_count=True)
    dependence = partial_dependence(
        model.scorer,
        _dependence_columns(dependence_plan.features, names, importance),
        dataset,
        Grid(dependence_plan.grid, dependence_plan.sample, seed),
        threads=run.threads,
        on_step=counting(run.reporter, "partial dependence"),
    )
    inspection_id = new_id("ins_")
    with run.succeeding({"inspection_id": inspection_id}) as tx:
        tx.inspections.add(
            id=inspection_id,
            job_id=run.id,
            model_id=model_id,
            dataset_id=spec.dataset_id,
            metric=spec.metric,
            contract=contract.to_json(),
            baseline=_baseline(spec, baseline),
            repeats=spec.repeats,
            within=spec.within,
            seed=seed,
            importance=[{**asdict(each), "feature": names[each.feature]} for each in importance],
            partial_dependence=[each.to_json(names, model.scorer.categories) for each in dependence],
            findings=findings,
            sample=min(dependence_plan.sample, dataset.n_documents),
        )


def _dependence_columns(
    requested: Sequence[str] | None, names: Sequence[str], importance: Sequence[PermutationImportance]
) -> list[int]:
    if requested is None:
        # Leave out features whose shuffling does not change the metric.
        return [each.feature for each in importance if each.mean != 0.0][:DEFAULT_FEATURE_COUNT]
    return [names.index(name) for name in requested]


def _baseline(spec: InspectJob, summary: Summary) -> dict[str, Any]:
    metric = parse_metric(spec.metric, spec.measures.contract)
    return {**asdict(summary), "higher_is_better": metric.higher_is_better, "contract": metric.contract()}


def run_ranking(run: JobRun, spec: RankJob) -> None:
    """Score a dataset with a model and store the ranking of every query's documents.

    Raises:
        DatasetError: The dataset has no features.
        FeaturesAbsent: The dataset lacks most features that the model uses.
    """
    run.reporter.phase("loading")
    dataset = load_dataset(run.store, run.caches, spec.dataset_id).dataset
    run.reporter.phase("scoring")
    ranked = score_system(run, spec, spec.system, dataset)
    ranking = store_ranking(run, ranked)
    run.reporter.report(findings=ranked.findings_json)
    with run.succeeding({"ranking_id": ranking.id}) as tx:
        ranking.add(tx, run.id, spec.system, spec.dataset_id)


def run_counterfactual(run: JobRun, spec: CounterfactualJob) -> None:
    """Rank a dataset by every system and estimate the metric of the rankings from a click log.

    Raises:
        InvalidInput: The log lacks data that the estimator needs, or has no query that all systems rank.
        NotFound: The log, the dataset or a system was deleted.
        FeaturesAbsent: The dataset lacks most features that a model uses.
    """
    result, findings = estimate_systems(run, spec, spec.systems, spec, spec.seed)
    run.reporter.report(findings=findings or None)
    with run.succeeding({"click_log_id": spec.click_log_id, **asdict(result)}):
        pass
