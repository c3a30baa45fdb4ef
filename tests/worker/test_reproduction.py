"""Reproductions of trainings."""

from typing import Any

import pytest

from app.models.distillation import reproduction
from core.data import synthetic_dataset
from core.errors import WrongState
from core.store.artifacts.keys import model_key
from tests.purging import purge
from tests.worker.inline_worker import InlineWorker

DATASET = synthetic_dataset(30, seed=1, documents_per_query=10, n_features=4)


@pytest.fixture
def trained(inline_worker: InlineWorker) -> InlineWorker:
    """A worker whose store has version 1 of `web`, trained with all kinds of random sampling.

    Its test dataset has been deleted since.
    """
    train_id = inline_worker.add(DATASET, "train")
    test_id = inline_worker.add(DATASET.select_queries(range(5)), "test")
    inline_worker.training_result(
        train_id,
        test_dataset_id=test_id,
        validation={"fraction": 0.2},
        hyperparameters={"num_iterations": 6, "num_leaves": 7, "bagging_fraction": 0.6, "bagging_freq": 1},
        diagnostics={"interval": 2, "cutoff": 5},
        bootstrap=True,
        seed=5,
    )
    with inline_worker.store.begin() as tx:
        purge(tx, "dataset", test_id)
    return inline_worker


def _reproduce(inline_worker: InlineWorker) -> dict[str, Any]:
    with inline_worker.store.begin() as tx:
        job_id = tx.enqueue(reproduction(tx, tx.models.resolve("web"))).id
    job = inline_worker.run_queued(job_id)
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    return job.result


def test_a_reproduction_yields_the_same_bytes(trained: InlineWorker) -> None:
    """A reproduction works without caches and the test dataset, and creates no model."""
    settings = trained.settings.model_copy(update={"array_cache_bytes": 0, "binned_cache_bytes": 0})
    result = _reproduce(InlineWorker(trained.store, settings))
    with trained.store.read() as tx:
        (model,) = tx.models.page(None, 10).items
    assert (result["equal"], result["differences"]) == (True, [])
    assert result["sha256"] == result["expected_sha256"] == result["stored_sha256"] == model.sha256


@pytest.mark.long
def test_a_network_is_trained_again_to_the_same_bytes(inline_worker: InlineWorker) -> None:
    """The lineage has the scorer and the versions of the libraries that trained the network."""
    scorer = {"kind": "mlp", "hidden": [6], "epochs": 4, "dropout": 0.2, "missing_indicators": True}
    inline_worker.training_result(
        inline_worker.add(DATASET, "train"), scorer=scorer, hyperparameters={}, seed=5
    )
    result = _reproduce(inline_worker)
    assert (result["equal"], result["differences"]) == (True, [])
    with inline_worker.store.read() as tx:
        model = tx.models.resolve("web")
    assert model.lineage is not None
    assert {"jax", "jaxlib", "optax"} <= model.lineage["libraries"].keys()
    assert model.scorer is not None
    assert model.scorer.items() >= model.lineage["spec"]["scorer"].items() == scorer.items()
    assert model.explanation is not None
    assert model.explanation["problem"] is None


def test_a_changed_model_text_is_not_equal(trained: InlineWorker) -> None:
    """The training yields the recorded bytes, which then replace the changed text."""
    with trained.store.read() as tx:
        key = model_key(tx.models.resolve("web").id)
    good = trained.store.artifacts.read_bytes(key)
    trained.store.artifacts.write_bytes(key, good + b"\n")
    result = _reproduce(trained)
    assert trained.store.artifacts.read_bytes(key) == good
    assert not result["equal"]
    assert result["sha256"] == result["expected_sha256"] != result["stored_sha256"]


def test_differences_from_the_lineage_are_named(trained: InlineWorker) -> None:
    """Differences name libraries, the type of processor, and datasets by role."""
    with trained.store.begin() as tx:
        model = tx.models.resolve("web")
        assert model.lineage is not None
        datasets = {**model.lineage["datasets"], "train": {"id": "ds_1", "digest": "other", "sha256": None}}
        libraries = {**model.lineage["libraries"], "numpy": "1.0"}
        changed = {"datasets": datasets, "libraries": libraries, "processor": "znver1"}
        model.lineage = {**model.lineage, **changed}
        model.sha256 = "0" * 64
    result = _reproduce(trained)
    assert not result["equal"]
    what = [difference["what"] for difference in result["differences"]]
    assert what == ["train dataset digest", "numpy", "processor"]
    assert [difference["then"] for difference in result["differences"][1:]] == ["1.0", "znver1"]


def test_a_model_without_a_lineage_is_trained_from_its_job(trained: InlineWorker) -> None:
    """The bytes are equal; the differences are unknown without a lineage."""
    with trained.store.begin() as tx:
        tx.models.resolve("web").lineage = None
    result = _reproduce(trained)
    assert (result["equal"], result["differences"]) == (True, None)


def test_a_model_without_its_data_cannot_be_trained_again(trained: InlineWorker) -> None:
    """The error names the deleted dataset."""
    with trained.store.begin() as tx:
        model = tx.models.resolve("web")
        purge(tx, "dataset", str(model.dataset_id))
        with pytest.raises(WrongState, match=f"{model.dataset_id} was deleted"):
            reproduction(tx, model)
