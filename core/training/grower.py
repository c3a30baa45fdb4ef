"""Grow a LightGBM booster one tree at a time from the derivatives of a loss."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol, cast

import lightgbm
import numpy as np

from core.clicks.binding import LossBinding, ObservingObjective
from core.data import RankingDataset
from core.diagnostics import diagnose
from core.errors import InvalidInput
from core.scoring.categories import category_lists
from core.training.bin_edges import CATEGORICAL
from core.training.binning import Bins
from core.training.by_feature import by_column
from core.training.checkpoint import Checkpoint, prepend_trees
from core.training.derivatives import TreeDerivatives, on_common_grid
from core.training.history import DIAGNOSTICS, OBJECTIVE, TREE, Stopwatch
from core.training.measure import current_scores
from core.training.sampling import Sampling, drop_seed, fixed_seeds
from core.training.spec import TrainingSpec
from core.types import Float32Array, Float64Array, FloatArray

# Hyperparameters that may prevent every split, most likely first, with the value that disables each.
_UNBOUNDED_VALUES: Mapping[str, float] = MappingProxyType(
    {
        "min_sum_hessian_in_leaf": 0.0,
        "min_data_in_leaf": 1,
        "min_gain_to_split": 0.0,
        "lambda_l1": 0.0,
    }
)


class Shard(Protocol):
    """The position of a rank's queries in a distributed training, and reductions over ranks.

    Attributes:
        n_ranks: Ranks of the training, at least 2.
        first_query: Position of the first query in the whole training data.
        n_queries: Queries of the whole training data.
    """

    n_ranks: int
    first_query: int
    n_queries: int

    def largest(self, values: Float64Array) -> Float64Array:
        """Return the maximum over ranks of each value; every rank must call it."""
        ...


def lightgbm_parameters(
    spec: TrainingSpec, dataset: RankingDataset, threads: int, shard: Shard | None = None
) -> dict[str, Any]:
    """Return LightGBM's parameters of a training.

    Args:
        dataset: Dataset with the feature names and categorical features.
        shard: The shard of the dataset, None for the whole.

    Raises:
        InvalidInput: A hyperparameter names an unknown or unsuitable feature; see `by_column`.
    """
    hyperparameters = spec.hyperparameters
    parameters = {
        **hyperparameters.lightgbm(spec.seed, threads),
        **fixed_seeds(spec.seed),
        **by_column(hyperparameters, dataset.feature_names, dataset.categories),
        **({"drop_seed": drop_seed(spec.seed)} if hyperparameters.boosting == "dart" else {}),
        **({"tree_learner": "data", "num_machines": shard.n_ranks} if shard is not None else {}),
    }
    if dataset.categories:
        parameters[CATEGORICAL] = list(dataset.categorical_columns)
    return parameters


class Grower:
    """A booster, its objective and all random choices of a training.

    Args:
        shard: The shard of `training` in a distributed training, else None.

    Attributes:
        iterations_done: Iterations done, including those before a resumption.
        is_exhausted: Whether the last update found no split with a gain.
        diagnostics_values: Diagnostics of the loss at the scores before the last tree, or None.
        stopwatch: Times by part.
    """

    def __init__(
        self,
        spec: TrainingSpec,
        training: RankingDataset,
        validation: RankingDataset | None,
        threads: int,
        bins: Bins,
        start: Checkpoint | None,
        shard: Shard | None = None,
    ) -> None:
        self._spec = spec
        self._dataset = training
        self._shard = shard
        self._binding = binding = LossBinding(
            spec.loss, training, spec.clicks, spec.hyperparameters.learning_rate
        )
        self._objective = binding.bind_all(shard.first_query if shard is not None else 0)
        if binding.bias is not None and start is not None and start.bias:
            binding.bias.restore(start.bias)
        self._total = spec.hyperparameters.num_iterations
        self._drops_trees = spec.hyperparameters.boosting == "dart"
        self._sampling = Sampling(spec.hyperparameters, spec.seed)
        self._tree_derivatives = TreeDerivatives(
            spec.hyperparameters,
            training.query_boundaries,
            spec.seed,
            first_query=shard.first_query if shard is not None else 0,
            n_queries=shard.n_queries if shard is not None else None,
        )
        self._next_derivatives: tuple[Float32Array, Float32Array] | None = None
        self.iterations_done = start.iteration if start else 0
        self.base_trees = start.base_trees if start else 0
        self.is_exhausted = False
        self.diagnostics_values: Mapping[str, float | None] | None = None
        self.stopwatch = Stopwatch()
        self._booster = self._new_booster(
            lightgbm_parameters(spec, training, threads, shard), bins, validation, start
        )

    def _new_booster(
        self,
        parameters: dict[str, Any],
        bins: Bins,
        validation: RankingDataset | None,
        start: Checkpoint | None,
    ) -> lightgbm.Booster:
        binned = bins.datasets(self._dataset, validation)
        if start is not None:
            for name, data in binned.items():
                data.set_init_score(start.scores[name])
        booster = lightgbm.Booster(parameters, binned["train"])
        if validation is not None:
            booster.add_valid(binned["validation"], "validation")
        if self._drops_trees:
            booster.add_valid(binned["train"], "train")  # so that `current_scores` drops no trees
            _reset_drop_generator(booster, drop_seed(self._spec.seed))
        if start is not None:
            prepend_trees(booster, start.model_text)
        return booster

    def grow(self) -> bool:
        """Grow the next tree; return False if no split has a gain.

        Return True for the very first tree of a model in any case.

        Raises:
            InvalidInput: The linear model of a leaf gives a score that is not finite.
        """
        with self.stopwatch.timing(TREE):
            self.is_exhausted = self._booster.update(fobj=self._derivatives)
        if self._spec.hyperparameters.linear_tree and not np.isfinite(self.scores("train")).all():
            raise InvalidInput.at(
                "/hyperparameters/linear_tree",
                "multiplies features, some of which are infinite or too large: scores are not finite. Correct"
                " these features, or leave out linear_tree",
            )
        if self.is_exhausted and (self.iterations_done or self.base_trees):
            return False  # no split has a gain: LightGBM has added no tree
        if not self.is_exhausted:
            self._sampling.count_tree()
        self.iterations_done += 1
        return True

    def scores(self, name: str) -> Float64Array:
        """Return the current scores of "train" or "validation", in an array that the next call reuses."""
        return current_scores(self._booster, name)

    def losses(self, scores: Float64Array) -> Float64Array:
        """Return the loss of each training query, (n_queries,), and keep the derivatives for the next tree.

        With `boosting` `dart` derivatives are not kept: trees are dropped first, which changes the scores.

        Args:
            scores: Scores that `scores("train")` returned.
        """
        with self.stopwatch.timing(OBJECTIVE):
            gradient, hessian, losses = self._objective.with_value(scores, self.iterations_done)
        if not self._drops_trees:
            self._next_derivatives = gradient, hessian
        return losses

    def state_text(self) -> str:
        """Return all trees so far, for a checkpoint."""
        return self._booster.model_to_string(num_iteration=-1)

    def finish(self) -> None:
        """Prepare the booster for `model_text`; it cannot grow further trees."""
        self._next_derivatives = None
        self._sampling.finish(self._booster)

    def model_text(self, iterations: int) -> str:
        """Return the model of the first iterations, after the trees of the initial model."""
        self._booster.pandas_categorical = category_lists(self._dataset) or None
        return self._booster.model_to_string(num_iteration=self.base_trees + iterations)

    def first_hessian_sum(self) -> float:
        """Return the sum of the hessians at scores of 0, those before the first tree of a new model."""
        _, hessian = self._objective(np.zeros(self._dataset.n_documents), 0)
        return float(hessian.sum(dtype=np.float64))

    def has_gradient(self) -> bool:
        """Return whether the loss would still change the score of a document."""
        return bool(np.any(self._objective(self.scores("train"), self.iterations_done)[0]))

    def decisive_bound(self) -> str | None:
        """Return the first hyperparameter whose bound alone prevents another tree, or None.

        The check may grow that tree, so do not use the booster afterwards.
        """
        for name, unbounded in _UNBOUNDED_VALUES.items():
            value = getattr(self._spec.hyperparameters, name)
            if value > unbounded:
                self._booster.reset_parameter({name: unbounded})
                if not self._booster.update(fobj=self._derivatives):
                    return name
                self._booster.reset_parameter({name: value})
        return None

    def _derivatives(self, scores: Float64Array, _: lightgbm.Dataset) -> tuple[Float32Array, Float32Array]:
        """Return the derivatives for the next tree, as LightGBM's objective function."""
        self._sampling.reseed(self._booster, self.iterations_done)
        with self.stopwatch.timing(OBJECTIVE):
            loss_gradient, hessian = self._next_derivatives or self._objective(scores, self.iterations_done)
            gradient, hessian = self._tree_derivatives(loss_gradient, hessian, self.iterations_done)
            if self._shard is not None:
                gradient, hessian = _rounded(self._shard, gradient, hessian)
            self._update_bias()
        self._next_derivatives = None
        self.diagnostics_values = self._diagnose(scores, loss_gradient)
        return gradient, hessian

    def _update_bias(self) -> None:
        """Update the position bias from the derivatives of the next tree, as LightGBM and XGBoost do."""
        if self._binding.bias is not None:
            cast("ObservingObjective", self._objective).observe()
            self._binding.bias.update()

    @property
    def propensities(self) -> tuple[float, ...] | None:
        """Return the propensities learnt with the model by rank, or None."""
        return self._binding.propensities

    def bias_arrays(self) -> dict[str, FloatArray]:
        """Return the arrays of the learnt position bias by name, for a checkpoint; empty without one."""
        return {} if self._binding.bias is None else self._binding.bias.arrays()

    def _diagnose(self, scores: Float64Array, gradient: Float32Array) -> Mapping[str, float | None] | None:
        plan = self._spec.diagnostics
        if plan is None or not plan.is_due_after(self.iterations_done, self._total):
            return None
        with self.stopwatch.timing(DIAGNOSTICS):
            return diagnose(
                self._spec.loss,
                scores,
                self._dataset.labels,
                self._dataset.query_boundaries,
                cutoff=plan.cutoff,
                iteration=self.iterations_done,
                seed=self._spec.seed,
                gradient=gradient,
            )


def _rounded(
    shard: Shard, gradient: Float32Array, hessian: Float32Array
) -> tuple[Float32Array, Float32Array]:
    """Round to a grid that all ranks share, so that the sums of histograms do not depend on the shards."""
    largest = np.array([np.abs(values).max(initial=0.0) for values in (gradient, hessian)], np.float64)
    largest_gradient, largest_hessian = shard.largest(largest)
    return on_common_grid(gradient, largest_gradient), on_common_grid(hessian, largest_hessian)


def _reset_drop_generator(booster: lightgbm.Booster, seed: int) -> None:
    """Reset the random generator with which a booster draws the trees to drop.

    LightGBM leaves a flag uninitialised, so that the first tree, which drops nothing, may consume a random
    number. Evaluating the training data sets the flag; setting `drop_seed` restarts the generator.
    """
    booster.eval_train(lambda *_: [])
    booster.reset_parameter({"drop_seed": seed})


def portable_text(model_text: str) -> str:
    """Replace the entries of a model's text that depend on the machines by fixed values."""
    for name, value in (("num_threads", 0), ("num_machines", 1)):
        model_text = re.sub(rf"\[{name}: \d+\]", f"[{name}: {value}]", model_text)
    return model_text
