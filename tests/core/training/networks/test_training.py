"""Trainings of linear scorers and networks."""

import itertools
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.data.splits import bootstrap_queries
from core.errors import InvalidInput
from core.scorers import Linear, Mlp, read_model
from core.training import TrainingSpec, training_spec
from core.training.checkpoint import CheckpointError
from core.training.networks import NetworkCheckpoint, differentiation, train_network
from core.training.networks.differentiation import Differentiation

LARGE = {"kind": "mlp", "hidden": [256, 128], "epochs": 2, "batch_documents": 3_000}
KINDS: dict[str, dict[str, Any]] = {
    "adam": {"kind": "mlp", "hidden": [8, 4]},
    "momentum": {"kind": "linear", "optimizer": "sgd", "momentum": 0.9, "learning_rate": 0.01},
    "dropout": {"kind": "mlp", "hidden": [8], "dropout": 0.3, "layer_norm": True, "weight_decay": 0.01},
    "schedule": {
        "kind": "mlp",
        "hidden": [4],
        "activation": "tanh",
        "optimizer": "sgd",
        "learning_rate": 1.0,
        "decay_on_rise": 0.8,
        "restart_epochs": 3,
        "training_cost": "metric",
    },
}


@pytest.fixture(scope="module")
def data() -> tuple[RankingDataset, RankingDataset]:
    """Sixty queries to learn from, twenty to validate on."""
    dataset = synthetic_dataset(80, seed=3, documents_per_query=10, n_features=5)
    return dataset.select_queries(range(60)), dataset.select_queries(range(60, 80))


def specification(**changes: Any) -> TrainingSpec:
    """Return a specification of LambdaRank with small batches, with some fields changed."""
    scorer = {"epochs": 20, "batch_documents": 100, **changes.pop("scorer", {"kind": "linear"})}
    return training_spec({"loss": {"name": "lambdarank"}, "metrics": ["ndcg@5"], "scorer": scorer} | changes)


