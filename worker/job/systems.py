"""Load stored models and rankings, score datasets with them, and estimate metrics from clicks."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

import numpy as np
import pyarrow.parquet as pq

from core.clicks.counterfactual import (
    CounterfactualResult,
    Estimator,
    NewRanking,
    counterfactual_result,
    evaluate_rankings,
    join_scores,
    rank_weights,
)
from core.data import RankingDataset
from core.data.categories import Categories
from core.data.feature_alignment import AbsentFeatures, align_features
from core.data.trec import Run, join_run
from core.doctor.agreement import absent_feature_findings, run_findings, unseen_category_findings
from core.doctor.report import Finding
from core.errors import ArtifactDamaged, ScoreNotFinite
from core.evaluation import CounterfactualRule, Judgments
from core.jobs import JobSpec, SubmittedJob, System
from core.jobs.clicks import CounterfactualJob
from core.scorers import ScoringModel, categories_by_name, read_model
from core.store import Store
from core.store.artifacts.keys import model_key, ranking_key
from core.types import Float64Array
from worker.job.datasets import load_click_log, load_dataset
from worker.job.reporter import Values
from worker.job.run import JobRun
from worker.job.seen_queries import MeasuredQueries, seen_findings


@dataclass(frozen=True)
class LoadedModel:
    """A model to score with.

    Attributes:
        feature_names: Names of the features in column order, as in the training data.
    """

    scorer: ScoringModel
    feature_names: tuple[str, ...]
    reference: str

    @property
    def used_features(self) -> tuple[str, ...]:
        """Return the names of the features that change scores."""
        return tuple(self.feature_names[column] for column in self.scorer.used_features)

    @property
    def categories(self) -> Mapping[str, Categories]:
        """Return the values of the categorical features by name."""
        return categories_by_name(self.scorer, self.feature_names)

    def align(self, dataset: RankingDataset) -> RankingDataset:
        """Return a dataset with the model's features, and with categories encoded by the model's codes.

        Raises:
            DatasetError: The dataset has judgments but no features.
        """
        return align_features(dataset, self.feature_names, self.categories)

    def score(self, dataset: RankingDataset, threads: int) -> Float64Array:
        """Return the scores, (n_documents,), of a dataset that `align` returned.

        Raises:
            ScoreNotFinite: A score is NaN or infinite; the error names the model and the document.
        """
        return scores_of(self.scorer, self.reference, dataset, threads)


def scores_of(scorer: ScoringModel, reference: str, dataset: RankingDataset, threads: int) -> Float64Array:
    """Return the scores, (n_documents,), of the documents of a dataset.

    Raises:
        ScoreNotFinite: A score is NaN or infinite; the error names the model and the document.
    """
    try:
        return scorer.score(dataset.features, threads)
    except ScoreNotFinite as error:
        query = int(np.searchsorted(dataset.query_boundaries, error.row, side="right")) - 1
        document = str(dataset.document_ids[error.row])
        location = f"document {document!r} of query {str(dataset.query_ids[query])!r}"
        raise error.of(reference, location) from error


def repair_models(store: Store, content: bytes) -> list[str]:
    """Rewrite the damaged files of stored models with this content; return the ids of the models."""
    sha256 = hashlib.sha256(content).hexdigest()
    with store.read() as tx:
        models = tx.models.with_checksum(sha256)
    repaired = []
    for model in models:
        key = model_key(model.id)
        try:
            store.verified.read_bytes(key, sha256)
        except ArtifactDamaged:
            store.artifacts.write_bytes(key, content)
            store.verified.read_bytes(key, sha256)  # clears the record of the damage
            repaired.append(model.id)
    return repaired


def load_model(store: Store, model_id: str) -> LoadedModel:
    """Load a model to score with.

    Raises:
        NotFound: The model does not exist.
        ArtifactDamaged: The checksum of the model's file does not match.
        ModelError: The model's file cannot be used.
    """
    with store.read() as tx:
        row = tx.models.get(model_id)
    content = store.verified.read_bytes(model_key(model_id), row.sha256)
    return LoadedModel(read_model(content, row.precision), tuple(row.feature_names), row.reference)


ALLOW_ABSENT = ', or send "allow_absent_features": true'


@dataclass(frozen=True, eq=False)
class ScoredDataset:
    """The scores of a system on a dataset.

    Attributes:
        dataset: Queries, with the features that the model uses.
        judgments: Judgments for the metrics: the dataset, or its documents together with those that the
            ranking retrieved.
        scores: (n_documents,) in the order of the judgments; NaN for a document that was not retrieved.
    """

    dataset: RankingDataset
    judgments: Judgments
    scores: Float64Array
    findings: tuple[Finding, ...] = ()

    @property
    def findings_json(self) -> list[Values] | None:
        """Return the findings as JSON to store, None if there are none."""
        return [asdict(finding) for finding in self.findings] or None


def score_system(
    run: JobRun, spec: JobSpec, system: System, dataset: RankingDataset, *, measured_on: str | None = None
) -> ScoredDataset:
    """Score a dataset by a stored model or ranking.

    Args:
        measured_on: Id of the dataset if the model is measured on its judgments: then a model that was
            trained on it has a finding.

    Raises:
        DatasetError: The dataset has judgments but no features, and the system is a model.
        FeaturesAbsent: The dataset lacks most features that the model uses, and the job does not allow that.
        InvalidInput: The ranking cannot be joined with the dataset by document ids.
    """
    if system.model_id is not None:
        model = load_model(run.store, system.model_id)
        findings = alignment_findings(spec, system.name, model, dataset)
        if measured_on is not None:
            with run.store.read() as tx:
                rows, queries = [tx.models.get(system.model_id)], MeasuredQueries(measured_on)
                findings += tuple(seen_findings(tx, rows, queries, "this dataset"))
        aligned = model.align(dataset)
        return ScoredDataset(
            aligned, judgments=aligned, scores=model.score(aligned, run.threads), findings=findings
        )
    joined = join_run(dataset, _stored_run(run.store, str(system.ranking_id)))
    return ScoredDataset(dataset, joined, joined.scores, tuple(run_findings(joined)))


def alignment_findings(
    spec: JobSpec, name: str, model: LoadedModel, dataset: RankingDataset
) -> tuple[Finding, ...]:
    """Return findings on features that a model uses but a dataset lacks, and on unknown categories.

    Raises:
        FeaturesAbsent: More than half of the features are absent, and the job does not allow that.
    """
    absent = AbsentFeatures.of(dataset, model.used_features)
    if dataset.n_features and not spec.allows_absent_features:
        advice = ALLOW_ABSENT if isinstance(spec, SubmittedJob) else ""  # gates have no such option
        absent.refuse_majority("/dataset_id", "the dataset", name, advice=advice)
    return (
        *absent_feature_findings(absent, name),
        *unseen_category_findings(dataset, model.feature_names, model.categories, "of the dataset", name),
    )


def _stored_run(store: Store, ranking_id: str) -> Run:
    columns = ["query_id", "document_id", "score"]
    with store.verified.open(ranking_key(ranking_id)) as file:
        table = pq.read_table(file, columns=columns)
    return Run.from_columns(*(table.column(name) for name in columns))


def ranked_queries(store: Store, ranking_id: str) -> set[str]:
    """Return the ids of the queries of a stored ranking."""
    with store.verified.open(ranking_key(ranking_id)) as file:
        table = pq.read_table(file, columns=["query_id"])
    return {str(query_id) for query_id in table.column("query_id").unique().to_pylist()}


# Both have the options of an estimate.
_Estimation = CounterfactualJob | CounterfactualRule


def estimate_systems(
    run: JobRun, spec: JobSpec, systems: Sequence[System], estimation: _Estimation, seed: int
) -> tuple[CounterfactualResult, list[Values]]:
    """Rank a dataset by every system and estimate the metric of the rankings; return findings, too.

    Raises:
        InvalidInput: The log lacks data that the estimator needs, or has no query that all systems rank.
        NotFound: The log, the dataset or a system was deleted.
        FeaturesAbsent: The dataset lacks most features that a model uses.
    """
    run.reporter.phase("loading")
    log = load_click_log(run, estimation.click_log_id)
    dataset = load_dataset(run.store, run.caches, str(estimation.dataset_id)).dataset
    rankings: list[NewRanking] = []
    findings: list[Values] = []
    for system in systems:
        run.reporter.phase(f"scoring by {system.name}")
        ranked = score_system(run, spec, system, dataset)
        judged = ranked.judgments
        ids = (judged.query_ids, judged.document_ids)
        rankings.append(join_scores(system.name, log, *ids, judged.query_boundaries, ranked.scores))
        findings += ranked.findings_json or ()
    run.reporter.phase("estimating")
    estimates = evaluate_rankings(
        log,
        rankings,
        rank_weights(estimation.metric),
        cast("Estimator", estimation.estimator),
        normalised=estimation.normalised,
        clip=estimation.clip,
        examination=estimation.examination,
        examination_errors=estimation.examination_errors,
        seed=seed,
        threads=run.threads,
    )
    return counterfactual_result(estimation.metric, estimation.estimator, estimates), findings
