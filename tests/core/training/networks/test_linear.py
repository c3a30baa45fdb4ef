"""Linear scorers in float64, compared with the same steps in JAX."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from core.data import synthetic_dataset
from core.scorers import Linear, Network, read_model
from core.training import training_spec
from core.training.networks import NetworkCheckpoint, train_network
from core.training.networks.linear import LinearDescent
from core.types import Float32Array, Float64Array

_DATA = synthetic_dataset(12, seed=1, documents_per_query=9, n_features=5)


def _spec(arithmetic: str, **values: Any) -> Any:
    scorer = {"kind": "linear", "epochs": 4, "batch_documents": 30, "arithmetic": arithmetic, **values}
    return training_spec({"loss": {"name": "ranknet"}, "scorer": scorer})


def _fixed(slopes: Float32Array, _: Float64Array) -> tuple[float, Float32Array]:
    return 0.0, slopes


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


@pytest.mark.parametrize("weight_decay", [0.0, 0.3])
def test_steps_of_adam_are_those_of_numpy(weight_decay: float) -> None:
    """The kernel rounds as NumPy does (Kingma and Ba 2015, algorithm 1); the bias does not decay."""
    random = np.random.default_rng(1)
    weights, first, second = random.normal(size=7), np.zeros(7), np.zeros(7)
    layer = {"weights": weights[:-1, np.newaxis], "bias": weights[-1:]}
    ones = {"weights": np.ones((6, 1)), "bias": np.ones(1)}
    descent = LinearDescent(Linear(weight_decay=weight_decay), [layer], [ones])
    decays = np.append(np.full(6, weight_decay), 0.0)
    for step in range(1, 20):
        inputs, slopes = (
            random.normal(size=(1, 6)).astype(np.float32),
            random.normal(size=1).astype(np.float32),
        )
        gradient = np.append(slopes[0].astype(np.float64) * inputs[0], slopes[0])
        first = 0.9 * first + (1.0 - 0.9) * gradient
        second = 0.999 * second + (1.0 - 0.999) * gradient**2
        moves = (first / (1.0 - 0.9**step)) / (np.sqrt(second / (1.0 - 0.999**step)) + 1e-8)
        weights = weights - 0.01 * (moves + decays * weights)
        before = descent.weights()
        descent.step(inputs, 8, partial(_fixed, slopes), 0.01, step)
        after = descent.weights()[0]
        assert np.append(after["weights"], after["bias"]).tolist() == weights.tolist()
        assert before[0]["weights"].tolist() != after["weights"].tolist()


def test_a_resumed_training_has_the_same_bytes() -> None:
    """A checkpoint in the middle, through its file, changes nothing."""
    spec, checkpoints = _spec("float64"), []
    whole = train_network(spec, _DATA, on_iteration=lambda _, take: checkpoints.append(take()))
    resumed = NetworkCheckpoint.from_bytes(checkpoints[1].to_bytes())
    assert train_network(spec, _DATA, resume=resumed).content == whole.content
