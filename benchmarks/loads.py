"""Synthetic loads in the proportions of public collections."""

from dataclasses import dataclass

import numpy as np

from core.data import RankingDataset
from core.types import Float32Array, Int64Array


@dataclass(frozen=True)
class Load:
    """Queries of equal length with labels drawn independently.

    Attributes:
        name: Short name.
        like: Public collection that the load resembles.
        n_queries: Number of queries.
        n_per_query: Number of documents of each query.
        n_features: Number of features.
        label_shares: Share of each label, from label 0.
    """

    name: str
    like: str
    n_queries: int
    n_per_query: int
    n_features: int
    label_shares: tuple[float, ...]

    @property
    def query_boundaries(self) -> Int64Array:
        """Offsets of the queries."""
        return np.arange(self.n_queries + 1, dtype=np.int64) * self.n_per_query

    def draw(self, seed: int = 0) -> tuple[Float32Array, Float32Array]:
        """Return features and labels; a tenth of the features depend on the label."""
        generator = np.random.default_rng(seed)
        n = self.n_queries * self.n_per_query
        shares = np.array(self.label_shares) / sum(self.label_shares)
        labels = generator.choice(len(shares), n, p=shares).astype(np.float32)
        features = generator.standard_normal((n, self.n_features), np.float32)
        features[:, : self.n_features // 10] += 0.5 * labels[:, None]
        return features, labels

    def dataset(self, seed: int = 0) -> RankingDataset:
        """Return a dataset of features and labels."""
        return RankingDataset.from_arrays(*self.draw(seed), self.query_boundaries)


LOADS = (
    Load("W", "MSLR-WEB30K", 2_000, 120, 136, (0.515, 0.325, 0.134, 0.018, 0.008)),
    Load("X", "Istella-X", 300, 2_679, 50, (0.9983, 0.0006, 0.0005, 0.0003, 0.0003)),
    Load("Y", "Yahoo set 1", 8_000, 24, 100, (0.26, 0.36, 0.28, 0.08, 0.02)),
)
