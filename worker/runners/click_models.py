"""Run jobs that fit click models to a log, and jobs that derive judgments from a log."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace

from core.clicks.agreement import agreement_with
from core.clicks.joining import documents_without_features, judged_dataset, pairs_of
from core.clicks.judgments import judge_clicks
from core.clicks.models.evaluation import compare_click_models
from core.clicks.models.fitting import fit_click_model
from core.data.result import Reading
from core.jobs.click_models import ClickModelJob
from core.jobs.folders import claims_folders
from core.jobs.judge import JudgeJob
from core.parameters import values_of
from worker.job.click_logs import load_click_log
from worker.job.datasets import load_dataset
from worker.job.reporter import Values
from worker.job.run import JobRun
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
