"""Train trees on ranks of this machine or of a Dask cluster."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from core.training import Checkpoint, TrainedRanker, TrainingSpec
from core.training.distribution import Distribution
from worker.dask.cluster import cluster_client
from worker.job.run import JobRun
from worker.job.training_data import TrainingData
from worker.job.watch import TrainingWatch
from worker.ranks.driver import DistributedTraining
from worker.ranks.placement import LocalPlacement, Placement
from worker.settings import WorkerSettings


def train_on_ranks(
    run: JobRun,
    spec: TrainingSpec,
    distribution: Distribution,
    data: TrainingData,
    watch: TrainingWatch,
    start: Checkpoint | None,
) -> TrainedRanker:
    """Train the trees of a job on several ranks.

    The bytes of the model do not depend on the number of ranks.

    Args:
        data: Datasets, with the features of the training data.

    Raises:
        InvalidInput: The specification is invalid for the data.
        RanksLost: Ranks were lost repeatedly.
        ClusterUnavailable: The Dask scheduler cannot be reached, or has too few workers.
        LimitReached: A rank would exceed its memory limit.
    """
    with _placement(run.settings, distribution) as placement:
        return DistributedTraining(run, spec, distribution, data, placement, watch, start).train()


@contextmanager
def _placement(settings: WorkerSettings, distribution: Distribution) -> Iterator[Placement]:
    """Provide the placement: the Dask cluster of the settings, or this machine without a cluster."""
    if settings.dask_scheduler is None:
        yield LocalPlacement(distribution.threads_per_rank)
        return
    with cluster_client(settings) as client:
        from worker.ranks.dask_placement import DaskPlacement

        with closing(DaskPlacement(client, driver_ports=settings.ports)) as placement:
            yield placement
