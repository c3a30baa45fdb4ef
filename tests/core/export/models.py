"""Models to export, and their expected scores."""

from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np

from core.export import TreeExport, export_model
from core.scoring.model_text import ModelText
from core.types import Float32Array, Float64Array, Int64Array
from tests.core.scoring.forests import random_model_text

N_FEATURES = 5


def export_trees(*arguments: Any, **options: Any) -> TreeExport:
    """Export a forest; arguments as of `export_model`."""
    export = export_model(*arguments, **options)
    assert isinstance(export, TreeExport)
    return export


def documents(seed: int, n_documents: int = 600, *, missing: bool = False) -> Float32Array:
    """Draw documents with zeros, small and large values; with `missing`, a fifth of the values are NaN."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n_documents, N_FEATURES)) * [1.0, 1e-3, 1e4, 1.0, 1.0]
    rows[:, 3] = rows[:, 3].round()
    rows[random.random(rows.shape) < 0.2] = 0.0
    if missing:
        rows[random.random(rows.shape) < 0.2] = np.nan
    return rows.astype(np.float32)


def trained(*, missing: bool = False, zero_as_missing: bool = False, use_missing: bool = True) -> str:
    """Train a small ranker."""
    rows = documents(1, missing=missing)
    labels = np.nan_to_num(rows[:, 0] + 300 * rows[:, 1] + rows[:, 3]).round().clip(0, 4)
    parameters = {
        "objective": "lambdarank",
        "num_leaves": 12,
        "min_data_in_leaf": 5,
        "zero_as_missing": zero_as_missing,
        "use_missing": use_missing,
        "num_threads": 1,
        "verbosity": -1,
    }
    dataset = lightgbm.Dataset(rows, labels, group=[30] * 20)
    return str(lightgbm.train(parameters, dataset, num_boost_round=12).model_to_string())


def special_forest(seed: int) -> str:
    """Write a forest of any shape with infinite, denormal and zero thresholds, as engines support them.

    Where zeros count as missing, they go to the child of values around 0. No threshold is minus infinity.
    """
    random = np.random.default_rng(seed)
    text = ModelText.read(random_model_text(random, N_FEATURES, 6, 8, categorical=False))
    trees = []
    for tree in text.trees:
        thresholds = np.where(np.isneginf(tree.thresholds), -1.0, tree.thresholds)
        zeros = tree.decisions >> 2 == 1
        decisions = np.where(zeros, 4 + 2 * (thresholds >= 0.0), tree.decisions)
        trees.append(replace(tree, thresholds=thresholds, decisions=decisions))
    return replace(text, trees=tuple(trees)).write()


def leaves(model_text: str, rows: Float64Array) -> tuple[Int64Array, list[Float64Array]]:
    """Return which leaf LightGBM sends each row to in each tree, and the leaves' values."""
    booster = lightgbm.Booster(model_str=model_text)
    found = np.asarray(booster.predict(rows, pred_leaf=True, num_threads=1), np.int64)
    values = [tree.leaf_values for tree in ModelText.read(model_text).trees]
    return found.reshape(len(rows), len(values)), values


def expected(
    model_text: str, rows: Float64Array, leaf: type[np.floating], total: type[np.floating]
) -> list[float]:
    """Add up the leaves that LightGBM finds: their values in the type `leaf`, the sum in the type `total`."""
    reached, values = leaves(model_text, rows)
    sums = np.zeros(len(rows), total)
    for tree, of_tree in enumerate(values):
        sums = (sums + of_tree.astype(leaf)[reached[:, tree]].astype(total)).astype(total)
    return [float(value) for value in sums]
