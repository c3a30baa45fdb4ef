"""What tests of ranks share."""

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset


@pytest.fixture(scope="package")
def dataset() -> RankingDataset:
    """Sixty queries of uneven sizes, with missing values."""
    made = synthetic_dataset(60, seed=1, documents_per_query=20, n_features=8)
    random = np.random.default_rng(3)
    kept = np.flatnonzero(random.random(made.n_documents) < 0.7)
    queries = np.repeat(np.arange(60), np.diff(made.query_boundaries))[kept]
    boundaries = np.concatenate(([0], np.cumsum(np.bincount(queries, minlength=60))))
    features = made.matrix[kept]
    features[random.random(features.shape) < 0.05] = np.nan
    return RankingDataset.from_arrays(features, made.labels[kept], boundaries)
