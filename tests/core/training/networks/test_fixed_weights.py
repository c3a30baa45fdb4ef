"""Weights that the training data do not determine stay unchanged."""

from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset
from core.losses import LOSSES, make_loss
from core.scorers import Network, read_model
from core.training import training_spec
from core.training.networks import train_network

CONSTANT, ABSENT = 3, 4  # columns


def _dataset() -> RankingDataset:
    """Return documents with three features that vary, one that is 7, and one that is always missing."""
    generator = np.random.default_rng(2)
    features = generator.normal(size=(400, 5)).astype(np.float32)
    features[:, CONSTANT], features[:, ABSENT] = 7.0, np.nan
    labels = np.clip(np.round(features[:, 0] + 1), 0, 3)
    return RankingDataset.from_arrays(features, labels, np.arange(0, 401, 10))


def _trained(loss: str, **scorer: Any) -> Network:
    spec = training_spec(
        {
            "loss": {"name": loss},
            "scorer": {"epochs": 5, "batch_documents": 100, "missing_indicators": True, **scorer},
        }
    )
    network = read_model(train_network(spec, _dataset()).content)
    assert isinstance(network, Network)
    return network


@pytest.mark.long
@pytest.mark.parametrize("inputs", ["none", "standard", "rank-gauss"])
@pytest.mark.parametrize(
    "scorer",
    [{"kind": "linear"}, {"kind": "mlp", "hidden": [6]}, {"kind": "mlp", "hidden": [6], "weight_decay": 0.1}],
    ids=["linear", "mlp", "decay"],
)
def test_a_feature_that_did_not_vary_in_training_moves_no_score(inputs: str, scorer: dict[str, Any]) -> None:
    """Another value of the feature changes no score, nor does any value of one that was always missing."""
    network, features = _trained("lambdarank", inputs=inputs, log1p=True, **scorer), _dataset().matrix
    expected = network.score(features)
    for column, value in ((CONSTANT, 1e6), (CONSTANT, np.nan), (ABSENT, 1e6)):
        changed = features.copy()
        changed[:, column] = value
        np.testing.assert_array_equal(network.score(changed), expected)


@pytest.mark.long
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_the_last_bias_moves_only_if_the_loss_depends_on_the_level_of_scores(optimizer: str) -> None:
    """Otherwise the gradient is 0 except for rounding errors, which Adam would turn into steps."""
    scorer = {"kind": "mlp", "hidden": [6], "optimizer": optimizer, "learning_rate": 0.01}
    for loss in ("ranknet", "listnet"):
        assert _trained(loss, **scorer).layers[-1].bias.tolist() == [0.0]
    trained = _trained("mse", **scorer)
    assert abs(trained.layers[-1].bias[0]) > 0.01
    assert all(np.any(layer.bias) for layer in _trained("ranknet", **scorer).layers[:-1])


@pytest.mark.parametrize("name", LOSSES)
def test_losses_declare_whether_a_shift_of_scores_changes_them(name: str) -> None:
    """A shift of all scores keeps the gradient of a shift-invariant loss, and the gradient's sum is 0."""
    generator, loss = np.random.default_rng(3), make_loss(name)
    scores, labels = generator.normal(size=12), generator.integers(0, 4, 12).astype(float)
    queries = np.array([0, 5, 12])
    here, higher = (loss(scores + shift, labels, queries).gradient for shift in (0.0, 4.0))
    assert np.allclose(here, higher, atol=1e-9) == loss.is_shift_invariant
    assert (abs(here.sum()) < 1e-9) == loss.is_shift_invariant
