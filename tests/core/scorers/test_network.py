"""Scores of linear scorers and networks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.data.features import SelectedFeatures
from core.errors import ModelError
from core.scorers import ACTIVATIONS, Layer, Network
from core.scorers.network import MIN_PARALLEL_DOCUMENTS
from tests.core.scorers.networks import plain_score, random_features, random_network
from tests.examples import examples

KINDS = ("standard", "rank-gauss", "none")


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("hidden", [(), (1,), (10,), (8, 8), (33, 40), (70, 32, 5), (300, 7)])
def test_scores_are_those_of_matrix_products(
    hidden: tuple[int, ...], layer_norm: bool, activation: str
) -> None:
    """Layers may be narrower than a tile, or have several tiles or several chunks of inputs."""
    network = random_network(9, hidden, activation=activation, layer_norm=layer_norm)
    features = random_features(71, 9, seed=1)
    np.testing.assert_allclose(
        network.score(features), plain_score(network, features), rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("log1p", [False, True])
@pytest.mark.parametrize("indicators", [False, True])
def test_scores_equal_those_of_numpy(kind: str, log1p: bool, indicators: bool) -> None:
    """Scores of missing and infinite values equal NumPy's, also for documents of 300 features."""
    features = random_features(20, 300, seed=2)
    if kind == "none":
        features = np.clip(features, -50, 50)
    network = random_network(300, (20,), kind=kind, log1p=log1p, missing_indicators=indicators)
    np.testing.assert_allclose(
        network.score(features), plain_score(network, features), rtol=1e-12, atol=1e-12
    )


@pytest.mark.long
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("hidden", [(), (33, 20)])
def test_scores_are_those_of_jax(hidden: tuple[int, ...], activation: str) -> None:
    """The layers of training and serving are the same, except for rounding."""
    jax = pytest.importorskip("jax", reason="JAX is not installed: make develop")
    from core.training.networks.differentiation import scores_of

    network = random_network(9, hidden, activation=activation, layer_norm=True)
    features = random_features(30, 9, seed=1)
    parameters = [
        {name: np.asarray(array, np.float64) for name, array in vars(layer).items() if array is not None}
        for layer in network.layers
    ]
    with jax.enable_x64(True):
        scores = scores_of(parameters, network.inputs(features), activation)
    np.testing.assert_allclose(network.score(features), np.asarray(scores), rtol=1e-12, atol=1e-13)


@settings(max_examples=examples(60))
@given(
    st.integers(1, 40),
    st.lists(st.integers(1, 80), max_size=3),
    st.sampled_from(ACTIVATIONS),
    st.booleans(),
    st.lists(st.integers(0, 149), min_size=1, max_size=20),
)
def test_a_score_does_not_depend_on_the_documents_beside_it(
    n_features: int, hidden: list[int], activation: str, layer_norm: bool, rows: list[int]
) -> None:
    """A document has the same score, bit for bit, alone and at any place of any batch."""
    network = random_network(n_features, tuple(hidden), activation=activation, layer_norm=layer_norm)
    features = random_features(150, n_features, seed=3)
    np.testing.assert_array_equal(network.score(features)[rows], network.score(features[rows]))


def test_a_score_does_not_depend_on_threads() -> None:
    """Scores are equal bit for bit, for an array and for a selection of all its rows."""
    network = random_network(5, (20, 10), layer_norm=True)
    features = random_features(3 * MIN_PARALLEL_DOCUMENTS + 17, 5)
    selected = SelectedFeatures(features, np.arange(len(features)), np.arange(5))
    expected = network.score(features)
    for threads in (1, 2, 7):
        np.testing.assert_array_equal(network.score(features, threads), expected)
        np.testing.assert_array_equal(network.score(selected, threads), expected)
    assert network.score(features[:0]).shape == (0,)


def test_features_are_rounded_to_float32() -> None:
    """Features are rounded as training data are: float64 scores as float32, in any order of memory."""
    network = random_network(6, (12,))
    precise = np.random.default_rng(0).normal(size=(30, 6))
    precise[3, 2], precise[4, 1] = 1e300, np.nan
    with np.errstate(over="ignore"):
        rounded = precise.astype(np.float32)
    expected = network.score(rounded)
    for same in (precise, np.asfortranarray(precise), np.asfortranarray(rounded), rounded[::-1][::-1]):
        np.testing.assert_array_equal(network.score(same), expected)
    rounded.flags.writeable = False
    np.testing.assert_array_equal(network.score(rounded), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_are_not_finite_are_missing(kind: str) -> None:
    """NaN, both infinities and values beyond float32 become 0, and their indicator is 1."""
    network = random_network(3, (4,), kind=kind, missing_indicators=True)
    assert len(network.inputs.indicators)
    rows = np.zeros((4, 3))
    rows[:, 1] = np.nan, np.inf, -np.inf, 1e39
    assert len(set(network.score(rows).tolist())) == 1
    inputs = network.inputs(rows)
    assert (inputs[:, 1] == 0).all()
    assert (inputs[:, 3 + network.inputs.indicators.tolist().index(1)] == 1).all()


def test_another_number_of_features_is_refused() -> None:
    """The kernel would read beyond the end of a document."""
    network = random_network(3)
    for shape in ((2, 4), (2, 2), (3,)):
        with pytest.raises(ModelError, match="needs 3 features"):
            network.score(np.zeros(shape, np.float32))


def test_used_features_are_those_with_a_weight() -> None:
    """A feature is used, too, if only its indicator has a weight."""
    network = random_network(4, missing_indicators=True)
    assert network.inputs.indicators.tolist() == [0, 1, 2, 3]
    weights = np.zeros((8, 1), np.float32)
    weights[[1, 7]] = 1
    sparse = Network(network.feature_names, network.inputs, (Layer(weights, network.layers[0].bias),))
    assert sparse.used_features == (1, 3)
    features, changed = random_features(9, 4), random_features(9, 4)
    changed[:, [0, 2]] = 7
    np.testing.assert_array_equal(sparse.score(features), sparse.score(changed))


@pytest.mark.parametrize("kind", KINDS)
def test_the_terms_of_a_linear_scorer_add_up_to_its_scores(kind: str) -> None:
    """Each term reads one feature, with its indicator."""
    network, features = random_network(4, kind=kind, missing_indicators=True), random_features(50, 4)
    terms = [network.term(feature).score(features[:, [feature]]) for feature in range(4)]
    expected = network.score(features) - float(network.layers[0].bias[0])
    np.testing.assert_allclose(np.sum(terms, axis=0), expected, rtol=1e-12, atol=1e-12)


def test_a_network_counts_its_parameters_and_steps() -> None:
    """A network without hidden layers is linear; the steps grow with the number of parameters."""
    assert (random_network(3).kind, random_network(3, (2,)).kind) == ("linear", "mlp")
    assert random_network(3, (2,)).n_parameters == 3 * 2 + 2 + 2 + 1
    assert random_network(136, (128, 128)).steps > random_network(136, (16,)).steps >= 1
    assert random_network(3).categories == {}
