"""Bins kept from one training to the next."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

from core.data import RankingDataset, split_queries, synthetic_dataset
from core.losses import LOSSES
from core.store.artifacts.local_cache import LocalCache
from core.training import CachedBins, Hyperparameters, train, training_spec
from core.training.binning import Binning, writable_names

Datasets = tuple[RankingDataset, RankingDataset]


@pytest.fixture(scope="module")
def datasets() -> Datasets:
    """A small synthetic training set with missing values and odd names, and its held-out queries."""
    dataset = synthetic_dataset(60, seed=1, n_features=8)
    features = dataset.matrix.copy()
    features[::7, 2] = np.nan
    features[:, 3] = np.round(features[:, 3])
    features[:, 4] = 1.0
    features[::50, 5] = np.inf
    names = ("bm25", "page rank", "page_rank", "price:usd", "é", "", "[7]", 'a"b')
    return split_queries(dataset.with_features(features, names), fraction=0.33, seed=1)


@pytest.fixture
def cache(tmp_path: Path) -> LocalCache:
    """An empty cache."""
    return LocalCache(tmp_path / "binned", 10**8)


def model_text(
    datasets: Datasets,
    cache: LocalCache | None = None,
    seed: int = 42,
    hyperparameters: dict[str, Any] | None = None,
    **job: Any,
) -> str:
    """Train quickly, with sampling, and return the model."""
    sampling = {"num_iterations": 12, "num_leaves": 7, "min_data_in_leaf": 5, "feature_fraction": 0.6}
    values = {
        "loss": {"name": "lambdarank"},
        "hyperparameters": sampling | (hyperparameters or {}),
        "seed": seed,
        **job,
    }
    kept = CachedBins(cache, "train", "validation") if cache else None
    return train(training_spec(values), *datasets, cached_bins=kept).model_text


def trees(text: str) -> str:
    """Return the trees of a model without the parameters, which hold the seed."""
    found, separator, _ = text.partition("\nparameters:")
    assert separator
    return found


def entries(cache: LocalCache) -> set[str]:
    """Return the names of the entries of a cache."""
    return {path.name for path in cache._folder.glob("[!.]*")}


def test_the_model_is_the_same_to_the_byte(datasets: Datasets, cache: LocalCache) -> None:
    """Kept bins may be absent, being created or present, also for another seed."""
    plain = model_text(datasets)
    assert [model_text(datasets, cache) for _ in range(3)] == [plain] * 3
    assert len(entries(cache)) == 2  # to train on, and to validate on
    other = model_text(datasets, cache, seed=7)
    assert other == model_text(datasets, seed=7)
    assert trees(other) != trees(plain)
    assert len(entries(cache)) == 2


def test_bins_are_reused_for_other_labels_and_losses(datasets: Datasets, cache: LocalCache) -> None:
    """Bins depend on the features only, and contain no labels of the training that created them."""
    model_text(datasets, cache)
    training, validation = (part.with_labels((part.labels > 1).astype(np.float32)) for part in datasets)
    expected = model_text((training, validation), loss={"name": "mse"})
    assert model_text((training, validation), cache, loss={"name": "mse"}) == expected
    assert len(entries(cache)) == 2


@pytest.mark.parametrize("change", [{"max_bin": 16}, {"min_data_in_bin": 10}])
def test_other_options_have_other_bins(datasets: Datasets, cache: LocalCache, change: dict[str, Any]) -> None:
    """The options are part of the key in the cache."""
    first = model_text(datasets, cache)
    assert model_text(datasets, cache, hyperparameters=change) == model_text(datasets, hyperparameters=change)
    assert len(entries(cache)) == 4
    assert model_text(datasets, cache) == first


def bins_of(dataset: RankingDataset, hyperparameters: Hyperparameters, seed: int, path: Path) -> bytes:
    """Return a dataset's bins as LightGBM saves them."""
    binning = Binning(hyperparameters, hyperparameters.lightgbm(seed, 1), None)
    binning.datasets(dataset)["train"].save_binary(path)
    content = path.read_bytes()
    path.unlink()
    return content


