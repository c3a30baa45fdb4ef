"""Jobs on datasets with categories: codes of a dataset are converted to those of the model."""

from collections.abc import Iterator
from typing import Any

import lightgbm
import numpy as np
import pytest

from core.data import RankingDataset
from core.data.feature_alignment import align_features
from core.inspection.tree_nodes import Leaf, Split, tree_nodes
from core.scoring.model_text import ModelText
from tests.core.training.test_categories import BRANDS, categorical_dataset
from tests.worker.inline_worker import SMALL, InlineWorker
from tests.worker.test_absent_features import use
from worker.job.systems import load_model

GROWN = SMALL | {"num_iterations": 20, "min_data_per_group": 5}


def reordered(dataset: RankingDataset, unseen: int = 0) -> RankingDataset:
    """Return the same documents with other codes, and some brands replaced by an unseen one."""
    values = ("neo", *reversed(BRANDS))
    features = dataset.matrix.copy()
    has_brand = ~np.isnan(features[:, 1])
    features[has_brand, 1] = len(BRANDS) - features[has_brand, 1]
    features[np.flatnonzero(has_brand)[:unseen], 1] = 0
    return RankingDataset.from_arrays(
        features,
        dataset.labels,
        dataset.query_boundaries,
        feature_names=dataset.feature_names,
        categories={"brand": values},
    )


@pytest.mark.long
def test_a_model_is_tested_by_texts_not_by_codes(inline_worker: InlineWorker) -> None:
    """A test set with other codes has the same metrics, and its scores equal those of LightGBM."""
    training, test = categorical_dataset(seed=1), categorical_dataset(30, seed=2)
    ids = [
        inline_worker.add(training, "train"),
        inline_worker.add(test, "same"),
        inline_worker.add(reordered(test), "other"),
    ]
    spec = {"hyperparameters": GROWN, "validation": {"fraction": 0.3}}
    texts, values = [], []
    for test_id in ids[1:]:
        result = inline_worker.training_result(ids[0], test_dataset_id=test_id, **spec)
        texts.append(inline_worker.model_text(result))
        with inline_worker.store.read() as tx:
            values.append(tx.evaluations.get(result["evaluation_id"]).summaries)
    assert texts[0] == texts[1]
    assert values[0] == values[1]
    model = load_model(inline_worker.store, result["model_id"])
    expected = lightgbm.Booster(model_str=texts[0]).predict(test.features, raw_score=True)
    np.testing.assert_array_equal(model.scorer.score(model.align(reordered(test)).features), expected)
    with inline_worker.store.read() as tx:
        assert not [f for f in tx.jobs.get(_job_of(tx, result)).findings or () if "categor" in f["code"]]


def _job_of(tx: Any, result: dict[str, Any]) -> str:
    return str(tx.models.get(result["model_id"]).job_id)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["evaluate", "rank", "inspect", "compare"])
def test_unseen_categories_are_found(inline_worker: InlineWorker, kind: str) -> None:
    """Every job that applies a model to a dataset counts the values that the model has not seen."""
    model_id = inline_worker.training_result(
        inline_worker.add(categorical_dataset(), "train"), hyperparameters=GROWN
    )["model_id"]
    test = categorical_dataset(30, seed=2)
    job = use(inline_worker, kind, inline_worker.add(reordered(test, unseen=7), "test"), model_id)
    findings = job.findings or []
    assert {(f["code"], f["severity"], f["count"], f["total"]) for f in findings} == {
        ("unseen-categories", "info", 7, test.n_documents)
    }
    title = f"7 of {test.n_documents:,} values of categorical features of the dataset are unknown to web:1"
    assert findings[0]["title"] == title
    assert "brand: neo" in findings[0]["advice"]
    assert findings[0]["examples"] == ["brand"]


