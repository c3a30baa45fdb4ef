"""Traffic of ranks while a tree grows, to the byte."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset
from core.training import TrainingSpec, training_spec
from core.training.bin_edges import bin_edges
from core.training.grower import lightgbm_parameters
from tests.worker.ranks.threads import on_ranks
from worker.ranks.collectives import FAILED, Collectives
from worker.ranks.shard_training import ShardTraining

BIN_BYTES = 16  # the sums of gradients and of hessians, as float64
LARGEST_BYTES = 16  # the largest gradient and the largest hessian
TOTALS_BYTES = 24  # documents, gradients and hessians of the root
N_TREES = 3


@pytest.mark.parametrize("n_ranks", [2, 3, 5])
@pytest.mark.parametrize("hyperparameters", [{}, {"max_cat_threshold": 5, "num_leaves": 7}], ids=str)
def test_bytes_of_a_tree_are_those_of_the_formula(
    hyperparameters: dict[str, Any], n_ranks: int, tmp_path: Path
) -> None:
    """Ranks sum one histogram of the root, and one of the smaller child of each split but the last."""
    dataset = _dataset()
    spec = _spec(hyperparameters)
    results = on_ranks(spec, dataset, n_ranks, tmp_path, _sent)
    searched = spec.hyperparameters.num_leaves - 1  # the leaves that are searched for a split
    summed = searched * _histogram_bins(spec, dataset) * BIN_BYTES * (n_ranks - 1)
    split_bytes = 94 + 4 * spec.hyperparameters.max_cat_threshold
    others = (n_ranks - 1) * (LARGEST_BYTES + TOTALS_BYTES + searched * 2 * split_bytes)
    for tree in range(N_TREES):
        rows = [sent[tree] for sent, _ in results]
        assert sum(row["summed"] for row in rows) == summed
        assert [row["sent"] - row["summed"] for row in rows] == [others] * n_ranks
        assert {row["rounds"] for row in rows} == {2 + 2 * searched}
    assert {leaves for _, leaves in results} == {(spec.hyperparameters.num_leaves,) * N_TREES}


def test_ranks_send_about_equal_numbers_of_bytes(tmp_path: Path) -> None:
    """LightGBM distributes the features by their bins, so that each rank sends (N − 1)/N of a histogram."""
    random = np.random.default_rng(1)
    features, labels = random.standard_normal((1_200, 40), np.float32), random.integers(0, 5, 1_200)
    dataset = RankingDataset.from_arrays(features, labels.astype(np.float32), np.arange(0, 1_201, 20))
    spec = _spec({})
    results = on_ranks(spec, dataset, 3, tmp_path, _sent)
    each = 14 * _histogram_bins(spec, dataset) * BIN_BYTES * 2 / 3
    for sent, _ in results:
        assert sent[-1]["sent"] == pytest.approx(each, rel=0.05)


_FAILING = """
import ctypes
from core.process_start import leave_out_unused
leave_out_unused()
from worker.ranks.collectives import Collectives

def swap(blocks):
    raise MemoryError("no memory for the blocks")

_, allgather = Collectives(0, 2, swap)._functions
block, sizes = ctypes.create_string_buffer(16), (ctypes.c_int32 * 2)(8, 8)
allgather(ctypes.addressof(block), 8, (ctypes.c_int32 * 2)(0, 8), sizes, 2, ctypes.addressof(block), 16)
print("LightGBM goes on with another sum")
"""


def test_an_error_in_a_collective_operation_ends_the_rank() -> None:
    """Python ignores errors of functions that C calls, so LightGBM would sum wrong histograms."""
    ended = subprocess.run([sys.executable, "-c", _FAILING], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout) == (FAILED, "")
    assert "no memory for the blocks" in ended.stderr


def _spec(hyperparameters: dict[str, Any]) -> TrainingSpec:
    every = {"num_iterations": N_TREES, "num_leaves": 15, "min_data_in_leaf": 1}
    return training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": {**every, **hyperparameters}})


def _dataset() -> RankingDataset:
    """Features with many and with few bins; one feature is never negative, and one is constant."""
    random = np.random.default_rng(0)
    features = random.standard_normal((4_000, 8), np.float32)
    features[:, 1] = np.sign(features[:, 1])
    features[:, 2] = np.round(features[:, 2])
    features[:, 3] = np.abs(features[:, 3])
    features[:, 4] = 0.0
    labels = random.integers(0, 5, 4_000).astype(np.float32)
    return RankingDataset.from_arrays(features, labels, np.arange(0, 4_001, 20))


def _histogram_bins(spec: TrainingSpec, dataset: RankingDataset) -> int:
    """Return the bins of all histograms of a leaf.

    LightGBM has no histogram for a feature with a single bin. It omits the most frequent bin if that bin is
    the first: the bin of 0 for values that are never negative.
    """
    edges = bin_edges(dataset.features, spec.hyperparameters.binning(), lightgbm_parameters(spec, dataset, 1))
    bins = [edges.feature_num_bin(column) for column in range(dataset.n_features)]
    without_first = [not (dataset.matrix[:, column] < 0).any() for column in range(dataset.n_features)]
    return sum(n - first for n, first in zip(bins, without_first, strict=True) if n > 1)


def _sent(shard: ShardTraining, collectives: Collectives) -> tuple[list[dict[str, int]], tuple[int, ...]]:
    """Return the traffic of a rank for each tree, and the number of leaves of each tree."""
    shard.start(collectives, "", {}, 0, lambda: None)
    traffic = collectives.traffic
    by_tree = []
    for _ in range(N_TREES):
        before = traffic.sent_bytes, traffic.summed_bytes, traffic.rounds
        shard.grower.grow()
        after = traffic.sent_bytes, traffic.summed_bytes, traffic.rounds
        changes = (end - start for start, end in zip(before, after, strict=True))
        by_tree.append(dict(zip(("sent", "summed", "rounds"), changes, strict=True)))
    leaves = re.findall(r"(?m)^num_leaves=(\d+)", shard.grower.state_text())
    return by_tree, tuple(map(int, leaves))
