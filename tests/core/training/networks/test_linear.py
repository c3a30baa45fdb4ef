"""Linear scorers in float64, compared with the same steps in JAX."""

from typing import Any

import numpy as np
import pytest

from core.data import synthetic_dataset
from core.scorers import Network, read_model
from core.training import training_spec
from core.training.networks import NetworkCheckpoint, train_network

_DATA = synthetic_dataset(12, seed=1, documents_per_query=9, n_features=5)


def _spec(arithmetic: str, **values: Any) -> Any:
    scorer = {"kind": "linear", "epochs": 4, "batch_documents": 30, "arithmetic": arithmetic, **values}
    return training_spec({"loss": {"name": "ranknet"}, "scorer": scorer})


def _weights(content: bytes) -> np.ndarray:
    network = read_model(content)
    assert isinstance(network, Network)
    return network.layers[0].weights[:, 0]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"optimizer": "sgd", "learning_rate": 0.05},
        {"optimizer": "sgd", "momentum": 0.9},
        {"weight_decay": 0.3},
        {"gradient_clip": 1e-3},
    ],
)
def test_steps_are_those_of_jax(options: dict[str, Any]) -> None:
    """Every optimiser and option moves the weights as optax does, up to float32's rounding."""
    ours, theirs = (
        _weights(train_network(_spec(arithmetic, **options), _DATA).content)
        for arithmetic in ("float64", "float32")
    )
    assert ours == pytest.approx(theirs, abs=2e-5)


def test_a_resumed_training_has_the_same_bytes() -> None:
    """A checkpoint in the middle, through its file, changes nothing."""
    spec, kept = _spec("float64"), []
    whole = train_network(spec, _DATA, on_iteration=lambda _, take: kept.append(take()))
    resumed = NetworkCheckpoint.from_bytes(kept[1].to_bytes())
    assert train_network(spec, _DATA, resume=resumed).content == whole.content
