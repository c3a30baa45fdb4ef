"""Run the jobs on clicks: click models, judgments, propensities and simulation."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from core.clicks.agreement import agreement_with
from core.clicks.doctor import examine_log
from core.clicks.files import write_click_log
from core.clicks.joining import documents_without_features, judged_dataset, pairs_of
from core.clicks.judgments import judge_clicks
from core.clicks.log import ClickLog
from core.clicks.models.evaluation import compare_click_models
from core.clicks.models.fitting import fit_click_model
from core.clicks.propensities import Propensities, estimate_propensities
from core.clicks.simulation import Truth, simulate
from core.clicks.statistics import log_statistics
from core.clicks.training_data import rows_of_pairs
from core.data import RankingDataset
from core.data.result import Reading
from core.doctor.report import Finding
from core.errors import InvalidInput
from core.jobs.clicks import ClickModelJob, JudgeJob, PropensityJob, Ranker, SimulateClicksJob
from core.jobs.folders import claims_folders
from core.parameters import values_of
from core.types import Float32Array, Float64Array
from worker.job.datasets import load_click_log, load_dataset, log_folder, store_click_log
from worker.job.reporter import Values, counting, counting_percent
from worker.job.run import JobRun
from worker.job.systems import load_model
from worker.runners.ingestion import share_stored_content, store_reading

_VERSION = 1  # incremented whenever the same log and options give other grades


def run_click_model(run: JobRun, spec: ClickModelJob) -> None:
    """Compare click models on held-out lists, and fit the best one to all lists.

    Raises:
        NotFound: The log was deleted.
        InvalidInput: The log has no impressions, or too few lists to hold out.
    """
    log = load_click_log(run, spec.click_log_id)
    run.reporter.phase("comparing models")
    comparison = compare_click_models(
        log,
        spec.models,
        spec.options,
        held_out=spec.held_out,
        report=_counting(run, "comparing models"),
        threads=run.threads,
    )
    run.reporter.phase("estimating", reset_count=True)
    options = replace(spec.options, model=comparison.best)
    model = fit_click_model(log, options, _counting(run, "estimating"), threads=run.threads)
    result = {
        "click_log_id": spec.click_log_id,
        "best": comparison.best,
        "sentence": comparison.sentence,
        "comparison": comparison.to_json(),
        "click_model": model.to_json(),
    }
    with run.succeeding(result):
        pass


def run_judging(run: JobRun, spec: JudgeJob) -> None:
    """Grade the query-document pairs of a log by a click model, join features, and store the dataset.

    Raises:
        NotFound: The log or a dataset was deleted.
        InvalidInput: No pair has enough impressions, or none is in the dataset with the features.
    """
    for folder in claims_folders(run.id, run.lease.token - 1):
        run.artifacts.remove(folder)
    with run.store.read() as tx:
        features_digest = tx.datasets.get(spec.features_dataset_id).digest
    digest = _digest(spec, features_digest)
    log = load_click_log(run, spec.click_log_id)
    run.reporter.phase("estimating")
    model = fit_click_model(log, spec.options, _counting(run, "estimating"), threads=run.threads)
    run.reporter.phase("judging", reset_count=True)
    judgments = judge_clicks(model, spec.judgments)
    result: Values = {
        "dataset_id": spec.dataset_id,
        "judgments": judgments.to_json(),
        "click_model": model.to_json(),
    }
    if spec.judged_dataset_id is not None:
        judged = load_dataset(run.store, run.caches, spec.judged_dataset_id).dataset
        result["agreement"] = asdict(agreement_with(judgments, log, judged))
    features = load_dataset(run.store, run.caches, spec.features_dataset_id).dataset
    pairs = pairs_of(features, log)
    findings = [asdict(finding) for finding in documents_without_features(log, pairs)]
    run.reporter.report(findings=findings)
    if share_stored_content(run, spec.dataset_id, digest, result):
        return
    dataset = judged_dataset(features, pairs, judgments, spec.unjudged)
    store_reading(run, spec.dataset_id, digest, Reading(dataset, "clicks"), result=result)


def _counting(run: JobRun, phase: str) -> Callable[[str, int, int], None]:
    """Return a callback that reports passes as progress, and checks for cancellation."""

    def report(step: str, done: int, total: int) -> None:
        progress = {"phase": f"{phase}: {step}", "iteration": done, "total": total}
        run.reporter.report(progress=progress)

    return report


def _digest(spec: JudgeJob, features_digest: str | None) -> str:
    decisive = {
        "clicks": _VERSION,
        "log": spec.click_log_id,
        "features": features_digest or spec.features_dataset_id,
        "options": values_of(spec.options),
        "judgments": values_of(spec.judgments),
        "unjudged": spec.unjudged,
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def run_propensity(run: JobRun, spec: PropensityJob) -> None:
    """Estimate the propensities of a click log, and store them with intervals as the job's result.

    Raises:
        InvalidInput: The propensities are not identifiable from the log, or the method needs features.
    """
    run.reporter.phase("loading")
    log = load_click_log(run, spec.click_log_id)
    features = None if spec.dataset_id is None else _features(run, log, spec.dataset_id)
    run.reporter.phase("estimating")
    on_resample = counting(run.reporter, "estimating")
    estimate = estimate_propensities(log, spec.plan, features, on_resample, run.threads)
    if estimate.intercepts is not None:
        run.reporter.report(findings=[asdict(_irrelevant_finding(spec.plan.irrelevant_share, estimate))])
    with run.succeeding(propensities_json(spec, estimate)):
        pass


def propensities_json(spec: PropensityJob, estimate: Propensities) -> dict[str, Any]:
    """Return estimated propensities as the JSON of a job's result."""
    return {
        "click_log_id": spec.click_log_id,
        "method": estimate.method,
        "propensities": estimate.values.tolist(),
        "lower": _bounds(estimate.lower),
        "upper": _bounds(estimate.upper),
        "intercepts": None if estimate.intercepts is None else estimate.intercepts.tolist(),
        "intercepts_lower": _bounds(estimate.intercepts_lower),
        "intercepts_upper": _bounds(estimate.intercepts_upper),
        "impressions": [int(count) for count in estimate.impressions],
        "pairs": estimate.n_pairs,
        "units": estimate.units,
        "failed_resamples": estimate.failed_resamples,
        "sentence": estimate.summary,
    }


