"""The scorer in JAX: scores, gradients with respect to the weights, and optimiser steps."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

# XLA splits sums over documents by its number of threads. A fixed number gives the same weights on any number
# of processors. JAX reads the environment variable at its first computation.
_XLA_THREADS = 4
os.environ["PJRT_NPROC"] = str(_XLA_THREADS)

from core.errors import ExtraMissing  # noqa: E402

try:
    import jax
    import jax.numpy as jnp
    import optax
except ImportError as error:
    raise ExtraMissing("training a network", "neural") from error

from core.scorers import Mlp, NetworkScorer  # noqa: E402
from core.scorers.kernels import EPSILON  # noqa: E402
from core.types import Float32Array, Float64Array, FloatArray, UInt32Array  # noqa: E402

Parameters = list[dict[str, Any]]

_KEYS_PER_CALL = 1_024  # one key alone takes longer to derive than a step on a small batch
_CACHED_COMPILATIONS = 8  # for the latest trainings, such as the networks of an automatic training
# Hyperparameters that the compiled functions take as arguments, or do not use.
_ARGUMENTS = ("epochs", "batch_documents", "learning_rate", "inputs", "log1p", "missing_indicators")

_ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
}


def scores_of(
    parameters: Parameters, inputs: Any, activation: str, dropout: float = 0.0, key: Any = None
) -> Any:
    """Return the scores, (n_documents,), of inputs, (n_documents, n_inputs).

    Args:
        parameters: `weights` and `bias` of each layer; hidden layers may have `norm_scales` and
            `norm_shifts`.
        inputs: Inputs that `InputTransform` returned.
        activation: Activation of the hidden layers.
        dropout: Share of hidden units that are dropped, where a key is given.
        key: JAX random key that determines the dropped units.
    """
    units = inputs
    for number, layer in enumerate(parameters[:-1]):
        units = units @ layer["weights"] + layer["bias"]
        if "norm_scales" in layer:
            mean = units.mean(axis=1, keepdims=True)
            variance = ((units - mean) ** 2).mean(axis=1, keepdims=True)
            units = (units - mean) / jnp.sqrt(variance + EPSILON) * layer["norm_scales"] + layer[
                "norm_shifts"
            ]
        units = _ACTIVATIONS[activation](units)
        if dropout and key is not None:
            keeps = jax.random.bernoulli(jax.random.fold_in(key, number), 1.0 - dropout, units.shape)
            units = jnp.where(keeps, units / (1.0 - dropout), 0.0)
    return (units @ parameters[-1]["weights"] + parameters[-1]["bias"])[:, 0]


@dataclass(frozen=True)
class _CompilationKey:
    """Everything that the compiled functions depend on, besides the number of documents.

    Attributes:
        scorer: The scorer, with the defaults of all hyperparameters that are arguments of the functions.
        factors: Factors of the gradient. They are constants of the functions, since the factors as arguments
            would change the last digits of the weights.
    """

    scorer: NetworkScorer
    shapes: tuple[tuple[int, ...], ...]
    factors: Parameters | None = field(compare=False)
    factor_bytes: bytes

    @classmethod
    def of(
        cls, scorer: NetworkScorer, parameters: Parameters, factors: Parameters | None
    ) -> "_CompilationKey":
        defaults = {name: getattr(type(scorer), name) for name in _ARGUMENTS}
        shapes = tuple(array.shape for array in jax.tree.leaves(parameters))
        factor_bytes = b"".join(np.asarray(array).tobytes() for array in jax.tree.leaves(factors))
        return cls(replace(scorer, **defaults), shapes, factors, factor_bytes)

    @property
    def activation(self) -> str:
        return self.scorer.activation if isinstance(self.scorer, Mlp) else "relu"

    @property
    def dropout(self) -> float:
        return self.scorer.dropout if isinstance(self.scorer, Mlp) else 0.0


class _Functions:
    """The compiled functions of trainings of one key."""

    def __init__(self, key: _CompilationKey) -> None:
        self.optimizer = _optimizer(key.scorer)
        self._factors = key.factors
        activation, dropout = key.activation, key.dropout

        def pull_back(parameters: Parameters, inputs: Any, key_data: Any) -> Any:
            """Return the scores, and a function from d loss / d score to the gradient of the weights."""
            key = None if key_data is None else jax.random.wrap_key_data(key_data)
            return jax.vjp(lambda weights: scores_of(weights, inputs, activation, dropout, key), parameters)

        self.score = jax.jit(partial(scores_of, activation=activation))
        self.pull_back = jax.jit(pull_back)
        self.step = jax.jit(self._step_weights)

    def _step_weights(
        self, parameters: Parameters, state: Any, vjp: Any, gradient: Any, learning_rate: Any
    ) -> Any:
        (weight_gradient,) = vjp(gradient)
        if self._factors is not None:
            weight_gradient = jax.tree.map(jnp.multiply, weight_gradient, self._factors)
        updates, state = self.optimizer.update(weight_gradient, state, parameters)
        new_parameters = jax.tree.map(
            lambda weight, update: weight - learning_rate * update, parameters, updates
        )
        return new_parameters, state


@lru_cache(maxsize=_CACHED_COMPILATIONS)
def _functions(key: _CompilationKey) -> _Functions:
    """Return the functions of a key; compiling them takes longer than a training on little data."""
    return _Functions(key)


class Differentiation:
    """A scorer with its optimiser: weights, gradients and steps in JAX.

    Args:
        parameters: Initial weights.
        factors: Factors of the gradient, in the structure of the parameters; None where all weights are
            trained.
    """

    def __init__(
        self, scorer: NetworkScorer, parameters: Parameters, seed: int, factors: Parameters | None = None
    ) -> None:
        key = _CompilationKey.of(scorer, parameters, factors)
        self._functions = _functions(key)
        self._key = jax.random.key(seed) if key.dropout else None
        self._first_key = -_KEYS_PER_CALL  # step of the first of the derived keys
        self.restart(parameters)

    def restart(self, parameters: Parameters) -> None:
        """Replace the weights and reset the state of the optimiser."""
        self._parameters: Parameters = jax.tree.map(jnp.asarray, parameters)
        self._optimizer_state: Any = self._functions.optimizer.init(self._parameters)

    def restore(self, parameters: Parameters, state: Sequence[Any]) -> None:
        """Set the weights and the optimiser's state, given as its leaves."""
        self.restart(parameters)
        structure = jax.tree.structure(self._optimizer_state)
        self._optimizer_state = jax.tree.unflatten(structure, [jnp.asarray(leaf) for leaf in state])

    def state(self) -> tuple[Parameters, Any]:
        """Return the weights and the optimiser's state, which later steps replace but never modify."""
        return self._parameters, self._optimizer_state

    @staticmethod
    def as_arrays(state: tuple[Parameters, Any]) -> tuple[Parameters, list[Any]]:
        """Return weights and the leaves of an optimiser's state as NumPy arrays; `restore` takes them."""
        parameters, optimizer_state = state
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(optimizer_state)]
        return jax.tree.map(np.asarray, parameters), leaves

    def weights(self) -> Parameters:
        """Return the weights as NumPy arrays."""
        return self.as_arrays(self.state())[0]

    def score(self, inputs: FloatArray, size: int) -> Float64Array:
        """Return the scores, float64 (n_documents,), of inputs that are padded to `size` rows."""
        scores = self._functions.score(self._parameters, _padded(inputs, size))
        return np.asarray(scores, np.float64)[: len(inputs)]

    def step(
        self,
        inputs: FloatArray,
        size: int,
        loss: Callable[[Float64Array], tuple[float, Float32Array]],
        learning_rate: float,
        number: int,
    ) -> float:
        """Take one step on a batch and return its loss.

        Args:
            inputs: (n_documents, n_inputs).
            size: Rows that the inputs are padded to.
            loss: Returns the loss of given scores, and d loss / d score, (n_documents,).
            number: Number of the step, which determines the dropped units.
        """
        scores, vjp = self._functions.pull_back(
            self._parameters, _padded(inputs, size), self._key_data(number)
        )
        gradient = np.zeros(size, scores.dtype)
        value, gradient[: len(inputs)] = loss(np.asarray(scores, np.float64)[: len(inputs)])
        self._parameters, self._optimizer_state = self._functions.step(
            self._parameters, self._optimizer_state, vjp, gradient, learning_rate
        )
        return value

    def _key_data(self, number: int) -> Any:
        """Return the data of the random key of a step, uint32 (2,); None without dropout."""
        if self._key is None:
            return None
        if not 0 <= number - self._first_key < _KEYS_PER_CALL:
            self._first_key = number
            self._keys: UInt32Array = np.asarray(_derived_keys(self._key, np.uint32(number)))
        return self._keys[number - self._first_key]


