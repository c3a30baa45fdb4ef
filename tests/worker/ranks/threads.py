"""Ranks as threads of the test: they compute as in production, but exchange bytes within the process."""

import queue
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from core.data import RankingDataset, write_parquet
from core.data.features import select_rows
from core.training import TrainingSpec
from core.training.bin_edges import bin_edges, edges_to_bytes
from core.training.distribution import shards
from core.training.grower import lightgbm_parameters, portable_text
from worker.ranks.collectives import Collectives
from worker.ranks.parts import Part
from worker.ranks.shard_training import ShardTraining

Work = Callable[[ShardTraining, Collectives], Any]


def on_ranks(
    spec: TrainingSpec, dataset: RankingDataset, n_ranks: int, folder: Path, work: Work
) -> list[Any]:
    """Load a dataset's shards into connected ranks, and call `work` for each rank.

    Args:
        spec: Specification of the training.
        dataset: Training data.
        n_ranks: Number of ranks.
        folder: Folder in which the dataset is stored.
        work: Function to call in the thread of each rank, after its documents are binned.

    Returns:
        The results of `work`, in the order of the ranks.
    """
    path = folder / "data.parquet"
    if not path.exists():
        with path.open("wb") as file:
            write_parquet(dataset, file)
    selection = select_rows(dataset.features, np.arange(dataset.n_documents))
    parameters = lightgbm_parameters(spec, dataset, 1)
    binning = spec.hyperparameters.binning()
    edges = edges_to_bytes(bin_edges(dataset.features, binning, parameters))
    cuts = shards(dataset.query_boundaries, n_ranks)
    wires: dict[tuple[int, int], queue.Queue[bytes]] = {
        (one, other): queue.Queue() for one in range(n_ranks) for other in range(n_ranks)
    }
    results: list[Any] = [None] * n_ranks
    errors: list[BaseException] = []

    def run_rank(rank: int) -> None:
        def swap(blocks: Mapping[int, bytes]) -> Mapping[int, bytes]:
            for other, block in blocks.items():
                wires[rank, other].put(block)
            return {other: wires[other, rank].get(timeout=30) for other in blocks}

        try:
            queries = slice(*cuts[rank : rank + 2].tolist())
            part = Part.from_message(Part.of(dataset, selection, path.as_uri(), queries).as_message())
            shard = ShardTraining(spec, {"train": part}, dataset.feature_names, {}, 1)
            shard.bin_features(edges, lambda *_: None)
            results[rank] = work(shard, Collectives(rank, n_ranks, swap))
        except BaseException as error:  # noqa: BLE001 - the test shows it
            errors.append(error)

    threads = [threading.Thread(target=run_rank, args=(rank,)) for rank in range(n_ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def trained(spec: TrainingSpec, dataset: RankingDataset, n_ranks: int, folder: Path) -> str:
    """Return the model of a training on ranks; all ranks must return the same text."""

    def work(shard: ShardTraining, collectives: Collectives) -> str:
        shard.start(collectives, "", {}, 0, lambda: None)
        grown = 0
        while grown < spec.iterations and shard.grower.grow():
            grown += 1
            shard.values()
        shard.grower.finish()
        return portable_text(shard.grower.model_text(grown))

    texts: list[str] = on_ranks(spec, dataset, n_ranks, folder, work)
    assert len(set(texts)) == 1
    return texts[0]
