"""Run training jobs."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from core.data.feature_alignment import AbsentFeatures
from core.doctor.agreement import absent_feature_findings, unseen_category_findings
from core.doctor.report import Finding
from core.jobs import System
from core.jobs.base_training import BaseTrainingJob
from core.jobs.train import TrainJob
from core.losses import loss_values
from core.metrics import parse_metric
from core.parameters import values_of
from core.scorers import ScoringModel, Sum, Trees, WeightedSum, read_model, scorer_values
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
from core.training.measure import check_early_stopping
from core.training.tree_findings import tree_findings
from worker.job import results
from worker.job.checkpoints import Checkpoints
from worker.job.click_training import NaiveComparison, compare_with_naive, comparison_json
from worker.job.distillation import compare_with_teacher
from worker.job.lineage import lineage_of, names_in_file
from worker.job.reporter import Values
from worker.job.run import JobRun
from worker.job.seen_queries import seen_findings, test_queries, validation_queries
from worker.job.sums import TrainedSum
from worker.job.systems import ScoredDataset, scores_of
from worker.job.training_data import TrainingData, load_and_align
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


def _compare_with_naive(run: JobRun, job: TrainJob, trained: "CompletedTraining") -> NaiveComparison:
    """Compare the model with a model trained on uncorrected clicks, and report the findings."""
    folds = trained.cross_validation
    iterations = None if folds is None else folds.best_iteration
    comparison, findings = compare_with_naive(run, job, trained.aligned, trained.model, iterations)
    trained.findings.extend(asdict(finding) for finding in findings)
    run.reporter.report(findings=trained.findings)
    return comparison


@dataclass(frozen=True)
class CompletedTraining:
    """The result of a training.

    Attributes:
        loaded: Datasets as stored.
        aligned: Datasets with the features of the training data.
        training_result: Content, history and best iteration of the trained model.
    """

    loaded: TrainingData
    aligned: TrainingData
    training_result: TrainedModel
    findings: list[Values]
    cross_validation: CrossValidation | None = None

    @cached_property
    def model(self) -> ScoringModel:
        """Return the model, read from its content, to score with."""
        return read_model(self.training_result.content)


@contextmanager
def trained_by(run: JobRun, job: BaseTrainingJob) -> Iterator[CompletedTraining]:
    """Train a model by the specification of a job, and report the progress for that job.

    If the worker stops within the block, a checkpoint of the last iteration is stored for the next attempt.

    Raises:
        InvalidInput: The specification is invalid for the data.
        FeaturesAbsent: A dataset lacks most features of the training data, and the job does not allow that.
        DatasetError: A dataset has no features.
    """
    loaded, aligned = load_and_align(run, job)
    findings: list[Values] = []

    def after_first_iteration() -> None:
        findings.extend(_report_findings(run, job, loaded))

    cross_validation = None
    if aligned.folds is None:
        training_result, watch = _train(run, job, aligned, after_first_iteration)
    else:
        folded = FoldedTraining(run, job, aligned, after_first_iteration, refits=True)
        cross_validation = folded.cross_validate()
        training_result, watch = folded.refit()
    with watch.checkpoint_on_stop():
        watch.finish()
        trained = CompletedTraining(loaded, aligned, training_result, findings, cross_validation)
        if model_findings := [asdict(finding) for finding in _model_findings(job.training, trained)]:
            findings += model_findings
            run.reporter.report(findings=findings)
        yield trained


def _train(
    run: JobRun, job: BaseTrainingJob, data: TrainingData, after_first_iteration: Callable[[], None]
) -> tuple[TrainedModel, TrainingWatch]:
    check_early_stopping(job.training, None if data.validation is None else data.validation.dataset)
    checkpoints = Checkpoints(run, run.settings.checkpoint_seconds)
    watch = TrainingWatch(
        run.reporter, checkpoints if job.training.is_resumable else None, after_first_iteration
    )
    resume = checkpoints.read(checkpoint_reader(job.training))
    return fit_model(run, job.training, data, watch, resume, distribution=job.distribution), watch


def _report_findings(run: JobRun, job: BaseTrainingJob, loaded: TrainingData) -> list[Values]:
    training_findings = [
        *automatic_findings(job.automatic),
        *resumption_findings(job.training),
        *seed_findings(job.training, parts_are_random=job.parts_are_random),
    ]
    data_findings = [*loaded.findings(run.threads, job), *_seen_findings(run, job)]
    findings = [*data_findings, *(asdict(finding) for finding in training_findings)]
    run.reporter.report(findings=findings)
    return findings


def _seen_findings(run: JobRun, job: BaseTrainingJob) -> Iterator[Values]:
    """Report contained models, of a continued training or a sum, that have seen held-out queries."""
    scorer = job.training.scorer
    references = scorer.models if isinstance(scorer, WeightedSum) else [*filter(None, [job.init_model])]
    if not references:
        return
    with run.store.read() as tx:
        models = [tx.models.resolve(reference) for reference in references]
        for role, queries in (("validation", validation_queries(job)), ("test", test_queries(job))):
            if queries is not None:
                for finding in seen_findings(tx, models, queries, f"the {role} data"):
                    yield {**asdict(finding), "role": role}


def _model_findings(spec: TrainingSpec, trained: CompletedTraining) -> Iterator[Finding]:
    training_result = trained.training_result
    if training_result.growth is not None:
        yield growth_finding(training_result.growth)
    if isinstance(training_result, TrainedSum) and training_result.fitted is not None:
        yield weights_finding(training_result.fitted)
    if isinstance(spec.scorer, Trees):
        base_trees = training_result.kept_iterations - training_result.best_iteration
        yield from tree_findings(
            spec.hyperparameters, trained.model, training_result.feature_names, base_trees
        )


def _store(
    run: JobRun, job: TrainJob, trained: CompletedTraining, comparison: NaiveComparison | None
) -> None:
    """Store the model with its validation and test results, and complete the job."""
    spec, training_result = job.training, trained.training_result
    run.reporter.phase("storing")
    model_id, content = new_id("mdl_"), training_result.content
    with run.artifacts.writing(model_key(model_id)) as file:
        file.write(content)
    validation = _validate(run, job, trained, model_id)
    tested = _test(run, job, trained)
    metrics = _metrics(job, trained) | ({"test": tested.evaluation.means} if tested else {})
    run.reporter.report(metrics=metrics)
    result: dict[str, Any] = {"model_id": model_id} | (tested.result if tested else {})
    if comparison is not None:
        result["naive"] = comparison_json(comparison)
    if training_result.propensities is not None:
        result["propensities"] = training_result.propensities
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
            feature_names=training_result.feature_names,
            loss=loss_values(spec.loss) if spec.trains_scorer else None,
            hyperparameters=values_of(spec.hyperparameters) if isinstance(spec.scorer, Trees) else {},
            scorer=_scorer(spec, trained),
            best_iteration=training_result.kept_iterations,
            sha256=hashlib.sha256(content).hexdigest(),
            size_bytes=len(content),
            metrics=tested.evaluation.means if tested else None,
            findings=tested.findings if tested else None,
            lineage=lineage_of(tx, run, job)
            | {"names_in_file": names_in_file(training_result.feature_names, trained.model.feature_names)},
            explanation=asdict(explainability_of(trained.model)),
            tags=dict(job.tags) or None,
            validation=validation,
        )
        if by_folds is not None:
            by_folds.add(tx, run.id, System(f"{model.reference} by folds"), job.dataset_id)
        if tested:
            system = System(model.reference, model_id)
            tested.evaluation.add(tx, run.id, system, job.tested_on)
            tested.ranking.add(tx, run.id, system, job.tested_on)


def _scorer(spec: TrainingSpec, trained: CompletedTraining) -> dict[str, Any] | None:
    """Return the stored description of a scorer, None for trees."""
    if isinstance(trained.model, Sum):
        return trained.model.description()
    return None if isinstance(spec.scorer, Trees) else scorer_values(spec.scorer)


@dataclass(frozen=True)
class _TestResult:
    """Evaluation and ranking of the test data."""

    evaluation: results.StoredEvaluation
    ranking: results.StoredRanking
    teacher_findings: list[Values]

    @property
    def findings(self) -> list[Values] | None:
        return [*self.teacher_findings, *(self.evaluation.columns["findings"] or ())] or None

    @property
    def result(self) -> dict[str, str]:
        return {"evaluation_id": self.evaluation.id, "ranking_id": self.ranking.id}


def _metrics(job: TrainJob, trained: CompletedTraining) -> dict[str, Any]:
    """Return the metric means of the model, and of the folds."""
    folds = trained.cross_validation
    parsed = {name: parse_metric(name, job.measures.contract) for name in job.measures.metrics}
    return _metrics_at_best(trained.training_result) | (folds.metrics(parsed) if folds else {})


def _metrics_at_best(training_result: TrainedModel) -> dict[str, Any]:
    """Return the metric means at the best iteration, by its last report that has any."""
    best = [means(report) for report in training_result.history if report.iteration == report.best_iteration]
    return next((measured for measured in reversed(best) if measured), {})


def _validate(run: JobRun, job: TrainJob, trained: CompletedTraining, model_id: str) -> Values | None:
    """Store the metrics of validation queries, so that trainings can be compared without test data."""
    if trained.cross_validation is not None:
        return results.store_cross_validation(
            run, job.measures, trained.aligned.training.dataset.query_ids, trained.cross_validation, model_id
        )
    if trained.aligned.validation is None:
        return None
    dataset = trained.aligned.validation.dataset
    scores = scores_of(trained.model, "the model", dataset, run.threads)
    return results.store_validation(
        run, job.measures, ScoredDataset(dataset, judgments=dataset, scores=scores), model_id
    )


def _rank_by_folds(run: JobRun, trained: CompletedTraining) -> results.StoredRanking | None:
    """Store the ranking of held-out queries by the models of the folds, None without a cross-validation."""
    if trained.cross_validation is None or trained.cross_validation.scores is None:
        return None
    dataset = trained.aligned.training.dataset
    return results.store_ranking(
        run, ScoredDataset(dataset, judgments=dataset, scores=trained.cross_validation.scores)
    )


def _test(run: JobRun, job: TrainJob, trained: CompletedTraining) -> _TestResult | None:
    """Evaluate the model; return None without test data, or if these lack most of the used features."""
    if trained.loaded.test is None or trained.aligned.test is None:
        return None
    names = trained.training_result.feature_names
    used = [names[column] for column in trained.model.used_features]
    absent = AbsentFeatures.of(trained.loaded.test.dataset, used)
    findings = tuple(absent_feature_findings(absent, "the model"))
    reported = [asdict(finding) for finding in findings]
    _report_test_findings(run, trained, reported)
    if absent.are_majority and not job.allows_absent_features:
        return None  # keep the model: only the test data are unusable
    run.reporter.phase("scoring")
    test = trained.aligned.test.dataset
    # These findings are stored with the model. They are not reported again, since the comparison with the
    # training data has reported them.
    unseen = unseen_category_findings(
        trained.loaded.test.dataset, names, test.categories, "of the test data", "the model"
    )
    scores = scores_of(trained.model, "the model", test, run.threads)
    ranked = ScoredDataset(test, judgments=test, scores=scores, findings=(*findings, *unseen))
    evaluation = results.store_evaluation(run, job.measures, ranked, job.model_name)
    teacher_findings = [
        asdict(each) for each in compare_with_teacher(run, job, trained.loaded.test.dataset, scores)
    ]
    _report_test_findings(run, trained, [*reported, *teacher_findings, *evaluation.baseline_findings])
    return _TestResult(evaluation, results.store_ranking(run, ranked), teacher_findings)


def _report_test_findings(run: JobRun, trained: CompletedTraining, findings: list[Values]) -> None:
    """Report findings on the test data in addition to the findings on the training."""
    if findings:
        run.reporter.report(findings=[*trained.findings, *({**each, "role": "test"} for each in findings)])
