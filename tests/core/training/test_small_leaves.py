"""Leaves with fewer documents than `min_data_in_leaf`."""

import lightgbm
import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.scorers import read_model
from core.training import train
from core.training.tree_findings import tree_findings
from tests.core.training.test_resuming import spec_of


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """Queries to learn from."""
    return synthetic_dataset(160, seed=1)


@pytest.mark.long
def test_the_smallest_leaf_is_reported_where_hessians_differ(dataset: RankingDataset) -> None:
    """The finding has the number of documents by LightGBM's own prediction; `mse` has no small leaf."""
    for loss, expected in (("lambdarank", True), ("mse", False)):
        spec = spec_of(loss, num_iterations=20, num_leaves=31, min_data_in_leaf=50)
        text = train(spec, dataset).model_text
        ends = np.asarray(lightgbm.Booster(model_str=text).predict(dataset.matrix, pred_leaf=True))
        counts = np.concatenate([np.unique(of_tree, return_counts=True)[1] for of_tree in ends.T])
        found = list(tree_findings(spec.hyperparameters, read_model(text.encode()), dataset.feature_names))
        assert bool(found) is expected is bool((counts < 50).any())
        for finding in found:
            assert (finding.code, finding.severity, finding.unit) == ("small-leaves", "info", "leaves")
            assert (finding.count, finding.total) == ((counts < 50).sum(), len(counts))
            assert finding.title.startswith(f"The smallest leaf has {counts.min()} document")
