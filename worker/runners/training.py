"""Run training jobs."""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from core.data.fitting import AbsentFeatures
from core.doctor.agreement import absent_feature_findings, unseen_category_findings
from core.jobs import System
from core.jobs.boosting import BoostingJob
from core.jobs.train import TrainJob
from core.losses import loss_values
from core.parameters import values_of
from core.scoring import Explainability, Forest
from core.scoring.model_text import ModelText
from core.store import new_id
from core.store.artifacts.keys import model_key
from core.training import IterationReport, Snapshot, TrainedRanker, train
from core.training.bin_edges import OnProgress
from core.training.findings import growth_finding, resumption_findings, seed_findings
from core.training.memory import memory_need
from worker.job.checkpoints import Checkpoints
from worker.job.lineage import lineage_of
from worker.job.progress import counting_percent
from worker.job.results import StoredEvaluation, StoredRanking, store_evaluation, store_ranking
from worker.job.run import JobRun, Values, WorkerStopping
from worker.job.systems import Ranked
from worker.job.training_data import TrainingData


def run_training(run: JobRun, job: TrainJob) -> None:
    """Train a model, store it, and evaluate it if there is a test set.

    Raises:
        InvalidInput: The specification does not fit the data.
        DatasetError: The datasets do not fit together.
    """
    with trained_as_asked(run, job) as trained:
        _store(run, job, trained)


@dataclass(frozen=True)
class Trained:
    """The result of a training.

    Attributes:
        loaded: The datasets as they are.
        data: The datasets with the features of the training data.
        ranker: The model.
        findings: What is known of the datasets and the training.
    """

    loaded: TrainingData
    data: TrainingData
    ranker: TrainedRanker
    findings: list[Values]


@contextmanager
def trained_as_asked(run: JobRun, job: BoostingJob) -> Iterator[Trained]:
    """Train as a job's specification says; progress, learning curves and checkpoints are the job's.

    Where the worker stops while something is done with the model, the next attempt finds all trees grown.

    Raises:
        InvalidInput: The specification does not fit the data.
        FeaturesAbsent: A dataset lacks most features of the training data, and the job does not allow that.
        DatasetError: A dataset has no features.
    """
    run.phase("loading")
    loaded = TrainingData.load(run, job)
    if not job.allows_absent_features:
        loaded.require_features()
    data = loaded.fitted()
    training, validation = data.training.dataset, data.validation.dataset if data.validation else None
    need = memory_need(job.training, training, validation)
    run.bounds.require_memory(need.total, f"This training takes about {need}")
    run.phase("binning")
    checkpoints = Checkpoints(run, run.checkpoint_seconds)
    findings: list[Values] = []
    watch = _Watch(
        run,
        checkpoints if job.training.hyperparameters.is_resumable else None,
        lambda: findings.extend(_report_findings(run, job, loaded)),
    )
    ranker = train(
        job.training,
        training,
        validation,
        on_iteration=watch.on_iteration,
        threads=run.threads,
        kept_bins=data.kept_bins(run),
        resume=checkpoints.load() or data.start(run.threads),
        on_binning=_binning(run),
    )
    with watch.kept_on_stopping():
        watch.finish()
        if ranker.growth is not None:
            findings.append(growth_finding(ranker.growth).as_json())
            run.report(findings=findings)
        yield Trained(loaded, data, ranker, findings)


def _binning(run: JobRun) -> OnProgress:
    """Return what reports how far the binning is, and in the end that the training begins."""
    count = counting_percent(run, "binning")

    def report(done: int, total: int) -> None:
        if done < total:
            count(done, total)
        else:
            run.phase("training", afresh=True)  # where it was, if it goes on from a checkpoint

    return report


def _report_findings(run: JobRun, job: BoostingJob, loaded: TrainingData) -> list[Values]:
    of_training = [
        *resumption_findings(job.training),
        *seed_findings(job.training, parts_are_random=job.parts_are_random),
    ]
    findings = [*loaded.findings(run.threads), *(finding.as_json() for finding in of_training)]
    run.report(findings=findings)
    return findings


def _store(run: JobRun, job: TrainJob, trained: Trained) -> None:
    spec, ranker = job.training, trained.ranker
    run.phase("storing")
    model_id, text = new_id("mdl_"), ranker.model_text.encode()
    with run.writing(model_key(model_id)) as file:
        file.write(text)
    judged = _judge(run, job, trained)
    metrics = _metrics_at_best(ranker) | ({"test": judged.evaluation.means} if judged else {})
    run.report(metrics=metrics)
    explainability = Explainability.of(ModelText.read(ranker.model_text))
    result = {"model_id": model_id} | (judged.result if judged else {})
    with run.succeeding(result) as tx:
        model = tx.models.add(
            model_id,
            name=job.model_name,
            job_id=run.id,
            dataset_id=job.dataset_id,
            feature_names=ranker.feature_names,
            loss=loss_values(spec.loss),
            hyperparameters=values_of(spec.hyperparameters),
            best_iteration=ranker.n_trees,
            sha256=hashlib.sha256(text).hexdigest(),
            size_bytes=len(text),
            metrics=judged.evaluation.means if judged else None,
            lineage=lineage_of(tx, run, job),
            explanation=asdict(explainability),
        )
        if judged:
            system = System(model.reference, model_id)
            judged.evaluation.add(tx, run, system, job.tested_on)
            judged.ranking.add(tx, run, system, job.tested_on)


