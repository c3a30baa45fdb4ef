"""Training on categories: LightGBM's trees, also after interruptions, with values in the model text."""

from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest

from core.data import RankingDataset, split_queries, synthetic_dataset
from core.data.feature_alignment import align_features, unseen_values, with_categories
from core.errors import InvalidInput, ModelError
from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.store.artifacts.local_cache import LocalCache
from core.training import CachedBins, TrainingSpec, train, training_spec
from core.training.binning import Binning
from tests.core.training.test_resuming import are_equal, checkpoint_at

BRANDS = tuple(f"brand {letter}" for letter in "qwertyuiopasdf")
SHOPS = (7, 1001, 12, 40_000, 5)


def categorical_dataset(queries: int = 60, seed: int = 1) -> RankingDataset:
    """Draw documents whose brand and shop decide much of their labels; some brands are missing."""
    plain = synthetic_dataset(queries, seed=seed, n_features=3)
    random = np.random.default_rng(seed)
    brands = random.integers(len(BRANDS), size=plain.n_documents).astype(np.float32)
    shops = random.choice(np.array(SHOPS, np.float32), size=plain.n_documents)
    labels = (np.isin(brands, (0, 3, 5, 9)) * 2 + (shops == 1001) + random.integers(2, size=len(shops))).clip(
        0, 4
    )
    brands[::11] = np.nan
    features = np.column_stack([plain.matrix[:, 0], brands, plain.matrix[:, 1], shops])
    return RankingDataset.from_arrays(
        features,
        labels.astype(np.float32),
        plain.query_boundaries,
        feature_names=["f 1", "brand", "f2", "shop"],
        categories={"brand": BRANDS},
    )


@pytest.fixture(scope="module")
def datasets() -> tuple[RankingDataset, RankingDataset]:
    """A training set with a text and a number that are categories, and held-out queries."""
    return split_queries(with_categories(categorical_dataset(), ["shop"]), fraction=0.33, seed=1)


def spec_of(**hyperparameters: Any) -> TrainingSpec:
    """Return a quick training that uses categories with few documents."""
    shape = {"num_iterations": 14, "num_leaves": 15, "min_data_in_leaf": 5, "min_data_per_group": 5}
    return training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": shape | hyperparameters})


def count_set_splits(text: str) -> int:
    """Count the splits by sets of categories."""
    return sum(len(tree.categories) for tree in ModelText.read(text).trees)


def test_the_trees_are_those_of_lightgbm(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """Fed with the same gradients, `lightgbm.train` grows the same trees from a DataFrame of categories."""
    training, _ = datasets
    spec = training_spec(
        {"loss": {"name": "mse"}, "hyperparameters": {"num_iterations": 5, "cat_smooth": 1.0}}
    )
    ours = train(spec, training).model_text
    frame = pd.DataFrame(training.matrix, columns=list(training.feature_names))
    for name, categories in training.categories.items():
        texts = categories.texts(frame[name].to_numpy())
        values = [int(value) if value.isdecimal() else value for value in categories.values]
        frame[name] = pd.Categorical.from_codes(
            [-1 if text is None else categories.values.index(text) for text in texts], list(values)
        )
    parameters = spec.hyperparameters.lightgbm(spec.seed, 1)
    booster = lightgbm.Booster(parameters, lightgbm.Dataset(frame, training.labels, params=dict(parameters)))
    objective = spec.loss.prepare(training.labels, training.query_boundaries, None, None)
    for iteration in range(5):
        booster.update(fobj=lambda scores, _: objective(scores, iteration))  # noqa: B023 - called immediately
    theirs = ModelText.read(booster.model_to_string())
    np.testing.assert_array_equal(
        Forest(ModelText.read(ours)).score(training.matrix), Forest(theirs).score(training.matrix)
    )
    assert count_set_splits(ours)
    assert dict(theirs.categories) == dict(ModelText.read(ours).categories)


def test_the_text_holds_the_categories(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """LightGBM's Booster reads them and scores a DataFrame of texts as our engine scores codes."""
    training, validation = datasets
    text = train(spec_of(), *datasets).model_text
    read = ModelText.read(text)
    assert read.categories[1].values == BRANDS
    assert read.categories[3].values == ("5", "7", "12", "1001", "40000")
    booster = lightgbm.Booster(model_str=text)
    assert booster.pandas_categorical == [list(BRANDS), [5, 7, 12, 1001, 40000]]
    frame = pd.DataFrame(validation.matrix, columns=["f 1", "brand", "f2", "shop"])
    frame["brand"] = pd.Series(read.categories[1].texts(validation.matrix[:, 1])).astype("category")
    numbers = [int(str(value)) for value in read.categories[3].texts(validation.matrix[:, 3])]
    frame["shop"] = pd.Series(numbers).astype("category")
    np.testing.assert_array_equal(
        booster.predict(frame, raw_score=True), Forest(read).score(validation.matrix)
    )
    kept = train(spec_of(), align_features(training, ("f 1", "f2"))).model_text
    assert not ModelText.read(kept).categories


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (("false", "true"), "[false, true]"),
        (("9007199254740993", "7"), "[9007199254740993, 7]"),
        (("18446744073709551615", "0"), "[18446744073709551615, 0]"),
        (("18446744073709551616", "-1"), '["18446744073709551616", "-1"]'),
        (("True", "False"), '["True", "False"]'),
    ],
)
def test_booleans_and_long_ids_are_written_as_json(values: tuple[str, ...], line: str) -> None:
    """Booleans and 64-bit integers become JSON values, as in data frames; other texts become strings."""
    dataset = categorical_dataset()
    column = np.arange(dataset.n_documents, dtype=np.float32) % 2
    features = np.column_stack([dataset.matrix[:, 0], column])
    dataset = RankingDataset.from_arrays(
        features,
        dataset.labels,
        dataset.query_boundaries,
        feature_names=["f1", "kind"],
        categories={"kind": values},
    )
    text = train(spec_of(num_iterations=2), dataset).model_text
    assert text.rstrip().endswith(f"pandas_categorical:[{line}]")
    assert ModelText.read(text).categories[1].values == values


