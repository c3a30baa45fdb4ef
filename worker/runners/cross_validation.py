"""Cross-validate: train once per fold of the queries, and evaluate the model on its held-out fold."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from core.evaluation import measure
from core.jobs.base_training import BaseTrainingJob
from core.metrics import Metric, parse_metric
from core.scorers import read_model
from core.training import IterationReport, Snapshot, TrainedModel, TrainingCheckpoint
from core.training.cross_validation import CrossValidation, fold_curves, fold_label
from worker.job.checkpoints import Checkpoints
from worker.job.reporter import Reporter, Values
from worker.job.run import JobRun
from worker.job.systems import scores_of
from worker.job.training_data import TrainingData, load_and_align
from worker.job.watch import TrainingWatch, means
from worker.runners.fitting import CheckpointReader, FoldBins, checkpoint_reader, fit_model

AfterFold = Callable[[int, CrossValidation], None]


def cross_validate(
    run: JobRun, job: BaseTrainingJob, *, after_fold: AfterFold | None = None
) -> CrossValidation:
    """Cross-validate the training of a job; no model is kept.

    Args:
        run: Job, for progress, learning curves and checkpoints.
        after_fold: Called after each fold with its position, from 0, and the folds so far; may raise to end
            the job. Called again for the folds of an earlier attempt of the job.

    Raises:
        InvalidInput: The specification is invalid for the data.
        FeaturesAbsent: A dataset lacks most features of the training data, and the job does not allow that.
        DatasetError: A dataset has no features.
        ValueError: The job has no folds.
    """
    _, data = load_and_align(run, job)
    return FoldedTraining(run, job, data).cross_validate(after_fold)


class FoldedTraining:
    """Trainings of a cross-validation, on one binned dataset.

    Args:
        data: Datasets of the job, with the features of the training data.
        after_first_iteration: Called once, after the first iteration is reported, for work that can wait
            until then.
        refits: Whether a training on all folds follows, for which the scores of the documents are kept.

    Raises:
        ValueError: The job has no folds.
    """

    def __init__(
        self,
        run: JobRun,
        job: BaseTrainingJob,
        data: TrainingData,
        after_first_iteration: Callable[[], None] = lambda: None,
        *,
        refits: bool = False,
    ) -> None:
        if data.folds is None:
            raise ValueError("the job has no folds")
        self._run, self._job, self._data, self._assignment = run, job, data, data.folds
        self._after_first_iteration: Callable[[], None] | None = after_first_iteration
        self._metrics = {name: parse_metric(name, job.measures.contract) for name in job.measures.metrics}
        iterations = job.training.iterations
        total = iterations * (data.folds.n_folds + refits)
        n_documents = data.training.dataset.n_documents if refits else None
        self._so_far = CrossValidation.before_first_fold(data.folds, job.measures.metrics, n_documents)
        checkpoints = Checkpoints(run, run.settings.checkpoint_seconds)
        self._checkpoints = _FoldCheckpoints(checkpoints, iterations, total, checkpoint_reader(job.training))
        self._checkpoint: TrainingCheckpoint | None = None
        self._bins = FoldBins(run, job.training, data)

    def cross_validate(self, after_fold: AfterFold | None = None) -> CrossValidation:
        """Train and evaluate the folds that no earlier attempt has completed; see `cross_validate`."""
        self._so_far, self._checkpoint = self._checkpoints.load(self._so_far)
        for number, fold in enumerate(self._so_far.folds):
            if after_fold is not None:
                self._run.reporter.repeat([(at, dict(values)) for at, values in fold.history])
                after_fold(number, self._so_far.first_folds(number + 1))
        while not self._so_far.is_complete:
            number = len(self._so_far.folds)
            self._so_far = self._train_fold(number)
            if after_fold is not None:
                after_fold(number, self._so_far)
            self._checkpoints.keep_folds(self._so_far)
        return self._so_far

    def refit(self) -> tuple[TrainedModel, TrainingWatch]:
        """Train on the queries of all folds, for the median of the folds' best iterations.

        Returns:
            The model, and the watch of its training, whose `finish` the caller must call.
        """
        iterations = self._so_far.best_iteration
        spec = replace(self._job.training.with_iterations(iterations), early_stopping=None)
        self._checkpoints.total = self._checkpoints.done + iterations
        watch = self._watch("refitting")
        return fit_model(self._run, spec, self._data, watch, self._take_checkpoint(), self._bins.of()), watch

    def _train_fold(self, number: int) -> CrossValidation:
        name, count = self._assignment.names[number], self._assignment.n_folds
        data = self._data.fold(number)
        if data.validation is None:
            raise ValueError("a fold has queries to validate on")
        held_out = data.validation.dataset
        watch = self._watch(f"training fold {number + 1} of {count}", name)
        rows = self._assignment.documents(self._data.training.dataset.query_boundaries, number)
        # Diagnostics of the loss are computed in the training of the final model.
        spec = replace(self._job.training, diagnostics=None)
        ranker = fit_model(self._run, spec, data, watch, self._take_checkpoint(), self._bins.of(*rows))
        with watch.checkpoint_on_stop():
            scores = scores_of(read_model(ranker.content), "the model", held_out, self._run.threads)
            measures = self._job.measures
            values = measure(scores, held_out, measures.metrics, measures.contract)
            self._run.lease.check()
        return self._so_far.with_scores(rows[1], scores).with_fold(
            ranker.best_iteration,
            held_out.n_documents,
            values,
            self._metrics,
            ranker.history,
            is_defined=any(
                report.values.get("validation", {}).get(spec.selection_metric) is not None
                for report in ranker.history
            ),
        )

    def _watch(self, phase: str, fold: str | None = None) -> "_FoldWatch":
        self._run.reporter.phase(phase)
        after_first_iteration, self._after_first_iteration = self._after_first_iteration, None
        return _FoldWatch(
            self._run.reporter,
            self._checkpoints,
            after_first_iteration or (lambda: None),
            phase,
            fold,
            self._so_far,
            self._metrics,
            keeps=self._job.training.is_resumable,
        )

    def _take_checkpoint(self) -> TrainingCheckpoint | None:
        """Return the checkpoint of an earlier attempt in the first call, and None in later calls."""
        resumed, self._checkpoint = self._checkpoint, None
        return resumed


class _FoldCheckpoints:
    """Checkpoints of a training together with the completed folds.

    Args:
        iterations: Most iterations of one fold.
        total: Iterations of all trainings of the job.
    """

    def __init__(
        self, checkpoints: Checkpoints, iterations: int, total: int, reader: CheckpointReader
    ) -> None:
        self._checkpoints = checkpoints
        self._iterations = iterations
        self._reader = reader
        self._so_far: CrossValidation | None = None
        self.total = total

    @property
    def done(self) -> int:
        """Return the iterations of the completed folds; a fold that stopped early counts in full."""
        return self._iterations * len(self._so_far.folds) if self._so_far else 0

    def load(self, empty: CrossValidation) -> tuple[CrossValidation, TrainingCheckpoint | None]:
        """Return the completed folds of an earlier attempt, and its checkpoint of the next training.

        Args:
            empty: Cross-validation without completed folds, returned if there was no earlier attempt.
        """

        def parse(content: bytes) -> tuple[CrossValidation, TrainingCheckpoint | None]:
            folds, training = CrossValidation.from_bytes(content, empty.assignment)
            return folds, None if training is None else self._reader(training)

        resumed = self._checkpoints.read(parse) or (empty, None)
        self._so_far = resumed[0]
        return resumed

    def is_due(self) -> bool:
        """Return whether the next checkpoint is due."""
        return self._checkpoints.is_due()

    def keep(self, snapshot: Snapshot) -> None:
        """Store the checkpoint of the current training, with the completed folds."""
        checkpoint = snapshot()
        self._write(checkpoint.to_bytes(), self.done + checkpoint.iteration)

    def keep_folds(self, so_far: CrossValidation) -> None:
        """Store the completed folds, between two trainings."""
        self._so_far = so_far
        self._write(None, self.done)

    def _write(self, training: bytes | None, iteration: int) -> None:
        if self._so_far is not None:
            self._checkpoints.write(self._so_far.to_bytes(training), iteration, self.total)


class _FoldWatch(TrainingWatch):
    """Reports of the iterations of one training of a cross-validation.

    Args:
        keeps: Whether the training can be resumed from a checkpoint.
        after_first_iteration: Called once, after the first iteration is reported, for work that can wait
            until then.
        fold: Name of the held-out fold, None in the training on all folds.
    """

    def __init__(
        self,
        reporter: Reporter,
        checkpoints: _FoldCheckpoints,
        after_first_iteration: Callable[[], None],
        phase: str,
        fold: str | None,
        so_far: CrossValidation,
        metrics: Mapping[str, Metric],
        *,
        keeps: bool,
    ) -> None:
        super().__init__(reporter, checkpoints if keeps else None, after_first_iteration)
        self.phase = phase
        self._fold_checkpoints = checkpoints
        self._fold = fold
        self._earlier = so_far.values_by_iteration()
        self._means = so_far.metrics(metrics)

    def counts(self, report: IterationReport) -> tuple[int, int]:
        """Return the completed and the total iterations of all trainings of the job."""
        return self._fold_checkpoints.done + report.iteration, self._fold_checkpoints.total

    def metrics(self, report: IterationReport) -> Values:
        """Return the latest means by dataset role: over the completed folds, and of each fold."""
        latest = means(report)
        fold_values = {} if self._fold is None else {fold_label(self._fold): latest.get("validation", {})}
        return latest | self._means | fold_values if latest else {}

    def curves(self, report: IterationReport) -> Values:
        """Return the means over the folds so far, and the values of each fold."""
        measured = list(self._earlier.get(report.iteration, ()))
        if self._fold is not None:
            measured.append((self._fold, report.values))
            return fold_curves(measured) if report.values else {}
        diagnostics = report.values.get("diagnostics")
        return fold_curves(measured) | {"diagnostics": dict(diagnostics)} if diagnostics else {}
