"""Sums by pair, which all click models use."""

from dataclasses import dataclass

import numpy as np

from core.types import Float64Array

# Columns: (expected) successes and trials of attractiveness; (expected) examinations; successes and trials of
# satisfaction, the trials being clicks.
SUCCESSES, TRIALS, EXAMINED, SATISFIED, CLICKED = range(5)
CAP = 1.0 - 1e-6  # upper bound of probabilities, so that no probability of a skip is 0


@dataclass(frozen=True)
class PairSums:
    """Sums by pair of a query and a document.

    Attributes:
        values: (n_pairs, 5) sums; a row per pair, because kernels update all sums of a pair together.
    """

    values: Float64Array

    @classmethod
    def zeros(cls, n_pairs: int) -> "PairSums":
        """Return sums of 0."""
        return cls(np.zeros((n_pairs, 5)))

    def attractiveness(self, prior: tuple[float, float], cap: float = 1.0) -> Float64Array:
        """Return (successes + a) / (trials + a + b) with the prior (a, b), at most `cap`, (n_pairs,)."""
        return ratio(self.values[:, SUCCESSES], self.values[:, TRIALS], prior, cap)

    def satisfaction(self, prior: tuple[float, float], cap: float = 1.0) -> Float64Array:
        """Return (satisfied clicks + a) / (clicks + a + b) with prior (a, b), at most `cap`, (n_pairs,)."""
        return ratio(self.values[:, SATISFIED], self.values[:, CLICKED], prior, cap)


def ratio(
    successes: Float64Array, trials: Float64Array, prior: tuple[float, float], cap: float = 1.0
) -> Float64Array:
    """Return (successes + a) / (trials + a + b) with the prior (a, b), at most `cap`; 0 for 0 / 0."""
    divisors = trials + (prior[0] + prior[1])
    quotients = (successes + prior[0]) / np.where(divisors > 0.0, divisors, 1.0)
    return np.minimum(quotients, cap, out=quotients)