@jax.jit
def _derived_keys(key: Any, first: Any) -> Any:
    """Return the data of the keys of consecutive steps, uint32 (_KEYS_PER_CALL, 2)."""
    numbers = first + jnp.arange(_KEYS_PER_CALL, dtype=jnp.uint32)
    return jax.random.key_data(jax.vmap(partial(jax.random.fold_in, key))(numbers))


def _padded(inputs: FloatArray, size: int) -> FloatArray:
    """Pad inputs with rows of zeros to a compiled size."""
    if len(inputs) == size:
        return inputs
    padded = np.zeros((size, inputs.shape[1]), inputs.dtype)
    padded[: len(inputs)] = inputs
    return padded


def _optimizer(scorer: NetworkScorer) -> optax.GradientTransformation:
    """Return the Optax transformation of gradients to steps, without the learning rate."""
    steps = []
    if scorer.gradient_clip is not None:
        steps.append(optax.clip_by_global_norm(scorer.gradient_clip))
    if scorer.optimizer == "adam":
        steps.append(optax.scale_by_adam())
    elif scorer.momentum:
        steps.append(optax.trace(decay=scorer.momentum))
    if scorer.weight_decay:
        steps.append(optax.add_decayed_weights(scorer.weight_decay, mask=_are_weights))
    return optax.chain(*steps) if steps else optax.identity()


def _are_weights(parameters: Parameters) -> Any:
    return [{name: name == "weights" for name in layer} for layer in parameters]
