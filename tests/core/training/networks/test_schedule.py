"""The papers' schedule: a lower learning rate after a rise, new weights where the cost stays high."""

from typing import Any

import numpy as np
import pytest

from core.data import synthetic_dataset
from core.scorers import Linear, Mlp, read_network
from core.training import training_spec
from core.training.networks import NetworkCheckpoint, train_network
from core.training.networks.batches import Schedule
from core.training.networks.initialization import drawn_weights


def test_the_learning_rate_falls_when_the_cost_rises() -> None:
    """Each rise over the previous epoch multiplies the rate by the paper's factor, 0.8."""
    schedule = Schedule(Linear(learning_rate=1.0, decay_on_rise=0.8), 1.0)
    rates = []
    for cost in (5.0, 4.0, 4.5, 4.4, 4.4, 6.0):
        assert not schedule.record_epoch(cost)
        rates.append(schedule.learning_rate)
    np.testing.assert_allclose(rates, [1.0, 1.0, 0.8, 0.8, 0.8, 0.8**2])


def test_weights_are_drawn_again_after_epochs_without_a_lower_cost() -> None:
    """Epochs are counted from the lowest cost; afterwards rate and costs restart."""
    schedule = Schedule(Linear(learning_rate=1.0, decay_on_rise=0.5, restart_epochs=3), 1.0)
    assert [schedule.record_epoch(cost) for cost in (5.0, 4.0, 4.5, 4.2, 4.1)] == [False] * 4 + [True]
    assert (schedule.learning_rate, schedule.restarts, schedule.costs) == (1.0, 1, ())
    assert [schedule.record_epoch(cost) for cost in (9.0, 8.0, 7.0, 7.0, 7.0, 7.0)] == [False] * 5 + [True]


def test_an_epoch_that_was_not_measured_counts_for_nothing() -> None:
    """With `training_cost` `metric` and a `metric_interval`, only measured epochs count."""
    schedule = Schedule(Linear(restart_epochs=1), 1.0)
    assert [schedule.record_epoch(cost) for cost in (5.0, None, None, 6.0)] == [False, False, False, True]


@pytest.mark.parametrize("cost", ["loss", "metric"])
def test_a_training_follows_the_schedule(cost: str) -> None:
    """Learning rates and restarts in the checkpoints follow from the costs in the history."""
    scorer: dict[str, Any] = {
        "kind": "mlp",
        "hidden": [3],
        "optimizer": "sgd",
        "learning_rate": 2.0,
        "decay_on_rise": 0.8,
        "restart_epochs": 2,
        "epochs": 25,
        "batch_documents": 50,
        "training_cost": cost,
    }
    spec = training_spec({"loss": {"name": "lambdarank"}, "metrics": ["ndcg@5"], "scorer": scorer})
    taken: list[NetworkCheckpoint] = []
    trained = train_network(
        spec,
        synthetic_dataset(20, seed=3, documents_per_query=10, n_features=4),
        on_iteration=lambda _, take: taken.append(take()),
    )
    expected = Schedule(Mlp(learning_rate=2.0, decay_on_rise=0.8, restart_epochs=2), 2.0)
    for report, checkpoint in zip(trained.history, taken, strict=True):
        measured = report.values["train"]
        value = measured["loss"] if cost == "loss" else measured["ndcg@5"]
        assert value is not None
        expected.record_epoch(value if cost == "loss" else -value)
        assert checkpoint.learning_rate == expected.learning_rate
        assert checkpoint.restarts == expected.restarts
    assert expected.restarts > 0
    restarted = next(each for each in taken if each.restarts == 1)
    fresh = drawn_weights(spec.scorer, np.ones(4, bool), spec.seed, 1)  # type: ignore[arg-type]
    for layer, drawn in zip(restarted.weights, fresh, strict=True):
        np.testing.assert_array_equal(layer["weights"], drawn["weights"])


def test_the_last_epoch_keeps_its_weights() -> None:
    """A model without validation data is never the new weights of an epoch that is not trained."""
    scorer = {"kind": "linear", "optimizer": "sgd", "learning_rate": 2.0, "restart_epochs": 2, "epochs": 5}
    spec = training_spec({"loss": {"name": "lambdarank"}, "scorer": scorer | {"batch_documents": 50}})
    taken: list[NetworkCheckpoint] = []
    dataset = synthetic_dataset(20, seed=3, documents_per_query=10, n_features=4)
    trained = train_network(spec, dataset, on_iteration=lambda _, take: taken.append(take()))
    assert taken[-1].restarts == 1, "the cost has not fallen for two epochs"
    fresh = drawn_weights(spec.scorer, np.ones(4, bool), spec.seed, 1)  # type: ignore[arg-type]
    assert not np.array_equal(read_network(trained.content).layers[0].weights, fresh[0]["weights"])


def test_drawn_weights_lie_within_their_bounds() -> None:
    """Bounds are ±√(6 / n) before relu, else ±√(6 / (n + m)); weights of constant inputs are 0."""
    varies = np.array([True] * 50 + [False])
    for scorer, bounds in (
        (Mlp(hidden=(200,)), (np.sqrt(6 / 51), np.sqrt(6 / 201))),
        (Mlp(hidden=(200,), activation="tanh"), (np.sqrt(6 / 251), np.sqrt(6 / 201))),
        (Linear(), (np.sqrt(6 / 52),)),
    ):
        for layer, bound in zip(drawn_weights(scorer, varies, 1, 0), bounds, strict=True):
            largest = np.abs(layer["weights"]).max()
            assert 0.9 * bound < largest <= np.float32(bound)
            assert not layer["bias"].any()
        assert not drawn_weights(scorer, varies, 1, 0)[0]["weights"][-1].any()