def _bounds(bounds: Float64Array | None) -> list[float] | None:
    """Return the interval bounds as a list, None without resamples."""
    return None if bounds is None or np.isnan(bounds).all() else bounds.tolist()


def _irrelevant_finding(share: float, estimate: Propensities) -> Finding:
    total = int(estimate.impressions.sum())
    return Finding(
        code="assumed-irrelevant",
        severity="info",
        title=f"The {share:.1%} of impressions with the lowest predicted relevance count as irrelevant.",
        advice="Clicks determine relevance only up to a factor and a shift. The affine correction does not"
        " depend on the factor, and this assumption sets the shift. If these documents are often"
        " relevant, the intercepts are too high: decrease irrelevant_share.",
        count=round(share * total),
        total=total,
        unit="impressions",
    )


def _features(run: JobRun, log: ClickLog, dataset_id: str) -> Float32Array:
    """Return the features of a log's query-document pairs, NaN for pairs that the dataset lacks."""
    dataset = load_dataset(run.store, run.caches, dataset_id).dataset
    rows = rows_of_pairs(log, dataset)
    features = np.full((log.n_pairs, dataset.n_features), np.nan, np.float32)
    present = np.flatnonzero(rows >= 0)
    features[present] = dataset.features[rows[present]]
    return features


TRUTH = "truth.npz"
_MISSING = -1e300  # documents without the feature come last


def run_click_simulation(run: JobRun, spec: SimulateClicksJob) -> None:
    """Simulate a click log, and store it with the ground truth of the simulation.

    The job's result has the ground truth by rank; the file `truth.npz` in the log's folder has it by
    query-document pair.

    Raises:
        InvalidInput: A ranker is not a feature of the dataset.
        DatasetError: The dataset has no features for a model.
    """
    run.reporter.phase("ranking")
    dataset = load_dataset(run.store, run.caches, spec.dataset_id).dataset
    rankers = [_scores(run, dataset, spec, ranker) for ranker in spec.rankers]
    run.reporter.phase("drawing clicks")
    on_chunk = counting_percent(run.reporter, "drawing clicks")
    log, truth = simulate(dataset, rankers, spec.user_model, spec.plan, on_chunk)
    run.reporter.phase("storing", reset_count=True)
    with log_folder(run) as folder:
        write_click_log(log, folder)
        by_pair = {"attraction": truth.attraction}
        if truth.satisfaction is not None:
            by_pair["satisfaction"] = truth.satisfaction
        np.savez(folder / TRUTH, allow_pickle=False, **by_pair)
        stored = store_click_log(run, spec.click_log_id, folder)
    with run.succeeding({"click_log_id": spec.click_log_id, "truth": truth_json(truth)}) as tx:
        tx.click_logs.mark_ready(
            spec.click_log_id,
            folder=stored,
            statistics=log_statistics(log),
            findings=[asdict(finding) for finding in examine_log(log)],
        )


def truth_json(truth: Truth) -> dict[str, Any]:
    """Return the ground truth by rank as JSON."""
    return {
        "propensities": truth.propensities.tolist(),
        "examination": truth.examination.tolist(),
        "slopes": None if truth.slopes is None else truth.slopes.tolist(),
        "intercepts": None if truth.intercepts is None else truth.intercepts.tolist(),
    }


def _scores(run: JobRun, dataset: RankingDataset, spec: SimulateClicksJob, ranker: Ranker) -> Float64Array:
    if ranker.model_id is not None:
        model = load_model(run.store, ranker.model_id)
        return model.score(model.align(dataset), run.threads)
    if ranker.system not in dataset.feature_names:
        names = [each.system for each in spec.rankers if each.model_id is None]
        pointer = f"/features/{names.index(ranker.system)}"
        raise InvalidInput.at(pointer, f"{ranker.system!r} is not a feature of the dataset")
    column = dataset.feature_names.index(ranker.system)
    values = np.asarray(dataset.features[slice(0, dataset.n_documents)][:, column], np.float64)
    return np.nan_to_num(values, nan=_MISSING, posinf=-_MISSING, neginf=_MISSING)
