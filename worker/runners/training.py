"""Run training jobs."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from core.data.fitting import AbsentFeatures
from core.doctor.agreement import absent_feature_findings, unseen_category_findings
from core.doctor.report import Finding
from core.jobs import System
from core.jobs.boosting import BoostingJob
from core.jobs.train import TrainJob
from core.losses import loss_values
from core.metrics import parse_metric
from core.parameters import values_of
from core.scorers import ScoringModel, Sum, Trees, read_model, scorer_values
from core.scorers.explainability import explainability_of
from core.store import new_id
from core.store.artifacts.keys import model_key
from core.training import TrainedModel, TrainingSpec
from core.training.cross_validation import CrossValidation
from core.training.findings import (
    automatic_findings,
    growth_finding,
    resumption_findings,
    seed_findings,
    weights_finding,
)
from core.training.tree_findings import tree_findings
from worker.job.checkpoints import Checkpoints
from worker.job.click_training import NaiveComparison, compare_with_naive, comparison_json
from worker.job.distillation import compare_with_teacher
from worker.job.lineage import lineage_of, names_in_file
from worker.job.reporter import Values
from worker.job.results import (
    StoredEvaluation,
    StoredRanking,
    store_cross_validation,
    store_evaluation,
    store_ranking,
    store_validation,
)
from worker.job.run import JobRun
from worker.job.sums import TrainedSum
from worker.job.systems import Ranked, scores_of
from worker.job.training_data import TrainingData, prepare
from worker.job.watch import TrainingWatch, means
from worker.runners.cross_validation import FoldedTraining
from worker.runners.fitting import checkpoint_reader, fit_model


def run_training(run: JobRun, job: TrainJob) -> None:
    """Train a model, store it, and evaluate it if there is a test set.

    Raises:
        InvalidInput: The specification is invalid for the data.
        DatasetError: The datasets are inconsistent.
    """
    with trained_by(run, job) as trained:
        comparison = _compare_with_naive(run, job, trained) if job.training.corrects_clicks else None
        _store(run, job, trained, comparison)


def _compare_with_naive(run: JobRun, job: TrainJob, trained: "Trained") -> NaiveComparison:
    """Compare the model with a model trained on uncorrected clicks, and report the findings."""
    comparison, findings = compare_with_naive(run, job, trained.data, trained.model)
    trained.findings.extend(asdict(finding) for finding in findings)
    run.reporter.report(findings=trained.findings)
    return comparison


@dataclass(frozen=True)
class Trained:
    """The result of a training.

    Attributes:
        loaded: Datasets as stored.
        data: Datasets with the features of the training data.
        ranker: Trained model.
        findings: Findings on the datasets and the training.
        cross_validation: Cross-validation before the final training, or None.
    """

    loaded: TrainingData
    data: TrainingData
    ranker: TrainedModel
    findings: list[Values]
    cross_validation: CrossValidation | None = None

    @cached_property
    def model(self) -> ScoringModel:
        """Return the model as a scoring model."""
        return read_model(self.ranker.content)


@contextmanager
def trained_by(run: JobRun, job: BoostingJob) -> Iterator[Trained]:
    """Train a model by the specification of a job, and report the progress for that job.

    If the worker stops within the block, a checkpoint of all iterations is stored for the next attempt.

    Raises:
        InvalidInput: The specification is invalid for the data.
        FeaturesAbsent: A dataset lacks most features of the training data, and the job does not allow that.
        DatasetError: A dataset has no features.
    """
    loaded, data = prepare(run, job)
    findings: list[Values] = []

    def after_first() -> None:
        findings.extend(_report_findings(run, job, loaded))

    cross_validation = None
    if data.folds is None:
        ranker, watch = _trained(run, job, data, after_first)
    else:
        folded = FoldedTraining(run, job, data, after_first, refits=True)
        cross_validation = folded.cross_validate()
        ranker, watch = folded.refit()
    with watch.kept_on_stopping():
        watch.finish()
        trained = Trained(loaded, data, ranker, findings, cross_validation)
        if found := [asdict(finding) for finding in _model_findings(job.training, trained)]:
            findings += found
            run.reporter.report(findings=findings)
        yield trained


def _trained(
    run: JobRun, job: BoostingJob, data: TrainingData, after_first: Callable[[], None]
) -> tuple[TrainedModel, TrainingWatch]:
    checkpoints = Checkpoints(run, run.settings.checkpoint_seconds)
    watch = TrainingWatch(run.reporter, checkpoints if job.training.is_resumable else None, after_first)
    resume = checkpoints.read(checkpoint_reader(job.training))
    return fit_model(run, job.training, data, watch, resume, distribution=job.distribution), watch


def _report_findings(run: JobRun, job: BoostingJob, loaded: TrainingData) -> list[Values]:
    of_training = [
        *automatic_findings(job.automatic),
        *resumption_findings(job.training),
        *seed_findings(job.training, parts_are_random=job.parts_are_random),
    ]
    findings = [*loaded.findings(run.threads), *(asdict(finding) for finding in of_training)]
    run.reporter.report(findings=findings)
    return findings


def _model_findings(spec: TrainingSpec, trained: Trained) -> Iterator[Finding]:
    ranker = trained.ranker
    if ranker.growth is not None:
        yield growth_finding(ranker.growth)
    if isinstance(ranker, TrainedSum) and ranker.fitted is not None:
        yield weights_finding(ranker.fitted)
    if isinstance(spec.scorer, Trees):
        base_trees = ranker.kept_iterations - ranker.best_iteration
        yield from tree_findings(spec.hyperparameters, trained.model, ranker.feature_names, base_trees)


def _store(run: JobRun, job: TrainJob, trained: Trained, comparison: NaiveComparison | None) -> None:
    spec, ranker = job.training, trained.ranker
    run.reporter.phase("storing")
    model_id, content = new_id("mdl_"), ranker.content
    with run.artifacts.writing(model_key(model_id)) as file:
        file.write(content)
    validation = _validate(run, job, trained, model_id)
    judged = _judge(run, job, trained)
    metrics = _metrics(job, trained) | ({"test": judged.evaluation.means} if judged else {})
    run.reporter.report(metrics=metrics)
    result: dict[str, Any] = {"model_id": model_id} | (judged.result if judged else {})
    if comparison is not None:
        result["naive"] = comparison_json(comparison)
    if ranker.propensities is not None:
        result["propensities"] = ranker.propensities
    by_folds = _rank_by_folds(run, trained)
    if by_folds is not None and validation is not None:
        validation["cross_validation"]["ranking_id"] = by_folds.id
        result["cross_validation"] = validation
    with run.succeeding(result) as tx:
        model = tx.models.add(
            model_id,
            name=job.model_name,
            job_id=run.id,
            dataset_id=job.dataset_id,
            feature_names=ranker.feature_names,
            loss=loss_values(spec.loss) if spec.learns else None,
            hyperparameters=values_of(spec.hyperparameters) if isinstance(spec.scorer, Trees) else {},
            scorer=_scorer(spec, trained),
            best_iteration=ranker.kept_iterations,
            sha256=hashlib.sha256(content).hexdigest(),
            size_bytes=len(content),
            metrics=judged.evaluation.means if judged else None,
            findings=judged.findings if judged else None,
            lineage=lineage_of(tx, run, job)
            | {"names_in_file": names_in_file(ranker.feature_names, trained.model.feature_names)},
            explanation=asdict(explainability_of(trained.model)),
            tags=dict(job.tags) or None,
            validation=validation,
        )
        if by_folds is not None:
            by_folds.add(tx, run.id, System(f"{model.reference} by folds"), job.dataset_id)
        if judged:
            system = System(model.reference, model_id)
            judged.evaluation.add(tx, run.id, system, job.tested_on)
            judged.ranking.add(tx, run.id, system, job.tested_on)


def _scorer(spec: TrainingSpec, trained: Trained) -> dict[str, Any] | None:
    """Return the stored description of a scorer, None for trees."""
    if isinstance(trained.model, Sum):
        members = trained.model.members
        return {
            "kind": trained.model.kind,
            "models": [member.reference for member in members],
            "weights": [member.weight for member in members],
        }
    return None if isinstance(spec.scorer, Trees) else scorer_values(spec.scorer)


@dataclass(frozen=True)
class _Judged:
    evaluation: StoredEvaluation
    ranking: StoredRanking
    teacher_findings: list[Values]

    @property
    def findings(self) -> list[Values] | None:
        return [*self.teacher_findings, *(self.evaluation.columns["findings"] or ())] or None

    @property
    def result(self) -> dict[str, str]:
        return {"evaluation_id": self.evaluation.id, "ranking_id": self.ranking.id}


def _metrics(job: TrainJob, trained: Trained) -> dict[str, Any]:
    """Return the metric means of the model, and of the folds."""
    held_out = trained.cross_validation
    parsed = {name: parse_metric(name, job.measures.contract) for name in job.measures.metrics}
    return _metrics_at_best(trained.ranker) | (held_out.metrics(parsed) if held_out else {})


def _metrics_at_best(ranker: TrainedModel) -> dict[str, Any]:
    """Return the metric means at the best measured iteration."""
    best = [means(report) for report in ranker.history if report.iteration == report.best_iteration]
    return next((measured for measured in reversed(best) if measured), {})


def _validate(run: JobRun, job: TrainJob, trained: Trained, model_id: str) -> Values | None:
    """Store the values of validation queries, so that trainings can be compared without their test data."""
    if trained.cross_validation is not None:
        return store_cross_validation(
            run, job.measures, trained.data.training.dataset.query_ids, trained.cross_validation, model_id
        )
    if trained.data.validation is None:
        return None
    dataset = trained.data.validation.dataset
    scores = scores_of(trained.model, "the model", dataset, run.threads)
    return store_validation(run, job.measures, Ranked(dataset, dataset, scores), model_id)


def _rank_by_folds(run: JobRun, trained: Trained) -> StoredRanking | None:
    """Store the ranking of held-out queries by the models of the folds, None without a cross-validation."""
    if trained.cross_validation is None or trained.cross_validation.scores is None:
        return None
    dataset = trained.data.training.dataset
    return store_ranking(run, Ranked(dataset, dataset, trained.cross_validation.scores))


def _judge(run: JobRun, job: TrainJob, trained: Trained) -> _Judged | None:
    """Evaluate the model on the test data; return None if these lack most of the used features."""
    if trained.loaded.test is None or trained.data.test is None:
        return None
    names = trained.ranker.feature_names
    used = [names[column] for column in trained.model.used_features]
    absent = AbsentFeatures.of(trained.loaded.test.dataset, used)
    findings = tuple(absent_feature_findings(absent, "the model"))
    reported = [asdict(finding) for finding in findings]
    _report_of_test(run, trained, reported)
    if absent.are_majority and not job.allows_absent_features:
        return None  # keep the model: only the test data are unusable
    run.reporter.phase("scoring")
    test = trained.data.test.dataset
    # The comparison with the training data has reported these already.
    unseen = unseen_category_findings(
        trained.loaded.test.dataset, test.categories, "of the test data", "the model"
    )
    scores = scores_of(trained.model, "the model", test, run.threads)
    ranked = Ranked(test, test, scores, (*findings, *unseen))
    evaluation = store_evaluation(run, job.measures, ranked, job.model_name)
    of_teacher = [asdict(one) for one in compare_with_teacher(run, job, trained.loaded.test.dataset, scores)]
    _report_of_test(run, trained, [*reported, *of_teacher, *evaluation.baseline_findings])
    return _Judged(evaluation, store_ranking(run, ranked), of_teacher)


def _report_of_test(run: JobRun, trained: Trained, findings: list[Values]) -> None:
    """Report findings on the test data in addition to the findings on the training."""
    if findings:
        run.reporter.report(findings=[*trained.findings, *({**one, "role": "test"} for one in findings)])
