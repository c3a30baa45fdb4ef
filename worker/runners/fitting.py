"""Fit one model of a job: trees, a network, or a sum of models."""

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

import lightgbm

from core.data import RankingDataset
from core.training import TrainedModel, TrainingCheckpoint, TrainingSpec, train
from core.training.binning import SharedBins
from core.training.boosting import bin_features
from core.training.checkpoint import Checkpoint
from core.training.distribution import Distribution
from core.types import Int64Array, OnProgress
from worker.job.reporter import counting_percent
from worker.job.run import JobRun
from worker.job.sums import fit_sum
from worker.job.training_data import TrainingData
from worker.job.watch import TrainingWatch

if TYPE_CHECKING:
    from core.training.networks import NetworkCheckpoint

CheckpointReader = Callable[[bytes], TrainingCheckpoint]
_BATCH_SECONDS = 1.0  # interval of reports within an epoch


def checkpoint_reader(spec: TrainingSpec) -> CheckpointReader:
    """Return the parser of the checkpoints of a training."""
    if not spec.scorer.is_network:
        return Checkpoint.from_bytes
    from core.training.networks import NetworkCheckpoint

    return NetworkCheckpoint.from_bytes


def fit_model(
    run: JobRun,
    spec: TrainingSpec,
    data: TrainingData,
    watch: TrainingWatch,
    resume: TrainingCheckpoint | None,
    bins: SharedBins | None = None,
    distribution: Distribution | None = None,
) -> TrainedModel:
    """Train a model of a job.

    Args:
        data: Datasets, with the features of the training data.
        bins: Binned documents that several trainings of trees share, or None.
        distribution: Ranks of a distributed training of trees, or None to train in this process.

    Raises:
        InvalidInput: The specification is invalid for the data.
    """
    training, validation = data.training.dataset, data.validation.dataset if data.validation else None
    if resume is not None:
        points = ((report.iteration, watch.curves(report)) for report in resume.history if report.values)
        run.reporter.repeat(list(points))
    if data.members:
        return fit_sum(run, spec, data.members, data.training, data.validation)
    if spec.scorer.is_network:
        return _fit_network(run, spec, training, validation, watch, resume)
    start = cast("Checkpoint | None", resume) or data.start(run.threads)
    if distribution is not None:
        from worker.ranks.training import train_on_ranks  # importing Dask takes a third of a second

        return data.with_base(train_on_ranks(run, spec, distribution, data, watch, start))
    on_binning = None
    if bins is None:
        run.reporter.phase("binning")
        on_binning = _binning_progress(run)
    trees = train(
        spec,
        training,
        validation,
        on_iteration=watch.on_iteration,
        threads=run.threads,
        cached_bins=data.cached_bins(run.caches.binned) if bins is None else None,
        resume=start,
        on_binning=on_binning,
        bins=bins,
    )
    return data.with_base(trees)


class FoldBins:
    """Features of all folds, binned once for all trainings of trees in a cross-validation."""

    def __init__(self, run: JobRun, spec: TrainingSpec, data: TrainingData) -> None:
        self._all: lightgbm.Dataset | None = None
        if not spec.scorer.is_network:
            run.reporter.phase("binning")
            count = counting_percent(run.reporter, "binning")
            self._all = bin_features(
                spec, data.training.dataset, run.threads, data.cached_bins(run.caches.binned), count
            )

    def of(
        self, training: Int64Array | None = None, validation: Int64Array | None = None
    ) -> SharedBins | None:
        """Return the binned rows of one training, None for a network.

        Args:
            training: (n_documents,) ascending rows to train on; None for all.
            validation: (n_documents,) ascending rows to validate on; None for no validation.
        """
        return None if self._all is None else SharedBins(self._all, training, validation)


def _fit_network(
    run: JobRun,
    spec: TrainingSpec,
    training: RankingDataset,
    validation: RankingDataset | None,
    watch: TrainingWatch,
    resume: TrainingCheckpoint | None,
) -> TrainedModel:
    from core.training.networks import train_network  # JAX takes a second to import

    run.reporter.phase("preparing inputs")
    return train_network(
        spec,
        training,
        validation,
        on_iteration=watch.on_iteration,
        threads=run.threads,
        resume=cast("NetworkCheckpoint | None", resume),
        on_batch=_batch_progress(run, watch),
        check=partial(_check, run, watch),
    )


def _check(run: JobRun, watch: TrainingWatch) -> None:
    with watch.checkpoint_on_stop():
        run.lease.check()


def _binning_progress(run: JobRun) -> OnProgress:
    """Return a callback that reports the progress of binning, and then enters the phase `training`."""
    count = counting_percent(run.reporter, "binning")

    def report(done: int, total: int) -> None:
        if done < total:
            count(done, total)
        else:
            run.reporter.phase("training", reset_count=True)  # shows the count of a checkpoint

    return report


def _batch_progress(run: JobRun, watch: TrainingWatch) -> OnProgress:
    """Return a callback that enters the phase of the watch, and reports the batches of long epochs."""
    has_begun = False
    reported_at = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal has_begun, reported_at
        if not has_begun:
            has_begun = True
            run.reporter.phase(watch.phase, reset_count=True)
        if time.monotonic() - reported_at >= _BATCH_SECONDS:
            reported_at = time.monotonic()
            watch.on_batch(done, total)

    return report