def test_nothing_else_decides_bins(datasets: Datasets, tmp_path: Path) -> None:
    """All hyperparameters but two of bins and `linear_tree`, and the seed, keep the bins, to the byte."""
    training, path = datasets[0], tmp_path / "bins"
    defaults = Hyperparameters()
    expected = bins_of(training, defaults, 42, path)
    others: dict[str, Any] = {
        "max_depth": 3,
        "query_fraction": 0.5,
        "bagging_fraction": 0.5,
        "feature_fraction": 0.5,
        "feature_fraction_bynode": 0.5,
        "extra_trees": True,
        "data_sample_strategy": "goss",
        "top_rate": 0.3,
        "other_rate": 0.2,
        "boosting": "dart",
        "drop_rate": 0.2,
        "skip_drop": 0.2,
        "uniform_drop": True,
        "xgboost_dart_mode": True,
        "use_quantized_grad": True,
        "quant_train_renew_leaf": True,
        "stochastic_rounding": False,
        "linear_tree": True,
        "monotone_constraints": {"bm25": 1},
        "monotone_constraints_method": "advanced",
        "interaction_constraints": (("bm25",),),
        "feature_contri": {"bm25": 0.5},
    }
    for field in fields(Hyperparameters):
        value = getattr(defaults, field.name)
        changed = replace(defaults, **{field.name: others[field.name] if field.name in others else value + 2})
        same = bins_of(training, changed, 42, path) == expected
        assert same == (field.name not in ("max_bin", "min_data_in_bin", "linear_tree")), field.name
    assert bins_of(training, defaults, 7, path) == expected


def test_the_sample_that_decides_bins_is_the_same_for_every_seed(tmp_path: Path) -> None:
    """LightGBM draws the same documents if there are more than its sample has."""
    features = np.random.default_rng(0).normal(size=(210_000, 1))
    dataset = RankingDataset.from_arrays(features, np.zeros(210_000), [0, 210_000])
    first, second = (bins_of(dataset, Hyperparameters(), seed, tmp_path / "bins") for seed in (1, 2))
    assert first == second


def test_damaged_bins_are_computed_again(datasets: Datasets, cache: LocalCache) -> None:
    """A truncated file is replaced by the next training."""
    expected = model_text(datasets, cache)
    files = sorted(cache._folder.rglob("bins"))
    sizes = [file.stat().st_size for file in files]
    for file in files:
        file.write_bytes(file.read_bytes()[:1000])
    assert model_text(datasets, cache) == expected
    assert [file.stat().st_size for file in files] == sizes


def test_bins_of_other_documents_are_computed_again(datasets: Datasets, cache: LocalCache) -> None:
    """A training does not use bins that cannot be those of its data."""
    training, validation = datasets
    model_text((validation, training), cache)
    assert model_text((training, validation), cache) == model_text((training, validation))


def test_an_unusable_cache_does_not_stop_a_training(datasets: Datasets, tmp_path: Path) -> None:
    """A full or missing disk costs only time."""
    (tmp_path / "file").write_text("not a folder")
    assert model_text(datasets, LocalCache(tmp_path / "file" / "binned", 10**8)) == model_text(datasets)


def test_features_may_have_any_name(datasets: Datasets, cache: LocalCache) -> None:
    """The model text spells names as LightGBM can; the ranker keeps those of the data."""
    spec = training_spec({"loss": {"name": "mse"}, "hyperparameters": {"num_iterations": 1}})
    for _ in range(2):
        ranker = train(spec, *datasets, cached_bins=CachedBins(cache, "train"))
        assert ranker.feature_names == datasets[0].feature_names
        assert lightgbm.Booster(model_str=ranker.model_text).feature_name() == [
            "bm25",
            "page_rank_",
            "page_rank",
            "price_usd",
            "é",
            "_",
            "_7_",
            "a_b",
        ]


@pytest.mark.parametrize(
    ("names", "written"),
    [
        (["a b", "a_b"], ["a_b_", "a_b"]),
        (["a_b", "a b"], ["a_b", "a_b_"]),
        (["a b", "a_b_", "a:b", "a_b"], ["a_b__", "a_b_", "a_b___", "a_b"]),
        (["", "_"], ["__", "_"]),
    ],
)
def test_a_name_that_lightgbm_accepts_never_means_another_feature(
    names: list[str], written: list[str]
) -> None:
    """Such a name stays, and names that must change avoid it."""
    assert writable_names(names) == written


@pytest.mark.parametrize("loss", LOSSES)
def test_document_weights_reach_every_loss(datasets: Datasets, loss: str) -> None:
    """The model of each loss changes with the weights."""
    training, validation = datasets
    weights = np.linspace(0.1, 3, training.n_documents)
    weighted = (replace(training, document_weights=weights), validation)
    one, other = (model_text(data, loss={"name": loss}) for data in (datasets, weighted))
    assert one != other