def test_training_counts_unseen_categories_of_its_test_data(inline_worker: InlineWorker) -> None:
    """A training has a finding for the test values that the training data lack."""
    train_id = inline_worker.add(categorical_dataset(), "train")
    test_id = inline_worker.add(reordered(categorical_dataset(30, seed=2), unseen=9), "test")
    job = inline_worker.train(train_id, test_dataset_id=test_id, hyperparameters=GROWN)
    unseen = [f for f in job.findings or () if f["code"] == "unseen-categories"]
    assert [(f["count"], f["role"]) for f in unseen] == [(9, "test")]


@pytest.mark.long
def test_whole_numbers_become_categories_if_the_job_names_the_feature(inline_worker: InlineWorker) -> None:
    """The model has categories of the numbers; other features are refused with their JSON pointer."""
    dataset = categorical_dataset()
    train_id = inline_worker.add(dataset, "train")
    plain = inline_worker.training_result(train_id, hyperparameters=GROWN)
    result = inline_worker.training_result(train_id, hyperparameters=GROWN, categorical_feature=["shop"])
    assert inline_worker.model_text(result) != inline_worker.model_text(plain)
    model = load_model(inline_worker.store, result["model_id"])
    assert model.categories["shop"].values == ("5", "7", "12", "1001", "40000")
    aligned = model.align(dataset)
    shops = model.categories["shop"].texts(aligned.features[:, 3])
    assert [float(str(shop)) for shop in shops] == dataset.features[:, 3].tolist()
    again = use(inline_worker, "evaluate", train_id, result["model_id"])
    assert [finding["code"] for finding in again.findings or ()] == ["seen-queries"]
    reproduced = inline_worker.run(
        "reproduce",
        train_id,
        model_id=result["model_id"],
        model_name="web",
        loss={"name": "lambdarank"},
        hyperparameters=GROWN,
        metrics=["ndcg@5"],
        categorical_feature=["shop"],
    )
    assert reproduced.result is not None, reproduced.problem
    assert reproduced.result["equal"]
    refused = inline_worker.train(train_id, categorical_feature=["brand", "f 1"])
    assert refused.problem is not None
    assert refused.problem["errors"][0]["pointer"] == "/categorical_feature/1"


def test_imported_models_keep_their_categories(inline_worker: InlineWorker) -> None:
    """A text that LightGBM has loaded and saved has the same categories."""
    dataset = categorical_dataset()
    result = inline_worker.training_result(inline_worker.add(dataset, "train"), hyperparameters=GROWN)
    model = load_model(inline_worker.store, result["model_id"])
    text = ModelText.read(inline_worker.model_text(result))
    imported = lightgbm.Booster(model_str=inline_worker.model_text(result)).model_to_string()
    read = ModelText.read(imported)
    assert dict(read.categories) == dict(text.categories)
    assert read.categories[1].values == BRANDS
    assert (
        align_features(reordered(dataset), model.feature_names, model.categories).categories
        == model.categories
    )


def test_inspections_show_texts(inline_worker: InlineWorker) -> None:
    """Splits and partial dependence name categories by their texts."""
    train_id = inline_worker.add(categorical_dataset(), "train")
    result = inline_worker.training_result(train_id, hyperparameters=GROWN)
    model_id = result["model_id"]
    job = use(inline_worker, "inspect", train_id, model_id)
    assert job.result is not None
    with inline_worker.store.read() as tx:
        dependences = tx.inspections.get(job.result["inspection_id"]).partial_dependence
    for each in dependences:
        expected = (
            [BRANDS[int(point["value"])] for point in each["points"]] if each["feature"] == "brand" else []
        )
        assert [point["text"] for point in each["points"] if "text" in point] == expected
    assert "brand" in [each["feature"] for each in dependences]
    model = load_model(inline_worker.store, model_id)
    text = ModelText.read(inline_worker.model_text(result))
    split_categories = [
        node.categories
        for index in range(len(text.trees))
        for node in _splits(tree_nodes(text, index, model.feature_names))
        if node.feature == "brand"
    ]
    assert split_categories
    assert all(set(categories or ()) <= set(BRANDS) for categories in split_categories)


def _splits(node: Split | Leaf | None) -> Iterator[Split]:
    if isinstance(node, Split):
        yield node
        yield from _splits(node.left)
        yield from _splits(node.right)
