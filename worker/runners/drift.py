"""Run drift jobs."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import numpy as np

from core.data.feature_alignment import AbsentFeatures
from core.drift import MIN_QUERIES, Column, ColumnDrift, Comparison, QuerySample, Verdict, compare
from core.events import DRIFT_FOUND
from core.jobs.drift import DriftJob
from core.names import first_names
from core.store import new_id
from core.store.clock import utc_now
from core.store.repositories.ids import DRIFT_REPORT
from worker.job.datasets import load_dataset
from worker.job.reporter import Values
from worker.job.run import JobRun
from worker.job.score_samples import RequestSample, Window, draw_queries, read_samples, with_scores
from worker.job.systems import LoadedModel, load_model

SCORES = "scores"
_ORDER = {"drift": 0, "shift": 1, "none": 2}


def run_drift(run: JobRun, spec: DriftJob) -> None:
    """Compare samples of requests with the training data and with earlier samples; store the report.

    Raises:
        NotFound: The model or its training data was deleted.
        DatasetError: The dataset has no features.
        FeaturesAbsent: The dataset lacks most features that the model uses.
    """
    run.reporter.phase("reading samples")
    model_id = str(spec.system.model_id)
    model = load_model(run.store, model_id)
    with run.store.read() as tx:
        row = tx.models.get(model_id)
    until, days = utc_now(), timedelta(days=spec.days)
    window = Window(row.name, until - days, until)
    sampled = _read(run, spec, model, window)
    before = Window(row.name, until - 2 * days, until - days)
    run.reporter.phase("comparing with the training data")
    comparisons = [_compare_with_training(run, spec, model, sampled)]
    if spec.compare_with_previous:
        run.reporter.phase("comparing with the previous window")
        earlier = _read(run, spec, model, before)
        comparison = _compare(spec, earlier.sample, sampled.sample, model)
        reference = {"since": before.since.isoformat(), "until": before.until.isoformat()}
        features, scores = comparison.columns[:-1], comparison.columns[-1:]
        comparisons.append(
            _comparison_json(
                "previous", reference, earlier.sample, sampled, comparison.verdict, features, scores
            )
        )
    verdict, drifted, sentence = _summary(comparisons, sampled, spec)
    report_id = new_id(DRIFT_REPORT)
    result = {"drift_report_id": report_id, "model_id": model_id, "verdict": verdict, "sentence": sentence}
    with run.succeeding(result) as tx:
        job = tx.jobs.get(run.id)
        tx.drift.add(
            id=report_id,
            job_id=run.id,
            model_id=model_id,
            model=row.reference,
            name=row.name,
            days=spec.days,
            since=window.since,
            until=window.until,
            verdict=verdict,
            sentence=sentence,
            requests=sampled.requests,
            queries=sampled.queries,
            documents=sampled.sample.n_documents,
            drifted_features=drifted,
            thresholds=asdict(spec.thresholds),
            comparisons=comparisons,
            project=job.project,
        )
        if verdict == "drift":
            fields = {"model": row.reference, "model_id": model_id, "sentence": sentence, "features": drifted}
            tx.events.add(
                DRIFT_FOUND, "drift-report", report_id, fields, project=job.project, key_id=run.key_id
            )


def _read(run: JobRun, spec: DriftJob, model: LoadedModel, window: Window) -> RequestSample:
    return read_samples(run.store, model, window, spec.queries_by, spec.seed, run.threads)


def _compare_with_training(run: JobRun, spec: DriftJob, model: LoadedModel, sampled: RequestSample) -> Values:
    """Compare features with the training data, and scores with the model's scores on the validation data."""
    reference = _sample_of(run, spec, model, spec.dataset_id)
    by_feature = _compare(spec, reference, sampled.sample, model, scores=False)
    scored = reference
    if spec.scored_dataset_id != spec.dataset_id:
        scored = _sample_of(run, spec, model, spec.scored_dataset_id)
    by_score = _compare(spec, scored, sampled.sample, model, features=False)
    verdict = "drift" if "drift" in (by_feature.verdict, by_score.verdict) else by_feature.verdict
    reference_ids = {"dataset_id": spec.dataset_id, "scored_dataset_id": spec.scored_dataset_id}
    comparison = _comparison_json(
        "training", reference_ids, reference, sampled, verdict, by_feature.columns, by_score.columns
    )
    if by_score.verdict == "too_few" and by_feature.verdict != "too_few":
        comparison["sentence"] += (
            f" Scores are not compared: {spec.scored_dataset_id}, which validated the model, has"
            f" {scored.n_queries} queries, and at least {MIN_QUERIES} are needed; set another dataset in"
            " dataset_id."
        )
    return comparison


