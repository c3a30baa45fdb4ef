"""Violations of monotone constraints by trees, compared with a search of all values."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset
from core.scorers import read_model
from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.scoring.tree import CATEGORICAL, Tree
from core.training import Checkpoint, train
from core.training.monotonicity import falls
from core.training.tree_findings import tree_findings
from tests.core.scoring.forests import ZERO_THRESHOLD, random_model_text
from tests.core.training.test_resuming import spec_of

LARGEST = float(np.finfo(np.float32).max)
RENEWED = {"use_quantized_grad": True, "stochastic_rounding": False, "quant_train_renew_leaf": True}


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """Labels that rise and fall with two features of heavy tails, 30% of whose values are missing."""
    generator = np.random.default_rng(0)
    features = generator.standard_cauchy(size=(4_000, 6)).astype(np.float32)
    features[generator.random(features.shape) < 0.3] = np.nan
    signal = np.nan_to_num(np.arctan(features[:, 0]) * np.arctan(features[:, 1]))
    labels = np.clip(np.round(signal + generator.normal(scale=0.5, size=4_000) + 1), 0, 4)
    names = [f"f{column}" for column in range(6)]
    return RankingDataset.from_arrays(
        features, labels.astype(np.float32), np.arange(0, 4_001, 20), feature_names=names
    )


def values_of(tree: Tree, feature: int) -> list[float]:
    """Return values of a feature on both sides of every threshold, the categories, and zeros."""
    of_feature = tree.features == feature
    categorical = of_feature & (tree.decisions & CATEGORICAL == CATEGORICAL)
    cuts = [*tree.thresholds[of_feature & ~categorical], -ZERO_THRESHOLD, ZERO_THRESHOLD]
    near = {float(np.nextafter(cut, to)) for cut in cuts for to in (cut, -np.inf, np.inf)}
    words = max((len(tree.categories[int(place)]) for place in tree.thresholds[categorical]), default=0)
    found = {0.0, LARGEST, -LARGEST, *near, *map(float, range(32 * words))}
    return sorted(value for value in found if abs(value) <= LARGEST)


def largest_fall(tree: Tree, n_features: int, feature: int, sign: int) -> float | None:
    """Return the largest fall by scoring every combination of values; None where there are too many."""
    missing_types = tree.decisions[tree.features == feature] >> 2
    values = [[*values_of(tree, column), np.nan] for column in range(n_features)]
    values[feature] = [
        value
        for value in values[feature][:-1]
        if abs(value) > ZERO_THRESHOLD or not (missing_types == 1).any()
    ]
    if np.prod([len(each) for each in values]) > 50_000:
        return None
    order = [column for column in range(n_features) if column != feature] + [feature]
    grid = np.meshgrid(*(values[column] for column in order), indexing="ij")
    documents = np.empty((grid[0].size, n_features))
    for column, coordinate in zip(order, grid, strict=True):
        documents[:, column] = coordinate.ravel()
    text = ModelText(tuple(f"f{column}" for column in range(n_features)), (tree,)).write()
    scores = sign * Forest.parse(text).score(documents).reshape(-1, len(values[feature]))
    return float((np.maximum.accumulate(scores, axis=1) - scores).max())


def test_the_largest_fall_equals_that_of_a_search_of_all_values() -> None:
    """Both are equal bit for bit, for random trees with categories and all treatments of missing values."""
    random = np.random.default_rng(0)
    compared = fallen = 0
    for _ in range(250):
        n_features = int(random.integers(1, 4))
        categorical = random.random() < 0.3
        text = random_model_text(random, n_features, 1, int(random.integers(2, 9)), categorical=categorical)
        (tree,) = ModelText.read(text).trees
        kinds = {(int(f), int(d & CATEGORICAL)) for f, d in zip(tree.features, tree.decisions, strict=True)}
        if len(kinds) != len({feature for feature, _ in kinds}):
            continue  # a feature is a number or a category
        for feature in (feature for feature, category in kinds if not category):
            for sign in (1, -1):
                expected = largest_fall(tree, n_features, feature, sign)
                if expected is not None:
                    found = [fall.size for fall in falls([tree], {feature: sign})]
                    assert max(found, default=0.0) == expected
                    compared += 1
                    fallen += expected > 0.0
    assert compared > 250
    assert 0.3 * compared < fallen < 0.7 * compared


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"monotone_constraints_method": "advanced"}, "advanced does not satisfy all constraints"),
        ({"monotone_constraints_method": "intermediate"}, "intermediate does not satisfy all constraints"),
        (RENEWED, "leave out quant_train_renew_leaf"),
    ],
    ids=["advanced", "intermediate", "renewed"],
)
def test_constraints_that_lightgbm_violates_are_reported(
    options: dict[str, Any], cause: str, dataset: RankingDataset
) -> None:
    """The finding has the tree, feature, threshold and size of the fall, and advice."""
    shape: dict[str, Any] = {"num_iterations": 60, "num_leaves": 31, "min_data_in_leaf": 20}
    spec = spec_of(**shape, monotone_constraints={"f0": 1, "f1": -1}, **options)
    model = read_model(train(spec, dataset).content)
    finding = next(tree_findings(spec.hyperparameters, model, dataset.feature_names))
    assert (finding.code, finding.severity) == ("monotone-constraints-broken", "warning")
    assert cause in finding.advice
    assert {"f0", "f1"} >= set(finding.examples) != set()
    assert re.search(r": tree \d+ (falls|rises) by [\d.e-]+ where f[01] rises past [\d.e-]+$", finding.title)


def test_basic_keeps_the_order(dataset: RankingDataset) -> None:
    """There is no finding with the method `basic`, and none without constraints."""
    for constraints in ({"f0": 1, "f1": -1}, None):
        spec = spec_of(num_iterations=60, num_leaves=31, monotone_constraints=constraints)
        model = read_model(train(spec, dataset).content)
        found = tree_findings(spec.hyperparameters, model, dataset.feature_names)
        assert [finding.code for finding in found if finding.code.startswith("monotone")] == []


def test_trees_of_the_initial_model_are_checked(dataset: RankingDataset) -> None:
    """A constraint of the added trees does not apply to the trees of the initial model."""
    before = train(spec_of(num_iterations=5), dataset).model_text
    resume = Checkpoint.of_model(before, {"train": dataset}, 1)
    spec = spec_of(num_iterations=5, monotone_constraints={"f0": 1})
    ranker = train(spec, dataset, resume=resume)
    model = read_model(ranker.content)
    finding = next(tree_findings(spec.hyperparameters, model, dataset.feature_names, ranker.base_trees))
    assert finding.total == 10
    assert f"{finding.count} of the trees belong to the model in init_model" in finding.advice


def test_linear_leaves_are_not_checked(dataset: RankingDataset) -> None:
    """Linear leaves are refused beside constraints, but the initial model may have them."""
    ranker = train(spec_of(num_iterations=2, linear_tree=True), dataset)
    hyperparameters = replace(spec_of().hyperparameters, monotone_constraints={"f0": 1})
    found = tree_findings(hyperparameters, read_model(ranker.content), dataset.feature_names)
    assert next(found).code == "monotone-constraints-unchecked"
