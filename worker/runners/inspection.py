"""Run inspection jobs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from core.evaluation import Summary
from core.inspection import (
    Grid,
    PermutationImportance,
    Permutations,
    partial_dependence,
    permutation_importance,
)
from core.jobs.inspect import InspectJob
from core.metrics import parse_metric
from core.store import new_id
from worker.job.datasets import load_dataset
from worker.job.progress import counting
from worker.job.run import JobRun
from worker.job.systems import alignment_findings, load_model
from worker.job.training_data import apply_label_map

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
    alignment_warnings = alignment_findings(spec, spec.system.name, model, loaded)
    findings = [asdict(finding) for finding in alignment_warnings] or None
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
