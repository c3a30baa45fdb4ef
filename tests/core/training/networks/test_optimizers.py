"""Steps that the optimisers of networks take."""

from typing import Any

import numpy as np
import pytest

from core.data import synthetic_dataset
from core.losses import make_loss
from core.scorers import InputTransform, Network, read_model
from core.training import training_spec
from core.training.networks import train_network
from core.training.networks.batches import inputs_of


def _linear(**values: object) -> Network:
    scorer = {"kind": "linear", "epochs": 1, "batch_documents": 2**20, **values}
    spec = training_spec({"loss": {"name": "ranknet"}, "scorer": scorer})
    trained = train_network(spec, synthetic_dataset(6, seed=1, documents_per_query=7, n_features=3))
    network = read_model(trained.content)
    assert isinstance(network, Network)
    return network


def test_plain_descent_subtracts_the_mean_gradient() -> None:
    """One step of `sgd` is w − rate · Xᵀ(d loss / d score) / n_queries, as Burges et al. 2006 descended."""
    dataset = synthetic_dataset(6, seed=1, documents_per_query=7, n_features=3)
    resting, moved = (_linear(optimizer="sgd", learning_rate=rate) for rate in (1e-12, 0.01))
    before = resting.layers[0].weights[:, 0].astype(np.float64)
    transform = InputTransform.fit(dataset.features, kind="standard", log1p=False, missing_indicators=False)
    inputs = inputs_of(dataset.features, transform).astype(np.float64)
    terms = make_loss("ranknet")(inputs @ before, dataset.labels, dataset.query_boundaries)
    expected = before - 0.01 * inputs.T @ terms.gradient / dataset.n_queries
    assert moved.layers[0].weights[:, 0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("options", [{"momentum": 0.9}, {"weight_decay": 0.5}, {"gradient_clip": 1e-6}])
def test_every_option_of_descent_changes_the_steps(options: dict[str, float]) -> None:
    """Momentum, decay and clipping each give other weights than plain descent."""
    common: dict[str, Any] = {"optimizer": "sgd", "learning_rate": 0.01, "epochs": 3}
    plain, other = _linear(**common), _linear(**common, **options)
    assert not np.allclose(plain.layers[0].weights, other.layers[0].weights, rtol=1e-4, atol=0.0)
