"""Ranks hold little beside their documents in bins."""

from pathlib import Path

import pytest

from core.data import RankingDataset
from core.training import training_spec
from tests.worker.ranks.test_training import SMALL, ranks
from tests.worker.ranks.threads import on_ranks
from tests.worker.workshop import Workshop
from worker.ranks import sharing
from worker.ranks.collectives import Collectives
from worker.ranks.shard_training import ShardTraining


def test_the_sample_of_a_rank_comes_in_blocks(
    workshop: Workshop, dataset: RankingDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of ten documents, which do not divide the shards, give the bins that one block gives."""
    dataset_id = workshop.add(dataset, "d1")
    texts = []
    for cells in (2**20, 10 * dataset.n_features):
        monkeypatch.setattr(sharing, "_SAMPLED_CELLS", cells)
        result = workshop.trained(dataset_id, hyperparameters=SMALL, distribution=ranks(3))
        texts.append(workshop.model_text(result))
    assert texts[0] == texts[1]


def test_leaves_are_counted_without_the_booster(dataset: RankingDataset, tmp_path: Path) -> None:
    """The features are read once more then, for which the documents in bins make room."""
    spec = training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": SMALL})

    def count(shard: ShardTraining, collectives: Collectives) -> tuple[int, bool]:
        shard.start(collectives, "", {}, 0, lambda: None)
        shard.grower.grow()
        documents = shard.leaf_counts(shard.grower.state_text()).sum()
        with pytest.raises(RuntimeError):
            _ = shard.grower
        return int(documents), bool(shard._binned)

    found = on_ranks(spec, dataset, 2, tmp_path, count)
    assert sum(documents for documents, _ in found) == dataset.n_documents
    assert not any(has_bins for _, has_bins in found)
