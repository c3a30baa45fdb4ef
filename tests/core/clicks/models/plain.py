"""Click models in plain Python, which enumerate all possible behaviour of users, list by list."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

States = tuple[tuple[bool, ...], tuple[bool, ...], float]


def chain_states(
    attractiveness: ArrayLike,
    satisfaction: ArrayLike,
    persistence: float,
    clicks: Sequence[bool],
) -> list[States]:
    """Return the possible examined and satisfying ranks with these clicks, and the probability of each case.

    Args:
        attractiveness: α by rank.
        satisfaction: σ by rank.
        persistence: γ.
        clicks: Clicks by rank.
    """
    n, alphas, sigmas = len(clicks), np.asarray(attractiveness), np.asarray(satisfaction)
    found = []
    for examined, satisfied in itertools.product(itertools.product([False, True], repeat=n), repeat=2):
        probability = 1.0
        for rank in range(n):
            alpha, sigma = alphas[rank], sigmas[rank]
            if rank == 0:
                go_on = 1.0
            elif examined[rank - 1] and not satisfied[rank - 1]:
                go_on = persistence
            else:
                go_on = 0.0
            probability *= go_on if examined[rank] else 1.0 - go_on
            click = alpha if examined[rank] else 0.0
            probability *= click if clicks[rank] else 1.0 - click
            satisfy = sigma if clicks[rank] else 0.0
            probability *= satisfy if satisfied[rank] else 1.0 - satisfy
        if probability > 0.0:
            found.append((examined, satisfied, probability))
    return found


def browsing_probability(attractiveness: ArrayLike, examination: ArrayLike, clicks: Sequence[bool]) -> float:
    """Return the probability of clicks.

    Args:
        attractiveness: α by rank.
        examination: (n, n + 1) θ by rank, from 0, and rank of the last click, from 1, or 0 for none.
        clicks: Clicks by rank.
    """
    alphas, theta, probability, last = np.asarray(attractiveness), np.asarray(examination), 1.0, 0
    for index, click in enumerate(clicks):
        p = alphas[index] * theta[index, last]
        probability *= p if click else 1.0 - p
        last = index + 1 if click else last
    return float(probability)


def marginals(probabilities: Sequence[tuple[Sequence[bool], float]], n: int) -> list[float]:
    """Return the probability of a click at each rank, of the probabilities of all patterns of clicks."""
    return [sum(p for clicks, p in probabilities if clicks[rank]) for rank in range(n)]