@pytest.mark.long
@pytest.mark.parametrize("cuts", [1, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_training_ends_in_the_same_bytes(
    kind: str, cuts: int, data: tuple[RankingDataset, RankingDataset]
) -> None:
    """The training continues from checkpoint files of random epochs, with early stopping."""
    spec = specification(scorer=KINDS[kind], early_stopping={"metric": "ndcg@5", "rounds": 15})
    snapshots: list[bytes] = []
    whole = train_network(spec, *data, on_iteration=lambda _, take: snapshots.append(take().to_bytes()))
    epochs = np.random.default_rng(7).permutation(len(snapshots))[:cuts]
    for epoch in epochs:
        resumed = train_network(spec, *data, resume=NetworkCheckpoint.from_bytes(snapshots[epoch]))
        assert resumed.content == whole.content
        assert resumed.best_iteration == whole.best_iteration
        assert [report.values for report in resumed.history] == [report.values for report in whole.history]


@pytest.mark.long
@pytest.mark.parametrize("scorer", [KINDS["dropout"], {**LARGE, "dropout": 0.2}], ids=["small", "large"])
def test_the_number_of_threads_changes_no_byte(scorer: dict[str, Any]) -> None:
    """One and three threads train the same network."""
    dataset = synthetic_dataset(150, seed=3, documents_per_query=20, n_features=5)
    spec = specification(scorer={**scorer, "epochs": 2})
    assert len({train_network(spec, dataset, threads=threads).content for threads in (1, 3)}) == 1


_TRAIN = """
import hashlib
from core.data import synthetic_dataset
from core.training import training_spec
from core.training.networks import train_network
spec = training_spec({"loss": {"name": "lambdarank"}, "metrics": ["ndcg@5"],
                      "scorer": {"kind": "mlp", "hidden": [64, 32], "epochs": 2}})
content = train_network(spec, synthetic_dataset(60, seed=3, n_features=40), threads=2).content
digest = hashlib.sha256(content).hexdigest()
"""
_ON_ONE = "import os; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux only: choice of processors")
def test_the_number_of_processors_changes_no_byte() -> None:
    """A process on one processor trains the same network as this one: XLA has the same threads there."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two processors are needed")
    here: dict[str, Any] = {}
    exec(_TRAIN, here)
    command = [sys.executable, "-c", _ON_ONE + _TRAIN + "print(digest)"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert found.strip() == here["digest"]


def test_a_linear_scorer_with_mse_finds_least_squares() -> None:
    """The weights are those of ordinary least squares on the scaled features."""
    generator = np.random.default_rng(5)
    features = generator.normal(size=(400, 4)).astype(np.float32)
    labels = np.abs(features @ [1.0, -2.0, 0.5, 0.0] + generator.normal(scale=0.1, size=400))
    dataset = RankingDataset.from_arrays(features, labels, np.arange(0, 401, 10))
    scorer = {"kind": "linear", "epochs": 300, "batch_documents": 400, "learning_rate": 0.05}
    spec = specification(loss={"name": "mse"}, scorer={**scorer, "optimizer": "sgd"})
    network: Any = read_model(train_network(spec, dataset).content)
    scaled = np.column_stack([network.inputs(features), np.ones(400)])
    expected, *_ = np.linalg.lstsq(scaled, dataset.labels.astype(float), rcond=None)
    found = np.append(network.layers[0].weights[:, 0], network.layers[0].bias)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.long
def test_the_metric_of_the_stored_network_is_that_of_the_training(
    data: tuple[RankingDataset, RankingDataset],
) -> None:
    """On the validation data, the stored network has the metric of the best epoch."""
    from core.evaluation import measure

    trained = train_network(specification(scorer=KINDS["adam"]), *data)
    scores = read_model(trained.content).score(data[1].features)
    values = measure(scores, data[1], ["ndcg@5"])["ndcg@5"]
    best = trained.history[trained.best_iteration - 1].values["validation"]["ndcg@5"]
    assert best == max(report.values["validation"]["ndcg@5"] or 0.0 for report in trained.history)
    assert best == pytest.approx(np.nanmean(values), abs=1e-12)


def test_a_seed_decides_weights_and_batches(data: tuple[RankingDataset, RankingDataset]) -> None:
    """The same seed gives the same bytes, another seed gives other bytes."""
    one, again, other = (
        train_network(specification(scorer={**KINDS["adam"], "epochs": 2}, seed=seed), data[0]).content
        for seed in (1, 1, 2)
    )
    assert one == again != other


def test_a_query_of_weight_0_has_no_effect(data: tuple[RankingDataset, RankingDataset]) -> None:
    """A query that a bootstrap sample left out may have any features: the gradient is the same."""
    sample = bootstrap_queries(data[0], 5)
    assert sample.query_weights is not None
    rows = np.repeat(sample.query_weights == 0, np.diff(sample.query_boundaries))
    assert rows.any()
    scorer = {"kind": "linear", "inputs": "none", "epochs": 3}
    features = sample.matrix.copy()
    features[rows] += np.random.default_rng(1).normal(size=features[rows].shape)
    changed = replace(sample, features=features)
    found, expected = (
        read_model(train_network(specification(scorer=scorer), dataset).content)
        for dataset in (changed, sample)
    )
    np.testing.assert_array_equal(found.layers[0].weights, expected.layers[0].weights)  # type: ignore[attr-defined]


def test_constant_inputs_change_no_score() -> None:
    """A feature of one value in the training data is not used, whatever value it has later."""
    dataset = synthetic_dataset(20, seed=3, n_features=3)
    features = dataset.matrix.copy()
    features[:, 1] = 7.0
    trained = train_network(specification(scorer=KINDS["adam"]), replace(dataset, features=features))
    model = read_model(trained.content)
    assert model.used_features == (0, 2)
    before = model.score(features)
    features[:, 1] = 1e6
    np.testing.assert_array_equal(model.score(features), before)


def test_diverging_weights_are_an_error_of_the_learning_rate(
    data: tuple[RankingDataset, RankingDataset],
) -> None:
    """The error of a training with scores that are not finite names the learning rate."""
    scorer = {"kind": "linear", "optimizer": "sgd", "learning_rate": 100.0}
    spec = specification(loss={"name": "mse"}, scorer=scorer)
    with pytest.raises(InvalidInput, match="too high: scores were not finite in epoch") as caught:
        train_network(spec, data[0])
    assert caught.value.problems[0].pointer == "/scorer/learning_rate"


def test_weights_beyond_float32_are_refused() -> None:
    """Weights in float64 may be finite, and infinite in the stored file."""
    dataset = synthetic_dataset(20, seed=1)
    features = np.where(dataset.features[:, :2] > 0.0, np.float32(1e30), np.float32(-1e30))
    scorer = {"kind": "linear", "inputs": "none", "optimizer": "sgd", "learning_rate": 1.0, "epochs": 1}
    spec = training_spec({"loss": {"name": "rankboost"}, "scorer": scorer | {"batch_documents": 2**20}})
    huge = RankingDataset.from_arrays(features, dataset.labels, dataset.query_boundaries)
    with pytest.raises(InvalidInput, match="1 is too high: weights were not finite in epoch 1"):
        train_network(spec, huge)


def test_early_stopping_needs_validation_data(data: tuple[RankingDataset, RankingDataset]) -> None:
    """Without validation data there is no metric to stop on."""
    spec = specification(early_stopping={"metric": "ndcg@5", "rounds": 3})
    with pytest.raises(InvalidInput, match="needs validation data"):
        train_network(spec, data[0])
    stopped = train_network(spec, *data)
    assert len(stopped.history) <= stopped.best_iteration + 3


def test_categories_are_refused() -> None:
    """A network reads numbers; the problem names the features."""
    dataset = RankingDataset.from_arrays(
        [[0.0], [1.0]], [0, 1], [0, 2], feature_names=["shop"], categories={"shop": ["a", "b"]}
    )
    with pytest.raises(InvalidInput, match="these features are categorical: shop"):
        train_network(specification(), dataset)


def test_validation_data_has_the_same_features(data: tuple[RankingDataset, RankingDataset]) -> None:
    """Other numbers of features are refused."""
    with pytest.raises(InvalidInput, match="has 3 features, the training data 5"):
        train_network(specification(), data[0], synthetic_dataset(5, seed=1, n_features=3))


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-40],
        lambda _: b"",
        lambda content: content.replace(b'"jaxlib": "', b'"jaxlib": "9'),
    ],
)
def test_a_damaged_checkpoint_is_refused(change: Any, data: tuple[RankingDataset, RankingDataset]) -> None:
    """Shortened files, empty files and files of another version of JAX raise `CheckpointError`."""
    snapshots: list[bytes] = []
    spec = specification(scorer={"kind": "linear", "epochs": 1})
    train_network(spec, data[0], on_iteration=lambda _, take: snapshots.append(take().to_bytes()))
    NetworkCheckpoint.from_bytes(snapshots[0])
    with pytest.raises(CheckpointError):
        NetworkCheckpoint.from_bytes(change(snapshots[0]))


@pytest.mark.long
def test_a_training_can_be_ended_between_batches(data: tuple[RankingDataset, RankingDataset]) -> None:
    """An exception of `check` ends the preparation, an epoch, or the measurement of metrics."""
    called = 0

    def count() -> None:
        nonlocal called
        called += 1

    train_network(specification(scorer={"kind": "linear", "epochs": 1}), *data, check=count)
    # 600 documents are 6 batches, learnt and scored; the rest are blocks of features.
    assert called >= 6 + 6 + 1
    for last in range(called):
        remaining_checks = iter(range(last))

        def stop(remaining_checks: Any = remaining_checks) -> None:
            next(remaining_checks)

        with pytest.raises(StopIteration):
            train_network(specification(scorer={"kind": "linear", "epochs": 1}), *data, check=stop)


def test_equal_networks_are_compiled_once(data: tuple[RankingDataset, RankingDataset]) -> None:
    """Step size and data do not change the code, constant inputs do; the bytes stay the same."""
    training, validation = data
    compiled = differentiation._functions
    compiled.cache_clear()
    net = {"kind": "mlp", "hidden": [4], "epochs": 2}
    first = train_network(specification(scorer=net), training, validation).content
    train_network(specification(scorer={**net, "learning_rate": 0.1}), validation, training)
    assert compiled.cache_info().misses == 1
    features = training.matrix.copy()
    features[:, 0] = 1.0
    train_network(specification(scorer=net), replace(training, features=features), validation)
    assert compiled.cache_info().misses == 2
    assert train_network(specification(scorer=net), training, validation).content == first


@pytest.mark.long
@pytest.mark.parametrize("scorer", [Linear(optimizer="sgd"), Linear(), Mlp(dropout=0.5)])
def test_rows_of_padding_change_no_step(scorer: Any) -> None:
    """A batch that is filled up to more rows gives the same step, dropout aside."""
    inputs = np.random.default_rng(1).normal(size=(10, 3)).astype(np.float32)
    sizes = (3, *scorer.hidden_layers, 1)
    weights = [
        {"weights": np.full((n, m), 0.1, np.float32), "bias": np.zeros(m, np.float32)}
        for n, m in itertools.pairwise(sizes)
    ]
    without = replace(scorer, dropout=0.0) if isinstance(scorer, Mlp) else scorer
    found = []
    for size in (16, 24):
        network = Differentiation(without, weights, seed=1)
        network.step(inputs, size, lambda scores: (0.0, np.ones(len(scores), np.float32)), 0.1, 0)
        found.append(network.weights())
    for one, other in zip(*found, strict=True):
        for name in one:
            np.testing.assert_allclose(one[name], other[name], rtol=1e-5)
