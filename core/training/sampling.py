"""Random choices of a training, the same in a resumed training.

LightGBM's random generators keep a state from tree to tree. This state can be neither read nor set.
`Sampling` therefore reseeds them before each tree, from the training's seed and the iteration.
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
    """Return the seed for drawing the trees to drop (`boosting` `dart`)."""
    return derived_seed(seed, _DROPS, 0)


def fixed_seeds(seed: int) -> dict[str, Any]:
    """Return the seed parameters that a model file has; `Sampling` changes them during training."""
    return {
        "bagging_seed": derived_seed(seed, _BAGGING, 0),
        "feature_fraction_seed": derived_seed(seed, _FEATURES, 0),
        "extra_seed": derived_seed(seed, _THRESHOLDS, 0),
        "pos_bagging_fraction": 1.0,
    }


def drawn_queries(fraction: float, n_queries: int, seed: int, iteration: int) -> npt.NDArray[np.bool_]:
    """Draw queries for a tree, bool (n_queries,): exactly the fraction, rounded, and at least one.

    The random number of a query depends on the seed, the iteration and the query's position alone.
    """
    numbers = uniform_numbers(np.uint64(derived_seed(seed, _QUERIES, iteration)), n_queries)
    count = max(1, round(fraction * n_queries))
    drawn: npt.NDArray[np.bool_] = numbers <= np.partition(numbers, count - 1)[count - 1]
    return drawn


@compiled
def uniform_numbers(key: int, n: int) -> Float64Array:
    """Draw a number from (0, 1) for each position; see `uniform`."""
    numbers = np.empty(n)
    for position in range(n):
        numbers[position] = uniform(key, position)
    return numbers


class Sampling:
    """The random generators of a booster, which are reseeded before each tree.

    Args:
        hyperparameters: Hyperparameters, which determine the random choices.
    """

    def __init__(self, hyperparameters: Hyperparameters, seed: int) -> None:
        self._seed = seed
        self._bagging_freq = hyperparameters.bagging_freq if hyperparameters.bagging_fraction < 1 else 0
        # A `dart` booster loses the weights of its trees at each `reset_parameter`. It is never resumed, so
        # its generators need no reseeding.
        self._reseeds = hyperparameters.is_random and hyperparameters.is_resumable
        self._trees_grown = 0
        self._is_fraction_flipped = False

    def reseed(self, booster: lightgbm.Booster, iteration: int) -> None:
        """Reseed the generators for the next tree; call this from the objective function.

        An earlier call would not suffice: `Booster.update` may set parameters before it calls the objective,
        and LightGBM draws features whenever parameters are set.

        Args:
            booster: The booster that is about to grow the tree.
            iteration: 0-based number of the iteration.
        """
        if not self._reseeds:
            return
        parameters: dict[str, Any] = {
            "feature_fraction_seed": derived_seed(self._seed, _FEATURES, iteration),
            "extra_seed": derived_seed(self._seed, _THRESHOLDS, iteration),
        }
        if self._draws_documents(iteration):
            # LightGBM applies a new seed only if a bagging fraction has changed. The parameter
            # `pos_bagging_fraction` has no other effect: only LightGBM's binary objective uses it.
            self._is_fraction_flipped = not self._is_fraction_flipped
            parameters["pos_bagging_fraction"] = 0.5 if self._is_fraction_flipped else 1.0
            parameters["bagging_seed"] = derived_seed(self._seed, _BAGGING, iteration // self._bagging_freq)
        booster.reset_parameter(parameters)

    def count_tree(self) -> None:
        """Count a tree that the booster has grown."""
        self._trees_grown += 1

    def finish(self, booster: lightgbm.Booster) -> None:
        """Reset the booster's seed parameters to `fixed_seeds`, which are written with the model."""
        booster.reset_parameter(fixed_seeds(self._seed))

    def _draws_documents(self, iteration: int) -> bool:
        """Return whether to reseed bagging: a new draw is due by the iteration, or by LightGBM's own count.

        LightGBM counts the trees of this booster, which are fewer than the iterations after a resumption.
        """
        freq = self._bagging_freq
        return freq > 0 and (iteration % freq == 0 or self._trees_grown % freq == 0)


def derived_seed(seed: int, purpose: int, index: int) -> int:
    """Return the seed for one purpose of a training at one iteration."""
    # Hashed, not added: LightGBM's generators are correlated for consecutive seeds, which LightGBM itself
    # uses for consecutive blocks of documents.
    return int(np.random.SeedSequence([seed, purpose, index]).generate_state(1)[0]) % _SEEDS