def test_the_engine_scores_as_lightgbm_does(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """Scores are equal bit for bit, also for unknown and negative codes, fractions and missing values."""
    text = train(spec_of(num_iterations=40), *datasets).model_text
    assert count_set_splits(text) > 20
    rows = np.concatenate([part.features for part in datasets]).astype(np.float64)
    random = np.random.default_rng(0)
    odd = random.choice([np.nan, -1.0, -0.5, 3.7, 1e9, 3e9, 14.0, 99.0, np.inf], size=(len(rows), 2))
    rows[::2, [1, 3]] = odd[::2]
    expected = lightgbm.Booster(model_str=text).predict(rows, raw_score=True)
    forest = Forest(ModelText.read(text))
    np.testing.assert_array_equal(forest.score(rows), expected)
    np.testing.assert_array_equal(forest.score(rows, threads=2), expected)


@pytest.mark.parametrize(
    "hyperparameters",
    [
        {},
        {"max_cat_to_onehot": 20},
        {"extra_trees": True, "feature_fraction": 0.7, "bagging_fraction": 0.8, "bagging_freq": 2},
    ],
    ids=["sets", "one against all", "drawn"],
)
def test_a_training_on_categories_resumes_to_the_same_bytes(
    hyperparameters: dict[str, Any], datasets: tuple[RankingDataset, RankingDataset], tmp_path: Path
) -> None:
    """Models are equal after several interruptions, with more threads, and with kept bins."""
    spec = spec_of(**hyperparameters)
    whole = train(spec, *datasets)
    assert count_set_splits(whole.model_text)
    for iteration in (1, 6, 13):
        checkpoint = checkpoint_at(iteration, spec, *datasets)
        assert are_equal(train(spec, *datasets, resume=checkpoint, threads=2), whole), iteration
    kept = CachedBins(LocalCache(tmp_path / "binned", 10**8), "train", "validation")
    assert all(are_equal(train(spec, *datasets, cached_bins=kept), whole) for _ in range(2))


def test_categories_are_part_of_the_key_of_bins(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """The same matrix with and without categories has separate bins in the cache."""
    spec, keys = spec_of(), set()
    for columns in ((), (1,), (1, 3)):
        parameters = {"categorical_column": list(columns)} if columns else {}
        kept = CachedBins(LocalCache(Path("unused"), 1), "train")
        keys.add(Binning(spec.hyperparameters, parameters, kept)._key("training"))
    assert len(keys) == 3


def test_hyperparameters_of_categories_reach_lightgbm(
    datasets: tuple[RankingDataset, RankingDataset],
) -> None:
    """Each of them changes the trees."""
    plain = train(spec_of(), datasets[0]).model_text
    for name, value in {
        "cat_smooth": 1e4,
        "cat_l2": 1e4,
        "max_cat_threshold": 1,
        "max_cat_to_onehot": 64,
        "min_data_per_group": 400,
    }.items():
        changed = train(spec_of(**{name: value}), datasets[0]).model_text
        assert changed.partition("end of trees")[0] != plain.partition("end of trees")[0], name


def test_a_category_cannot_be_monotone(datasets: tuple[RankingDataset, RankingDataset]) -> None:
    """A category has no order, but it may be in interaction groups."""
    with pytest.raises(InvalidInput, match="'brand' is a categorical feature"):
        train(spec_of(monotone_constraints={"brand": 1, "f2": 1}), datasets[0])
    allowed = spec_of(monotone_constraints={"f2": 1}, interaction_constraints=[["brand", "shop"], ["f 1"]])
    assert count_set_splits(train(allowed, datasets[0]).model_text)


def test_categories_are_matched_by_value() -> None:
    """The order of the texts does not matter; values that are new to a feature of the model are counted."""
    training = with_categories(categorical_dataset(), ["shop"])
    other = RankingDataset.from_arrays(
        np.array([[40_000, 1, 2], [8, 0, 1], [np.nan, 2, 0]]),
        [1, 0, 0],
        [0, 3],
        feature_names=["shop", "brand", "extra"],
        categories={"brand": ["neo", BRANDS[3], BRANDS[0]], "extra": ["x", "y", "z"]},
    )
    aligned = align_features(other, training.feature_names, training.categories)
    assert aligned.categories == training.categories
    np.testing.assert_array_equal(aligned.features[:, 1], [3, np.nan, 0])
    np.testing.assert_array_equal(aligned.features[:, 3], [4, np.nan, np.nan])
    unseen = unseen_values(other, training.feature_names, training.categories)
    assert [(each.feature, each.documents, each.examples) for each in unseen] == [
        ("shop", 1, ("8",)),
        ("brand", 1, ("neo",)),
    ]
    assert align_features(aligned, training.feature_names, training.categories) is aligned
    with pytest.raises(InvalidInput, match="other categories"):
        train(spec_of(), training, categorical_dataset())


def test_an_absent_categorical_feature_is_missing() -> None:
    """A value of 0, as for numbered features of LETOR, would be the first category."""
    dataset = RankingDataset.from_arrays([[1.0]], [1], [0, 1], feature_names=["f1"])
    known = RankingDataset.from_arrays(
        [[1.0, 0, 0]], [1], [0, 1], feature_names=["f1", "f2", "f3"], categories={"f3": ["a"]}
    )
    aligned = align_features(dataset, known.feature_names, known.categories)
    np.testing.assert_array_equal(aligned.features, [[1.0, 0.0, np.nan]])


@pytest.mark.parametrize(
    ("values", "name", "detail"),
    [
        ([1, 0.5], "x", "/categorical_feature/0: has values other than whole numbers"),
        ([1, np.inf], "x", "other than whole numbers"),
        ([1, 2**24], "x", "below 16,777,216"),
        ([1, 2], "y", "the dataset has no feature 'y'"),
    ],
)
def test_invalid_categorical_features_are_refused(values: list[float], name: str, detail: str) -> None:
    """The error has the place in the request."""
    dataset = RankingDataset.from_arrays(np.array([values]).T, [1, 0], [0, 2], feature_names=["x"])
    with pytest.raises(InvalidInput, match=detail):
        with_categories(dataset, [name])


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ({"a": pd.Categorical(["x", "y"] * 50), "b": np.arange(100.0)}, {0: ("x", "y")}),
        ({"b": np.arange(100.0), "a": pd.Categorical([3, 1001] * 50)}, {1: ("3", "1001")}),
        (
            {"a": pd.Categorical([3.0, 0.5] * 50), "b": pd.Categorical([True, False] * 50)},
            {0: ("0.5", "3"), 1: ("false", "true")},
        ),
        ({"b": np.arange(100.0)}, {}),
    ],
    ids=["texts", "whole numbers", "other numbers", "none"],
)
def test_models_of_dataframes_have_their_categories(
    frame: dict[str, Any], expected: dict[int, tuple[str, ...]]
) -> None:
    """Categories that `lightgbm.train` wrote from pandas are read by column."""
    data = lightgbm.Dataset(pd.DataFrame(frame), np.arange(100) % 7, params={"verbosity": -1})
    text = lightgbm.train({"verbosity": -1, "num_leaves": 3, "min_data_in_bin": 1}, data, 2).model_to_string()
    found = {column: each.values for column, each in ModelText.read(text).categories.items()}
    assert found == expected
    without = text.replace("[categorical_feature:", "[unknown:")  # then the values in the header decide
    assert {column: each.values for column, each in ModelText.read(without).categories.items()} == expected


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        ("[[", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"a": 1}', "not a list of lists"),
        ('[["x", "x"]]', "twice"),
        ('[[["x"]]]', "neither a string nor a number"),
    ],
)
def test_damaged_categories_are_refused(line: str, detail: str) -> None:
    """The last line is as untrusted as the rest of a model."""
    data = lightgbm.Dataset(
        pd.DataFrame({"a": pd.Categorical(["x", "y"] * 50)}), np.arange(100) % 7, params={"verbosity": -1}
    )
    text = lightgbm.train({"verbosity": -1, "num_leaves": 3}, data, 1).model_to_string()
    with pytest.raises(ModelError, match=detail):
        ModelText.read(text.rpartition("pandas_categorical:")[0] + f"pandas_categorical:{line}\n")