def _sample_of(run: JobRun, spec: DriftJob, model: LoadedModel, dataset_id: str) -> QuerySample:
    reference = load_dataset(run.store, run.caches, dataset_id).dataset
    absent = AbsentFeatures.of(reference, model.used_features)
    absent.refuse_majority("/dataset_id", "the dataset", model.reference)
    dataset = draw_queries(model.align(reference), spec.seed)
    features = np.asarray(dataset.features, np.float32)
    scores = model.score(dataset, run.threads)
    return QuerySample(with_scores(features, scores), dataset.query_boundaries)


def _compare(
    spec: DriftJob,
    before: QuerySample,
    after: QuerySample,
    model: LoadedModel,
    *,
    features: bool = True,
    scores: bool = True,
) -> Comparison:
    """Compare two samples by features, by scores, or by both."""
    names = model.feature_names
    categories = {name: each.values for name, each in model.categories.items()}
    columns = [Column(name, categories.get(name)) for name in names] if features else []
    columns += [Column(SCORES)] if scores else []
    compared = slice(0 if features else len(names), len(names) + scores)
    return compare(
        QuerySample(before.values[:, compared], before.query_boundaries),
        QuerySample(after.values[:, compared], after.query_boundaries),
        columns,
        spec.thresholds,
        spec.seed,
        n_comparisons=spec.n_comparisons,
    )


def _comparison_json(
    baseline: str,
    reference: Values,
    before: QuerySample,
    sampled: RequestSample,
    verdict: Verdict,
    features: Sequence[ColumnDrift],
    scores: Sequence[ColumnDrift],
) -> Values:
    """Return the JSON of a comparison to store; features are sorted by verdict and PSI."""
    now = sampled.sample
    ordered = sorted(features, key=lambda each: (_ORDER[each.verdict], -each.psi, each.name))
    drifted = [each.name for each in (*scores, *ordered) if each.verdict == "drift"]
    sentence = f"Drift in {first_names(drifted)}." if drifted else "No drift found."
    if verdict == "too_few":
        sentence = (
            f"Too few queries for a verdict: {before.n_queries} before and {now.n_queries} now; at least"
            f" {MIN_QUERIES} are needed in each period."
        )
    return {
        "with": baseline,
        "reference": {**reference, "queries": before.n_queries, "documents": before.n_documents},
        "queries": now.n_queries,
        "documents": now.n_documents,
        "verdict": verdict,
        "sentence": sentence,
        "features": [asdict(each) for each in ordered],
        "scores": asdict(scores[0]) if scores else None,
    }


def _summary(
    comparisons: Sequence[Values], sampled: RequestSample, spec: DriftJob
) -> tuple[str, list[str], str]:
    """Return the verdict of a report, the drifted columns, and a sentence."""
    columns: list[dict[str, Any]] = [
        each
        for comparison in comparisons
        for each in (*comparison["features"], *([comparison["scores"]] if comparison["scores"] else []))
    ]
    drifted = [each for each in columns if each["verdict"] == "drift"]
    names = list(dict.fromkeys(each["name"] for each in sorted(drifted, key=lambda each: -each["psi"])))
    if names:
        against = [comparison["with"] for comparison in comparisons if comparison["verdict"] == "drift"]
        names_of = {"training": "the training data", "previous": "the previous window"}
        sentence = f"Drift from {' and '.join(names_of[each] for each in against)}: {first_names(names)}."
        return "drift", names, sentence
    if comparisons[0]["verdict"] != "too_few":
        return "none", [], str(comparisons[0]["sentence"])
    if sampled.sample.n_queries < MIN_QUERIES <= sampled.requests and spec.queries_by == "id":
        few = f"{sampled.requests} requests have {sampled.queries} different query ids"
        return (
            "too_few",
            [],
            (
                f"Too few queries for a verdict: {few}. If the ids do not identify queries, set queries_by to"
                " request."
            ),
        )
    return "too_few", [], str(comparisons[0]["sentence"])
