"""The gradient of each loss by the weights of a network, against differences of its value."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest

from core.losses import LOSSES, make_loss
from core.losses.base import Objective
from core.scorers import Linear, Mlp, NetworkScorer
from core.training.networks.differentiation import Differentiation

NETS: dict[str, NetworkScorer] = {
    "linear": Linear(optimizer="sgd"),
    "tanh": Mlp(hidden=(5, 4), activation="tanh", optimizer="sgd"),
    "sigmoid": Mlp(hidden=(6,), activation="sigmoid", optimizer="sgd"),
    "norm": Mlp(hidden=(6, 5), activation="tanh", layer_norm=True, optimizer="sgd"),
    "relu": Mlp(hidden=(7,), activation="relu", optimizer="sgd"),
}
PAIRWISE = [name for name in LOSSES if hasattr(LOSSES[name], "truncation_level")]
CASES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in LOSSES),
    *((name, {"sigma": 2.0, "truncation_level": 3}) for name in PAIRWISE),
    *((name, {"normalization": "lightgbm"}) for name in PAIRWISE),
    *((name, {"gain": "linear"}) for name in ("lambdarank", "ndcg-loss2", "w-ranknet", "w-listmle")),
    *(("lambdarank", {"target": target}) for target in ("map", "mrr", "err", "rbp")),
    ("ndcg-loss2++", {"mu": 0.5, "discount": "reciprocal"}),
    ("ranknet", {"truncation_level": 2, "pair_selection": "all-random", "seed": 3}),
    *(("listnet", {"target": target}) for target in ("softmax", "gain-softmax")),
    *((name, {"ties": "input"}) for name in ("listmle", "w-listmle")),
]
BOUNDARIES = np.array([0, 6, 13, 21])
N_INPUTS, N_DOCUMENTS = 4, 21
STEP = 1e-5
Parameters = list[dict[str, Any]]


def combinations() -> Iterator[Any]:
    """Combine all losses and nets; LambdaRank and the linear net with default options are not `slow`."""
    for name, options in CASES:
        for net in NETS:
            is_usual = not options and (name == "lambdarank" or net == "linear")
            yield pytest.param(name, options, net, marks=() if is_usual else pytest.mark.slow)


@pytest.fixture(scope="module", autouse=True)
def _double_precision() -> Iterator[None]:
    """Compute in float64: differences of float32 have three digits."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def networks() -> dict[str, Differentiation]:
    """Each net compiled once; tests begin with other weights."""
    return {
        name: Differentiation(scorer, parameters_of(scorer, np.random.default_rng(0)), seed=1)
        for name, scorer in NETS.items()
    }


def parameters_of(scorer: NetworkScorer, generator: np.random.Generator) -> Parameters:
    """Draw weights for which the scores of all documents differ clearly."""
    sizes = (N_INPUTS, *scorer.hidden_layers, 1)
    found: Parameters = []
    for n_inputs, n_outputs in itertools.pairwise(sizes):
        layer = {
            "weights": generator.normal(size=(n_inputs, n_outputs)),
            "bias": generator.normal(size=n_outputs),
        }
        is_hidden = len(found) < len(scorer.hidden_layers)
        if is_hidden and isinstance(scorer, Mlp) and scorer.layer_norm:
            layer["norm_scales"] = 1.0 + 0.3 * generator.normal(size=n_outputs)
            layer["norm_shifts"] = generator.normal(size=n_outputs)
        found.append(layer)
    return found


def by_step(
    network: Differentiation, parameters: Parameters, inputs: Any, objective: Objective
) -> Parameters:
    """Return the gradient, measured as the change of the weights by a step of plain descent of size 1."""
    network.restart(parameters)

    def loss(scores: Any) -> Any:
        terms = objective.terms(scores, 0)
        return float(terms.value.sum()), terms.gradient

    network.step(inputs, 24, loss, 1.0, 0)
    after = network.weights()
    return [
        {name: parameters[index][name] - layer[name] for name in layer} for index, layer in enumerate(after)
    ]


def differences(value: Callable[[Parameters], float], parameters: Parameters) -> Parameters:
    """Return fourth-order central differences of a value by each weight."""

    def moved(place: int, name: str, index: Any, by: float) -> float:
        changed = [{key: array.copy() for key, array in layer.items()} for layer in parameters]
        changed[place][name][index] += by
        return value(changed)

    found = [{name: np.zeros_like(array) for name, array in layer.items()} for layer in parameters]
    for place, layer in enumerate(parameters):
        for name, array in layer.items():
            for index in np.ndindex(array.shape):
                near, far = (
                    moved(place, name, index, k * STEP) - moved(place, name, index, -k * STEP) for k in (1, 2)
                )
                found[place][name][index] = (8 * near - far) / (12 * STEP)
    return found


def frozen_value(objective: Objective, scores: Any) -> Callable[[Any], float]:
    """Return a function that gives the change of the loss from the scores to other scores.

    Weights of pairs and normalisations depend on the ranks and do not contribute to the gradient, so finite
    differences of the loss do not apply. Instead, the returned function integrates the gradient from the
    scores to other scores, by the trapezoidal rule.
    """
    there = objective.terms(scores, 0).gradient

    def value(others: Any) -> float:
        gradient = objective.terms(others, 0).gradient
        return float(((there + gradient) / 2 * (others - scores)).sum())

    return value


@pytest.mark.long
@pytest.mark.parametrize(("name", "options", "net"), list(combinations()), ids=lambda case: str(case))
def test_steps_follow_the_differences_of_the_loss(
    networks: dict[str, Differentiation], name: str, options: dict[str, Any], net: str
) -> None:
    """The gradient by each weight and bias is that of the loss by finite differences, to 1e-6."""
    generator = np.random.default_rng(len(name))
    inputs = generator.normal(size=(N_DOCUMENTS, N_INPUTS))
    labels = generator.integers(0, 4, N_DOCUMENTS).astype(float)
    objective = make_loss(name, **options).prepare(labels, BOUNDARIES)
    parameters, network = parameters_of(NETS[net], generator), networks[net]

    def scores(changed: Parameters) -> Any:
        network.restart(changed)
        return network.score(inputs, 24)

    at_start = scores(parameters)
    value = (
        frozen_value(objective, at_start)
        if options.get("normalization")
        else lambda others: float(objective.terms(others, 0).value.sum())
    )
    expected = differences(lambda changed: value(scores(changed)), parameters)
    found = by_step(network, parameters, inputs, objective)
    largest = max(np.abs(array).max() for layer in expected for array in layer.values())
    for ours, theirs in zip(found, expected, strict=True):
        for key, array in ours.items():
            np.testing.assert_allclose(array, theirs[key], rtol=1e-6, atol=1e-7 * largest, err_msg=key)


def test_keys_of_dropout_are_those_of_single_steps() -> None:
    """Keys are derived for many steps together; each equals the key derived from its step alone."""
    scorer = Mlp(hidden=(3,), dropout=0.5)
    network = Differentiation(scorer, parameters_of(scorer, np.random.default_rng(0)), seed=7)
    for number in (0, 1, 1_023, 1_024, 5_000, 3, 2**32 - 1):
        expected = jax.random.key_data(jax.random.fold_in(jax.random.key(7), number))
        np.testing.assert_array_equal(network._key_data(number), expected)
