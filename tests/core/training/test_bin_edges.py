"""Bins that are found in one block of columns after another equal LightGBM's own."""

import lightgbm
import numpy as np
import pytest

from core.data.features import Features, select_columns, select_rows
from core.training import bin_edges
from core.training.bin_edges import FeatureBlocks
from core.training.hyperparameters import Hyperparameters
from core.training.measure import current_scores
from core.types import Float32Array

N = 3_000


@pytest.fixture(autouse=True)
def _few_columns_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bin_edges, "_SAMPLED_VALUES", 2 * N)
    monkeypatch.setattr(bin_edges, "_BATCH_COLUMNS", 3)
    monkeypatch.setattr(bin_edges, "_BATCH_CELLS", 40 * 100)


def matrix(n: int = N) -> Float32Array:
    """Draw columns of all kinds: dense, tied, mostly zeros or ones, missing, infinite, constant and tiny."""
    generator = np.random.default_rng(0)
    features = generator.gamma(1.0, 2.0, (n, 40)).astype(np.float32)
    features[:, 3::7] = np.round(features[:, 3::7])
    features[:, 10:14] *= generator.random((n, 4)) < 0.02
    features[:, 14:17] = generator.random((n, 3)) < 0.9
    features[:, 17:20][generator.random((n, 3)) < 0.3] = np.nan
    features[: n // 9, 20] = np.inf
    features[:, 21:30] = 7.0
    features[:, 31] = 1e-38
    features[:, 32] -= 3.0
    return features


def grown(data: lightgbm.Dataset, features: Float32Array) -> str:
    """Train a few trees on labels that some of the columns determine."""
    target = np.nan_to_num(features[:, 0] - features[:, 17] + 3 * features[:, 14]).astype(np.float32)
    booster = lightgbm.Booster(parameters(), data)
    for _ in range(5):
        booster.update(fobj=lambda scores, _: (scores.astype(np.float32) - target, np.ones_like(target)))
    return str(booster.model_to_string())


def parameters(sample: int = 200_000) -> dict[str, object]:
    """Return the parameters of a training."""
    return Hyperparameters(num_leaves=31).lightgbm(1, 2) | {"bin_construct_sample_cnt": sample}


def edges_of(features: Features, sample: int = 200_000) -> lightgbm.Dataset:
    """Find bins a block of columns at a time."""
    binning = Hyperparameters().binning() | {"bin_construct_sample_cnt": sample}
    return bin_edges.bin_edges(features, binning, parameters(sample))


def binned(features: Features, sample: int = 200_000) -> lightgbm.Dataset:
    """Bin a block of columns and of documents at a time."""
    edges = edges_of(features, sample)
    names = [f"f{column}" for column in range(features.shape[1])]
    blocks = FeatureBlocks(features)
    data = lightgbm.Dataset(blocks, reference=edges, feature_name=names, params=parameters(sample))
    return data.construct()


@pytest.mark.parametrize("sample", [200_000, 700])
def test_models_are_those_of_lightgbms_own_bins(sample: int) -> None:
    """Models are equal to the byte, with the bins of a sample and of all documents."""
    features = matrix()
    names = [f"f{column}" for column in range(40)]
    own = lightgbm.Dataset(features, feature_name=names, params=parameters(sample)).construct()
    assert grown(binned(features, sample), features) == grown(own, features)


def test_categories_may_be_in_any_block_of_columns() -> None:
    """Bins of categories are values, in LightGBM's own dataset as in ours."""
    features, categorical = matrix(), [3, 38]
    own = lightgbm.Dataset(features, categorical_feature=categorical, params=parameters()).construct()
    edges = bin_edges.bin_edges(features, Hyperparameters().binning(), parameters(), categorical)
    ours = lightgbm.Dataset(FeatureBlocks(features), reference=edges, params=parameters()).construct()
    infos = [
        next(line for line in grown(data, features).splitlines() if line.startswith("feature_infos="))
        for data in (ours, own)
    ]
    assert infos[0] == infos[1]
    assert [":" in info and "[" not in info for info in infos[0].split("=")[1].split()].count(True) == 2


def test_selected_features_are_binned_as_a_copy() -> None:
    """Selections of rows and columns may include absent columns."""
    generator = np.random.default_rng(1)
    rows, columns = generator.permutation(N)[:2_000], np.r_[generator.permutation(40), -1]
    selected = select_columns(select_rows(matrix(), rows), columns, 0.0)
    features = np.asarray(selected)
    assert grown(binned(selected), features) == grown(binned(features), features)


def test_validation_data_have_the_bins_of_the_training_data() -> None:
    """A tree scores them as it scores the matrix."""
    features, others = matrix(), matrix(500) * np.float32(1.1)
    data = binned(features)
    other = lightgbm.Dataset(FeatureBlocks(others), reference=data, params=parameters()).construct()
    booster = lightgbm.Booster(parameters(), data).add_valid(other, "validation")
    booster.update(fobj=lambda *_: (-features[:, 0], np.ones(N, np.float32)))
    scores = current_scores(booster, "validation")
    np.testing.assert_array_equal(scores, booster.predict(others, raw_score=True))


def test_progress_is_reported_and_may_stop_the_binning() -> None:
    """Progress counts documents, up to all of them."""
    progress: list[tuple[int, int]] = []
    features = matrix()
    blocks = FeatureBlocks(features, lambda done, total: progress.append((done, total)))
    edges = edges_of(features)
    lightgbm.Dataset(blocks, reference=edges, params=parameters()).construct()
    assert progress == [(done, N) for done in range(100, N + 1, 100)]

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lightgbm.Dataset(FeatureBlocks(features, stop), reference=edges, params=parameters()).construct()
