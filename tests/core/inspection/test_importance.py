"""Importance by gain and by split."""

import lightgbm
import numpy as np
import pytest

from core.inspection import split_importance
from core.scoring.model_text import ModelText
from core.scoring.tree import Tree
from tests.core.inspection.forests import forest_of, stump


@pytest.mark.parametrize(
    "options",
    [
        {"objective": "regression"},
        {"objective": "regression", "min_gain_to_split": 0.0, "extra_trees": True},
        {"objective": "regression", "linear_tree": True},
        {"objective": "regression", "boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
    ],
    ids=lambda options: options.get("boosting") or list(options)[-1],
)
def test_importance_equals_lightgbms(options: dict[str, object]) -> None:
    """Gain and split importance equal LightGBM's for the same text, bit for bit, categories included."""
    random = np.random.default_rng(1)
    features = random.normal(size=(600, 8))
    features[:, 3] = random.integers(12, size=600)
    features[features[:, 4] > 1, 4] = np.nan
    labels = features[:, 0] + 3 * (features[:, 3] % 3 == 0) + np.nan_to_num(features[:, 4]) * features[:, 1]
    data = lightgbm.Dataset(features, labels, categorical_feature=[3], params={"verbosity": -1})
    parameters = {**options, "num_leaves": 9, "min_data_in_leaf": 5, "verbosity": -1, "num_threads": 1}
    text = lightgbm.train(parameters, data, num_boost_round=12).model_to_string()
    loaded = lightgbm.Booster(model_str=text)
    found = split_importance(ModelText.read(text))
    assert found.gain.tolist() == loaded.feature_importance("gain").tolist()
    assert found.split.tolist() == loaded.feature_importance("split").tolist()
    assert found.gain[3] > 0.0


def test_a_forest_without_splits_uses_no_feature() -> None:
    """Every importance is 0, and no feature is used."""
    text = forest_of(Tree.leaf(0.5), stump(1, 0.5, 0.0, 1.0), n_features=3)
    assert text.used_features == (1,)
    assert split_importance(text).split.tolist() == [0, 1, 0]
    empty = forest_of(n_features=2)
    assert empty.used_features == ()
    assert split_importance(empty).gain.tolist() == [0.0, 0.0]
