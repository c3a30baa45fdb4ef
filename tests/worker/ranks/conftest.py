"""Shared fixtures of tests of ranks."""

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.store import Job
from tests.servers.dask import DaskCluster
from tests.worker.dask.ranks import on_cluster
from tests.worker.inline_worker import InlineWorker
from tests.worker.ranks.trainings import COLOURS, STOPPED_EARLY, train_on


@pytest.fixture(scope="session")
def dataset() -> RankingDataset:
    """Sixty queries of uneven sizes, with missing values."""
    synthetic = synthetic_dataset(60, seed=1, documents_per_query=20, n_features=8)
    random = np.random.default_rng(3)
    rows = np.flatnonzero(random.random(synthetic.n_documents) < 0.7)
    queries = np.repeat(np.arange(60), np.diff(synthetic.query_boundaries))[rows]
    boundaries = np.concatenate(([0], np.cumsum(np.bincount(queries, minlength=60))))
    features = synthetic.matrix[rows]
    features[random.random(features.shape) < 0.05] = np.nan
    return RankingDataset.from_arrays(features, synthetic.labels[rows], boundaries)


@pytest.fixture(scope="session")
def coloured(dataset: RankingDataset) -> RankingDataset:
    """The dataset with categories that correlate with the labels."""
    features = dataset.matrix.copy()
    random = np.random.default_rng(5)
    features[:, 2] = (dataset.labels + random.integers(0, 2, len(features))) % len(COLOURS)
    return RankingDataset.from_arrays(
        features, dataset.labels, dataset.query_boundaries, categories={"f3": COLOURS}
    )


@pytest.fixture(scope="session")
def coloured_id(shared_worker: InlineWorker, coloured: RankingDataset) -> str:
    """The id of the dataset `coloured` in the shared store."""
    return shared_worker.add(coloured, "coloured")


@pytest.fixture(scope="session")
def local_job(shared_worker: InlineWorker, coloured_id: str) -> Job:
    """A training on three ranks of this machine, without interruption."""
    return train_on(shared_worker, coloured_id, 3, **STOPPED_EARLY)


@pytest.fixture(scope="package")
def dask_job(shared_worker: InlineWorker, coloured_id: str, dask_cluster: DaskCluster) -> Job:
    """The same training on two ranks of a Dask cluster."""
    return train_on(on_cluster(shared_worker, dask_cluster), coloured_id, 2, **STOPPED_EARLY)
