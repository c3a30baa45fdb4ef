"""Ranks hold little memory besides their binned documents."""

from pathlib import Path

import pytest

from core.data import RankingDataset
from core.training import training_spec
from tests.worker.ranks.threads import on_ranks
from tests.worker.ranks.trainings import SMALL
from worker.ranks.collectives import Collectives
from worker.ranks.shard_training import ShardTraining


def test_leaves_are_counted_without_the_booster(dataset: RankingDataset, tmp_path: Path) -> None:
    """The binned documents are released before the features are read again to count the leaves."""
    spec = training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": SMALL})

    def count(shard: ShardTraining, collectives: Collectives) -> tuple[int, bool]:
        shard.start(collectives, "", {}, 0, lambda: None)
        shard.grower.grow()
        documents = shard.leaf_counts(shard.grower.state_text()).sum()
        with pytest.raises(RuntimeError):
            _ = shard.grower
        return int(documents), bool(shard._binned)

    counts = on_ranks(spec, dataset, 2, tmp_path, count)
    assert sum(documents for documents, _ in counts) == dataset.n_documents
    assert not any(has_bins for _, has_bins in counts)
