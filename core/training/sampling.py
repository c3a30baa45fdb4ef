"""Random choices of a training, the same in a resumed training.

LightGBM's generators run on from tree to tree, and their state can be neither read nor set. Here they are
restarted before each tree, from the seed of the training and the number of the iteration.
"""

from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt

from core.jit import compiled
from core.losses.randomness import uniform
from core.training.hyperparameters import Hyperparameters
from core.types import Float64Array

_BAGGING, _FEATURES, _THRESHOLDS, _QUERIES, DOCUMENTS, GRADIENTS, HESSIANS, _DROPS = range(8)
_SEEDS = 2**31


def drop_seed(seed: int) -> int:
    """Return the seed of the trees that are dropped (`boosting` `dart`)."""
    return derived_seed(seed, _DROPS, 0)


def fixed_seeds(seed: int) -> dict[str, Any]:
    """Return the parameters that a model is written with; `Sampling` changes them while it grows."""
    return {
        "bagging_seed": derived_seed(seed, _BAGGING, 0),
        "feature_fraction_seed": derived_seed(seed, _FEATURES, 0),
        "extra_seed": derived_seed(seed, _THRESHOLDS, 0),
        "pos_bagging_fraction": 1.0,
    }


def drawn_queries(fraction: float, n_queries: int, seed: int, iteration: int) -> npt.NDArray[np.bool_]:
    """Draw queries for a tree: (n_queries,) with exactly the fraction of them, rounded, and at least one.

    The number drawn for a query depends on the seed, the iteration and its position alone.
    """
    numbers = uniform_numbers(np.uint64(derived_seed(seed, _QUERIES, iteration)), n_queries)
    count = max(1, round(fraction * n_queries))
    drawn: npt.NDArray[np.bool_] = numbers <= np.partition(numbers, count - 1)[count - 1]
    return drawn


@compiled
def uniform_numbers(key: int, n: int) -> Float64Array:
    """Draw a number from (0, 1) for each position."""
    numbers = np.empty(n)
    for query in range(n):
        numbers[query] = uniform(key, query)
    return numbers


class Sampling:
    """Restarts a booster's generators.

    Args:
        hyperparameters: Decide what is drawn at random.
        seed: The seed of the training.
    """

    def __init__(self, hyperparameters: Hyperparameters, seed: int) -> None:
        self._seed = seed
        self._bagging_freq = hyperparameters.bagging_freq if hyperparameters.bagging_fraction < 1 else 0
        # A booster that drops trees forgets their weights with each new parameter. It is not resumed, so that
        # LightGBM's generators may run on.
        self._draws = hyperparameters.is_random and hyperparameters.is_resumable
        self._grown = 0
        self._flipped = False

    def restart(self, booster: lightgbm.Booster, iteration: int) -> None:
        """Prepare the draws of a tree; to be called while LightGBM asks for the gradients of it.

        Before, `Booster.update` may set parameters, at which LightGBM draws features already.

        Args:
            booster: The booster that is about to grow the tree.
            iteration: 0-based number of the iteration.
        """
        if not self._draws:
            return
        parameters: dict[str, Any] = {
            "feature_fraction_seed": derived_seed(self._seed, _FEATURES, iteration),
            "extra_seed": derived_seed(self._seed, _THRESHOLDS, iteration),
        }
        if self._draws_documents(iteration):
            # LightGBM takes a new seed only where a fraction has changed. This one concerns nothing here: it
            # is that of documents of positive labels in its own binary objective.
            self._flipped = not self._flipped
            parameters["pos_bagging_fraction"] = 0.5 if self._flipped else 1.0
            parameters["bagging_seed"] = derived_seed(self._seed, _BAGGING, iteration // self._bagging_freq)
        booster.reset_parameter(parameters)

    def grown(self) -> None:
        """Record that the booster has grown the tree."""
        self._grown += 1

    def finish(self, booster: lightgbm.Booster) -> None:
        """Give the booster the parameters with which the model is written."""
        booster.reset_parameter(fixed_seeds(self._seed))

    def _draws_documents(self, iteration: int) -> bool:
        """Return whether to draw documents: a new share, or LightGBM is about to draw by its count.

        It counts the trees of this booster, which after a resumption are fewer than the iterations.
        """
        freq = self._bagging_freq
        return freq > 0 and (iteration % freq == 0 or self._grown % freq == 0)


def derived_seed(seed: int, purpose: int, index: int) -> int:
    """Return the seed for one purpose of a training at one iteration."""
    # Mixed, not added: LightGBM's generators run alike for neighbouring seeds, which it gives itself to
    # neighbouring blocks of documents.
    return int(np.random.SeedSequence([seed, purpose, index]).generate_state(1)[0]) % _SEEDS
