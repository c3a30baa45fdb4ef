"""Predict the seconds of an iteration on several machines from measurements on one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.exchange import Exchange

BIN_BYTES = 16
BITS = 8
GIGABIT = 1e9
WIRE_SECONDS = 50e-6  # assumed latency of a switched network, once per round


@dataclass(frozen=True)
class Volume:
    """Bytes and rounds that ranks exchange for a tree.

    Attributes:
        bins: Number of bins of all features with a histogram.
        leaves: Leaves of the tree.
        max_cat_threshold: Hyperparameter; each transmitted split has space for this many categories.
    """

    bins: int
    leaves: int
    max_cat_threshold: int = 32

    @property
    def rounds(self) -> int:
        """Number of exchanges of all ranks: two for each searched leaf, and two at the root."""
        return 2 + 2 * (self.leaves - 1)

    def histogram_bytes(self, n_ranks: int) -> float:
        """Return the bytes of histograms that a rank sends: bins × 16 × (leaves − 1) × (N − 1)/N."""
        return self.bins * BIN_BYTES * (self.leaves - 1) * (n_ranks - 1) / n_ranks

    def sent_bytes(self, n_ranks: int) -> float:
        """Return all bytes that a rank sends: histograms, sums of the root, and splits of two leaves each."""
        of_a_split = 94 + 4 * self.max_cat_threshold
        splits = (n_ranks - 1) * (16 + 24 + (self.leaves - 1) * 2 * of_a_split)
        return self.histogram_bytes(n_ranks) + splits


@dataclass(frozen=True)
class Computation:
    """Seconds of an iteration of one rank on a share of the documents: compute · share + fixed.

    Attributes:
        compute_seconds: Seconds in proportion to the documents, for all documents.
        fixed_seconds: Seconds that do not depend on the documents.
    """

    compute_seconds: float
    fixed_seconds: float

    @classmethod
    def fit(cls, shares: Sequence[float], seconds: Sequence[float]) -> "Computation":
        """Fit the line through measured iterations.

        Args:
            shares: Shares of the documents, such as 1/4.
            seconds: Seconds of an iteration on each share.
        """
        # Least squares of relative errors, since small shares determine the fixed part.
        slope, level = np.polyfit(shares, seconds, 1, w=1 / np.asarray(seconds))
        return cls(float(slope), float(level))

    def scaled(self, documents: float, features: float) -> "Computation":
        """Return the computation for multiples of the documents and features."""
        return Computation(self.compute_seconds * documents * features, self.fixed_seconds * features)

    def seconds(self, n_ranks: int) -> float:
        """Return the seconds of an iteration without any exchange."""
        return self.compute_seconds / n_ranks + self.fixed_seconds


def predicted_seconds(
    computation: Computation, volume: Volume, exchange: Exchange, n_ranks: int, gigabits: float | None
) -> float:
    """Return T(N) = compute/N + fixed + volume/bandwidth + rounds × latency.

    The model is conservative: bytes pass the network and the processors of a rank sequentially, and a rank
    writes to each other rank in each round.

    Args:
        computation: Computation of one rank alone.
        volume: Bytes and rounds of a tree.
        exchange: Costs measured on loopback.
        n_ranks: Number of ranks N.
        gigabits: Bandwidth of each machine, None for loopback.
    """
    bandwidth = np.inf if gigabits is None else gigabits * GIGABIT / BITS
    wire = 0.0 if gigabits is None else WIRE_SECONDS
    latency = exchange.round_seconds + wire + (n_ranks - 2) * exchange.peer_seconds
    return (
        computation.seconds(n_ranks)
        + volume.sent_bytes(n_ranks) * (1 / bandwidth + exchange.byte_seconds)
        + volume.rounds * latency
    )