@dataclass(frozen=True)
class _Judged:
    evaluation: StoredEvaluation
    ranking: StoredRanking

    @property
    def result(self) -> dict[str, str]:
        return {"evaluation_id": self.evaluation.id, "ranking_id": self.ranking.id}


class _Watch:
    """Report training iterations as progress, metrics and learning curves.

    Args:
        run: The job.
        checkpoints: Where it goes on when it is interrupted; None where it starts again.
        after_first: What can wait until the training is seen to have begun.
    """

    def __init__(self, run: JobRun, checkpoints: Checkpoints | None, after_first: Callable[[], None]) -> None:
        self._run = run
        self._checkpoints = checkpoints
        self._after_first = after_first
        self._first: int | None = None
        self._first_ended_at = 0.0
        self._snapshot: Snapshot | None = None
        self._unrecorded: list[Mapping[str, float]] = []

    def finish(self) -> None:
        """Run the deferred callback if an earlier attempt had grown all trees."""
        if self._first is None:
            self._after_first()

    def on_iteration(self, report: IterationReport, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        with self.kept_on_stopping():
            self._tell(report)
        if self._checkpoints is not None and self._checkpoints.is_due():
            self._checkpoints.keep(snapshot)

    @contextmanager
    def kept_on_stopping(self) -> Iterator[None]:
        """Store a checkpoint if the worker stops during the block."""
        try:
            yield
        except WorkerStopping:
            if self._snapshot is not None and self._checkpoints is not None:
                self._checkpoints.keep(self._snapshot)
            raise

    def _tell(self, report: IterationReport) -> None:
        self._run.counts.iterated()
        values = {name: dict(metrics) for name, metrics in report.values.items()}
        progress = {
            "phase": "training",
            "iteration": report.iteration,
            "total": report.total,
            "eta_seconds": self._eta_seconds(report),
        }
        self._unrecorded.append(report.milliseconds)
        measured = [(report.iteration, values)] if values else []
        milliseconds = {report.iteration: self._mean_milliseconds()} if values else {}
        is_first = self._first is None
        self._first = self._first or report.iteration
        metrics = _means(report) or None
        self._run.report(
            progress=progress,
            metrics=metrics,
            iterations=measured,
            milliseconds=milliseconds,
            at_once=is_first,
        )
        if is_first:
            self._after_first()
            self._first_ended_at = time.monotonic()

    def _mean_milliseconds(self) -> Values:
        """Return the mean times of the iterations since the last recorded one."""
        total: Counter[str] = Counter()
        for milliseconds in self._unrecorded:
            total.update(milliseconds)
        iterations = len(self._unrecorded)
        self._unrecorded.clear()
        return {part: round(spent / iterations, 3) for part, spent in total.items()}

    def _eta_seconds(self, report: IterationReport) -> float | None:
        # The first iteration also prepares the data, so it says nothing about those to come.
        if self._first is None or report.iteration == self._first:
            return None
        per_iteration = (time.monotonic() - self._first_ended_at) / (report.iteration - self._first)
        return round(per_iteration * (report.total - report.iteration), 1)


def _means(report: IterationReport) -> dict[str, Any]:
    return {name: dict(values) for name, values in report.values.items() if name != "diagnostics"}


def _metrics_at_best(ranker: TrainedRanker) -> dict[str, Any]:
    """Return the means at the last measured iteration that was the best when it was made."""
    best = [_means(report) for report in ranker.history if report.iteration == report.best_iteration]
    return next((means for means in reversed(best) if means), {})


def _judge(run: JobRun, job: TrainJob, trained: Trained) -> _Judged | None:
    """Evaluate the model on the test data, unless that lacks most used features."""
    if trained.loaded.test is None or trained.data.test is None:
        return None
    text, names = ModelText.read(trained.ranker.model_text), trained.ranker.feature_names
    used = [names[column] for column in text.used_features]
    absent = AbsentFeatures.of(trained.loaded.test.dataset, used)
    findings = tuple(absent_feature_findings(absent, "the model"))
    if findings:
        told = [{**finding.as_json(), "role": "test"} for finding in findings]
        run.report(findings=[*trained.findings, *told])
    if absent.are_most and not job.allows_absent_features:
        return None  # the model is not to blame, and hours of training are not thrown away
    run.phase("scoring")
    test = trained.data.test.dataset
    # The job has reported these already, of the training data.
    unseen = unseen_category_findings(
        trained.loaded.test.dataset, test.categories, "of the test data", "the model"
    )
    scores = Forest(text).score(test.features, run.threads)
    ranked = Ranked(test, test, scores, (*findings, *unseen))
    return _Judged(store_evaluation(run, job.measures, ranked), store_ranking(run, ranked))
