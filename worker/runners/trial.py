"""Run trials of studies."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.data.folds import FoldColumn, RandomFolds
from core.errors import ArtifactDamaged, JobCancelled, NotFound
from core.evaluation import measure, summarise_all
from core.jobs.study import TrialJob
from core.jobs.train import TrainJob
from core.metrics import parse_metric
from core.store import Study, Transaction, Trial
from core.store.artifacts.keys import trial_key
from core.store.repositories.studies import TrialResult
from core.studies import StudySpec
from core.studies.pruning import is_worse_than_best, is_worse_than_median, past_trials
from core.studies.sampling import TrialPosition, sample
from core.training.cross_validation import CrossValidation
from core.types import Float64Array
from worker.job.reporter import Values
from worker.job.run import JobRun
from worker.job.systems import scores_of
from worker.runners.cross_validation import cross_validate
from worker.runners.training import trained_by

_RESAMPLES = 1_000
# Limit of points of a stored curve, enough for plots and for the median pruner.
_CURVE_POINTS = 100


class TrialPruned(Exception):
    """The pruner stopped the trial."""


def run_trial(run: JobRun, job: TrialJob) -> None:
    """Sample parameters, validate a training with them, and record the result.

    The transaction that ends the trial's job also ends the trial, and queues the next trial.

    Raises:
        InvalidInput: The parameters are inconsistent, or invalid for the data.
        JobCancelled: The study was cancelled.
    """
    run.reporter.phase("sampling parameters")
    sampled = sample_trial(run, job)
    watch = _TrialWatch(run, sampled)
    run.reporter.on_iterations = watch.on_iterations
    status = "succeeded"
    try:
        watch.validated = _validate(run, sampled, watch)
    except TrialPruned:
        status = "pruned"
    run.reporter.on_iterations = None
    if status == "succeeded" and watch.validated is not None:
        with run.artifacts.writing(trial_key(job.study_id, job.number)) as file:
            np.save(file, watch.validated.values)
    result = watch.result(status)
    with run.succeeding({"study_id": job.study_id, "number": job.number, "value": result.value}) as tx:
        tx.studies.end_trial(job.study_id, job.number, result)


@dataclass(frozen=True)
class SampledTrial:
    """A trial with its sampled parameters.

    Attributes:
        curves: Curves of the first fold of earlier successful trials; empty unless the pruner uses them.
    """

    study: Study
    number: int
    job: TrainJob
    curves: list[dict[int, float]]

    @property
    def spec(self) -> StudySpec:
        """Return the specification of the study."""
        return StudySpec(self.study.spec)

    @property
    def pruner(self) -> str:
        """Return the pruner; `none` for the default trial, to which the conclusion compares the winner."""
        return str(self.study.spec["pruner"]) if self.number else "none"


@dataclass(frozen=True)
class _TrialValidation:
    """Results of the completed folds of a trial.

    Attributes:
        folds: `[{"fold", "value", "best_iteration"}]` of the completed folds.
        values: float64 (n_queries,) values of the objective, NaN where not evaluated yet or undefined.
        best_iteration: Median of the best iterations of the folds.
    """

    folds: list[Values]
    values: Float64Array
    best_iteration: int


def sample_trial(run: JobRun, job: TrialJob) -> SampledTrial:
    """Sample parameters while the study is locked; a repeated attempt keeps its parameters."""
    import optuna  # noqa: F401 - takes a second to import, which others would wait for at the lock

    with run.store.begin() as tx:
        tx.jobs.cancellation_requested(run.id, run.lease.token)  # raises if the lease is lost
        study = tx.studies.locked(job.study_id)
        if study.status == "cancelled":
            raise JobCancelled(run.id)
        spec, trial = StudySpec(study.spec), tx.studies.trial(job.study_id, job.number)
        if trial.training is None:
            trials = tx.studies.trials(job.study_id)
            parameters = _parameters(spec, trial, trials)
            training = spec.trial_training({} if trial.source == "default" else parameters)
            names = ("loss", "hyperparameters", "scorer")
            varied: dict[str, Any] = {name: training[name] for name in names if name in training}
            tx.studies.start_trial(study, trial, parameters, varied)
        else:
            tx.studies.start_trial(study, trial, trial.parameters or {}, trial.training)
        curves = _curves(tx, study, job.number)
    stored = {**spec.base, **(trial.training or {}), "test_dataset_id": None}
    return SampledTrial(study, job.number, TrainJob.from_json(stored), curves)


def _parameters(spec: StudySpec, trial: Trial, trials: Sequence[Trial]) -> dict[str, Any]:
    if trial.source == "default":
        return spec.defaults()
    if trial.parameters is not None:
        return trial.parameters
    index = sum(other.source == "sampler" and other.number < trial.number for other in trials)
    others = [each.parameters for each in trials if each.number != trial.number and each.parameters]
    position = TrialPosition(spec.seed, trial.number, index, spec.higher_is_better, others)
    return sample(str(spec.stored["sampler"]), spec.space, spec.base, position, past_trials(trials))


def _curves(tx: Transaction, study: Study, number: int) -> list[dict[int, float]]:
    if study.spec["pruner"] != "median":
        return []
    ended = (trial for trial in tx.studies.trials(study.id) if trial.number != number)
    return [
        {int(iteration): value for iteration, value in trial.curve}
        for trial in ended
        if trial.status == "succeeded" and trial.curve
    ]


class _TrialWatch:
    """Recorder of the curve and folds of a trial, which also prunes the trial."""

    def __init__(self, run: JobRun, sampled: SampledTrial) -> None:
        self._run = run
        self._sampled = sampled
        self._curve: dict[int, float] = {}
        self._in_first_fold = True
        self.validated: _TrialValidation | None = None

    def on_iterations(self, iterations: Sequence[tuple[int, Values]]) -> None:
        """Record the curve of the first fold, and prune a trial that is worse than the median.

        Raises:
            TrialPruned: The best value so far is worse than the median of earlier trials.
        """
        if not self._in_first_fold:
            return
        spec = self._sampled.spec
        for iteration, measured in iterations:
            value = (measured.get("validation") or {}).get(spec.metric)
            if value is None:
                continue
            self._curve[iteration] = value
            if self._sampled.pruner != "median":
                continue
            best = (max if spec.higher_is_better else min)(self._curve.values())
            if is_worse_than_median(
                self._sampled.curves, iteration, best, higher_is_better=spec.higher_is_better
            ):
                raise TrialPruned

    def after_fold(self, so_far: _TrialValidation, *, is_last: bool) -> None:
        """Record the completed folds, and prune by Wilcoxon's signed-rank test.

        Raises:
            TrialPruned: The trial is significantly worse than the best trial on the evaluated queries.
        """
        self._in_first_fold = False
        self.validated = so_far
        if is_last or self._sampled.pruner != "wilcoxon":
            return
        best = self._best_values()
        upward = self._sampled.spec.higher_is_better
        if best is not None and is_worse_than_best(best, so_far.values, higher_is_better=upward):
            raise TrialPruned

    def result(self, status: str) -> TrialResult:
        """Return the result of the trial to store."""
        validated = self.validated
        curve = sorted(self._curve.items())
        curve = curve[:: max(1, -(-len(curve) // _CURVE_POINTS))]
        points = [[float(iteration), value] for iteration, value in curve]
        if validated is None:
            # Pruned within the first fold.
            best = max if self._sampled.spec.higher_is_better else min
            value = best(self._curve.values()) if self._curve else None
            return TrialResult(status, value, [], None, points, None)
        spec = self._sampled.spec
        (summary,) = summarise_all(
            {spec.metric: validated.values},
            resamples=_RESAMPLES,
            seed=spec.seed,
            threads=self._run.threads,
            metrics={spec.metric: parse_metric(spec.metric)},
        ).values()
        interval = [end for end in (summary.lower, summary.upper) if end is not None] or None
        return TrialResult(status, summary.mean, validated.folds, interval, points, validated.best_iteration)

    def _best_values(self) -> Float64Array | None:
        """Return the values of the best completed trial by query, None if unavailable."""
        run, study_id = self._run, self._sampled.study.id
        with run.store.read() as tx:
            number = tx.studies.get(study_id).best_number
        if number is None or number == self._sampled.number:
            return None
        try:
            with run.store.verified.open(trial_key(study_id, number)) as file:
                values: Float64Array = np.load(io.BytesIO(file.read()), allow_pickle=False)
        except (NotFound, ArtifactDamaged):
            return None
        return values


def _validate(run: JobRun, sampled: SampledTrial, watch: _TrialWatch) -> _TrialValidation:
    if isinstance(sampled.job.validation, RandomFolds | FoldColumn):
        return _cross_validate(run, sampled, watch)
    return _validate_held_out(run, sampled)


def _validate_held_out(run: JobRun, sampled: SampledTrial) -> _TrialValidation:
    """Train once, and validate on the held-out queries or the validation dataset."""
    with trained_by(run, sampled.job) as trained:
        if trained.aligned.validation is None:
            raise ValueError("a trial has validation data")
        run.reporter.phase("evaluating")
        dataset = trained.aligned.validation.dataset
        scores = scores_of(trained.model, "the model", dataset, run.threads)
        measures, metric = sampled.job.measures, sampled.spec.metric
        values = measure(scores, dataset, [metric], measures.contract)[metric]
    mean = parse_metric(metric, measures.contract).mean(values)
    iterations = trained.training_result.kept_iterations
    return _TrialValidation([{"fold": 1, "value": mean, "best_iteration": iterations}], values, iterations)


def _cross_validate(run: JobRun, sampled: SampledTrial, watch: _TrialWatch) -> _TrialValidation:
    """Validate on each fold, and let the watch prune after each of them."""
    metric = sampled.spec.metric

    def validation_of(so_far: CrossValidation) -> _TrialValidation:
        folds = [
            {"fold": number, "value": fold.means[metric], "best_iteration": fold.best_iteration}
            for number, fold in enumerate(so_far.folds, start=1)
        ]
        return _TrialValidation(folds, so_far.per_query[metric], so_far.best_iteration)

    def after_fold(_: int, so_far: CrossValidation) -> None:
        watch.after_fold(validation_of(so_far), is_last=so_far.is_complete)

    return validation_of(cross_validate(run, sampled.job, after_fold=after_fold))
