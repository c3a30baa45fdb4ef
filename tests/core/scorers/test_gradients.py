"""Integrated gradients of networks."""

from typing import Any

import numpy as np
import pytest

from core.scorers import ACTIVATIONS, Network
from core.scorers.explainability import explainability_of
from core.scorers.gradients import (
    TOLERANCE,
    IntegratedGradients,
    IntegrationPath,
    explanation_steps,
    packed_transposed,
)
from core.scorers.kernels import BLOCK
from core.types import Float64Array
from tests.core.scorers.networks import plain_score_of_inputs, random_features, random_network

HIDDEN = ((3,), (40,), (17, 9), (33, 40, 8))


def _integration_path(network: Network, inputs: Float64Array) -> IntegrationPath:
    first = network.layers[0].weights
    slopes = np.zeros(network.packed.layout[0, 2])
    slopes[: first.shape[1]] = inputs @ first.astype(np.float64)
    return IntegrationPath(network, packed_transposed(network), slopes)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("hidden", HIDDEN)
def test_gradients_are_those_of_finite_differences(
    hidden: tuple[int, ...], layer_norm: bool, activation: str
) -> None:
    """Gradients by the sums of the first layer are compared with differences of the fourth order."""
    network = random_network(6, hidden, activation=activation, layer_norm=layer_norm, seed=4)
    inputs = np.random.default_rng(1).normal(size=6)
    points = np.linspace(0.05, 0.95, BLOCK)
    scores, gradients = _integration_path(network, inputs).evaluated(points)
    rows = points[:, np.newaxis] * inputs
    np.testing.assert_allclose(scores, plain_score_of_inputs(network, rows), rtol=1e-12, atol=1e-13)
    sums = rows @ network.layers[0].weights.astype(np.float64)
    for unit in range(hidden[0]):
        by_step = [_scores_after_step(network, sums, unit, step) for step in (-2e-4, -1e-4, 1e-4, 2e-4)]
        expected = (by_step[0] - 8 * by_step[1] + 8 * by_step[2] - by_step[3]) / (12 * 1e-4)
        off = np.abs(gradients[:, unit] - expected) > 1e-7 * (1 + np.abs(expected))
        # relu has no derivative at 0, where the difference covers both sides.
        assert off.mean() <= (0.05 if activation == "relu" else 0)


def _scores_after_step(network: Network, sums: Float64Array, unit: int, step: float) -> Float64Array:
    """Return the scores after adding a step to the first layer's sums of one unit."""
    moved = sums.copy()
    moved[:, unit] += step
    first, *others = network.layers
    identity = type(first)(
        np.eye(len(first.bias), dtype=np.float32), first.bias, first.norm_scales, first.norm_shifts
    )
    behind = Network(network.feature_names, network.inputs, (identity, *others), network.activation)
    return plain_score_of_inputs(behind, moved)


@pytest.mark.long
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("layer_norm", [False, True])
def test_contributions_are_those_of_jax(layer_norm: bool, activation: str) -> None:
    """Automatic differentiation at 2,000 points of the path gives the same integrals."""
    jax = pytest.importorskip("jax", reason="JAX is not installed: make develop")
    from core.training.networks.differentiation import scores_of

    network = random_network(7, (20, 12), activation=activation, layer_norm=layer_norm, seed=2)
    features = random_features(4, 7, seed=2, missing=0)
    inputs = network.inputs(features)
    with jax.enable_x64(True):
        parameters = [_parameters(layer) for layer in network.layers]
        gradient = jax.jit(jax.grad(lambda rows: scores_of(parameters, rows, activation).sum()))
        points = (np.arange(2_000) + 0.5) / 2_000
        means = np.stack([np.asarray(gradient(points[:, np.newaxis] * row)).mean(axis=0) for row in inputs])
    _, contributions = IntegratedGradients(network).explain(features)
    np.testing.assert_allclose(contributions, inputs * means, atol=5e-4 * np.abs(inputs * means).max())


def _parameters(layer: Any) -> dict[str, Float64Array]:
    return {name: np.asarray(value, np.float64) for name, value in vars(layer).items() if value is not None}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("kind", ["standard", "rank-gauss"])
def test_base_and_contributions_add_up_to_the_score(
    hidden: tuple[int, ...], layer_norm: bool, activation: str, kind: str
) -> None:
    """The tolerance is relative to the variation of the score, also far beyond the training data."""
    network = random_network(
        8, hidden, activation=activation, layer_norm=layer_norm, kind=kind, missing_indicators=True
    )
    features = random_features(12, 8, seed=9)
    features[::3] *= 1_000
    base, contributions = IntegratedGradients(network).explain(features)
    assert contributions.shape == (12, 8)
    steps = np.linspace(0, 1, 1_000)[:, np.newaxis]
    for row, total in zip(features, base + contributions.sum(axis=1), strict=True):
        on_path = plain_score_of_inputs(network, steps * network.inputs(row[np.newaxis]))
        assert abs(total - on_path[-1]) <= 1.01 * TOLERANCE * np.abs(np.diff(on_path)).sum() + 1e-12


def test_a_linear_scorer_is_explained_exactly() -> None:
    """A feature adds its input times its weight, the indicator of its missing value included."""
    network = random_network(5, missing_indicators=True)
    features = random_features(40, 5, seed=3, missing=0.3)
    base, contributions = IntegratedGradients(network).explain(features)
    weights = network.layers[0].weights[:, 0].astype(np.float64)
    expected = network.inputs(features) * weights
    np.testing.assert_array_equal(contributions, expected[:, :5] + expected[:, 5:])
    np.testing.assert_array_equal(base, np.full(40, np.float64(network.layers[0].bias[0])))
    np.testing.assert_allclose(base + contributions.sum(axis=1), network.score(features), rtol=1e-13)


def test_the_baseline_has_no_contributions() -> None:
    """The base is the score of the baseline, and of a document without any known feature."""
    network = random_network(5, (6,))
    centre = network.inputs.means.astype(np.float32)
    base, contributions = IntegratedGradients(network).explain(np.stack([centre, np.full(5, np.nan)]))
    np.testing.assert_allclose(contributions, 0, atol=1e-6)
    assert (contributions[1] == 0).all()
    assert base[1] == network.score(np.full((1, 5), np.nan))[0]


def test_an_explanation_does_not_depend_on_the_documents_beside_it() -> None:
    """The contributions are equal bit for bit."""
    network = random_network(5, (20, 9), layer_norm=True)
    features = random_features(9, 5)
    explained = IntegratedGradients(network)
    base, contributions = explained.explain(features)
    for rows in ([3], [8, 0], list(range(9))):
        np.testing.assert_array_equal(explained.explain(features[rows])[1], contributions[rows])
    assert explained.explain(features[:0])[1].shape == (0, 5)
    assert explained.base == base[0]


def test_steps_grow_with_the_network() -> None:
    """The limit of a request is a number of steps; a linear scorer takes fewer than 10."""
    linear, small, large = random_network(136), random_network(136, (10,)), random_network(136, (128, 128))
    assert explanation_steps(linear) < 10 < explanation_steps(small) < explanation_steps(large)
    assert explanation_steps(large) * 200 < 2**31  # 200 documents may be in one request
    found = explainability_of(large)
    assert (found.problem, found.steps) == (None, explanation_steps(large))
