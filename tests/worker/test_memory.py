"""Data larger than a job's memory: the required memory is reported, and data stays in files."""

from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.data import features as matrices
from core.training import bin_edges
from tests.core.data.mapped import is_mapped
from tests.worker.inline_worker import InlineWorker
from worker import WorkerSettings
from worker.job.caches import Caches
from worker.job.datasets import load_dataset

TRAINING = {"validation": {"fraction": 0.3}, "test": {"fraction": 0.3}}


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """Two thousand documents."""
    return synthetic_dataset(100, seed=1, documents_per_query=20, n_features=6)


def train(inline_worker: InlineWorker, dataset_id: str, **spec: Any) -> Any:
    """Run a training."""
    return inline_worker.run(
        "train", dataset_id, model_name="web", loss={"name": "lambdarank"}, metrics=["ndcg@5"], **spec
    )


def test_a_training_beyond_the_memory_limit_is_refused_before_it_begins(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """The problem has the required memory and the limit."""
    job = train(inline_worker, inline_worker.add(dataset, "d1"), limits={"memory_bytes": 2**20})
    assert (job.status, job.problem["title"]) == ("failed", "Memory limit")
    assert job.problem["detail"].startswith("This training needs about ")
    assert ". The job's limit is 1 MiB. Raise RANKERY_JOB_MEMORY_BYTES" in job.problem["detail"]
    assert job.progress["phase"] == "loading"


@pytest.mark.long
def test_binning_is_part_of_the_progress(
    inline_worker: InlineWorker, dataset: RankingDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The progress of the binning is reported before the first tree."""
    monkeypatch.setattr(bin_edges, "_BATCH_CELLS", 6 * 500)
    reported: list[tuple[int, int]] = []

    def counting_percent(run: Any, phase: str) -> Any:
        assert phase == "binning"
        return lambda done, total: reported.append((done, total))

    monkeypatch.setattr("worker.runners.fitting.counting_percent", counting_percent)
    assert train(inline_worker, inline_worker.add(dataset, "d1"), **TRAINING).status == "succeeded"
    # 980 documents train and 420 validate; the binning of all 1,400 is reported as a separate phase.
    assert reported == [(500, 1_400), (980, 1_400)]


@pytest.mark.long
def test_features_in_files_give_the_same_results(
    inline_worker: InlineWorker,
    dataset: RankingDataset,
    settings: WorkerSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A memory-mapped matrix yields the same model and metrics, byte for byte."""
    without_caches = settings.model_copy(update={"array_cache_bytes": 0, "binned_cache_bytes": 0})
    small = InlineWorker(inline_worker.store, without_caches)
    dataset_id = small.add(dataset, "d1")
    in_memory = train(small, dataset_id, **TRAINING)
    monkeypatch.setattr(matrices, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(matrices, "_BLOCK_CELLS", 100)
    loaded = load_dataset(inline_worker.store, Caches.of(without_caches), dataset_id).dataset
    assert is_mapped(loaded.features)
    mapped = train(small, dataset_id, **TRAINING)
    assert small.model_text(mapped.result) == small.model_text(in_memory.result)
    assert mapped.metrics == in_memory.metrics
    np.testing.assert_array_equal(loaded.matrix, dataset.matrix)
