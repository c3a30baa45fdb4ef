"""Data requirements of jobs, checked against the statistics before anything runs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, dataset_statistics
from core.store import Store
from tests.app.conftest import TestClient

AddDataset = Callable[..., str]


@pytest.fixture
def add_dataset(store: Store) -> AddDataset:
    """Function that records a ready dataset of three queries with given labels."""

    def add(labels: list[float], **parts: Any) -> str:
        dataset = RankingDataset.from_arrays(
            np.zeros((len(labels), 1)), labels, [0, 1, 2, len(labels)], **parts
        )
        with store.begin() as tx:
            row = tx.datasets.add("judged", {"kind": "upload", "filename": "x", "format": "letor"})
            tx.datasets.mark_ready(row.id, statistics=dataset_statistics(dataset))
        return row.id

    return add


def _train(dataset_id: str, **changes: Any) -> dict[str, Any]:
    request = {"kind": "train", "model_name": "web", "dataset_id": dataset_id, "loss": {"name": "lambdarank"}}
    return request | changes


LINEAR = {"name": "lambdarank", "gain": "linear"}


@pytest.mark.parametrize(
    ("labels", "changes", "pointer"),
    [
        ([0, 1, 2, 3], {}, None),
        ([0, 1, -1, 2], {}, "/label_map"),
        ([0, 1, -1, 2], {"label_map": {"-1": 0}}, None),
        ([0, 1, np.nan, 2], {}, "/label_map"),
        ([0, 1, np.nan, 2], {"label_map": {"nan": 0}}, None),
        ([0, 1, -1, np.nan], {"label_map": {"-1": 0}}, "/label_map"),
        ([0, 1, 2, 31], {}, "/loss/gain"),
        ([0, 1, 2, 31], {"loss": LINEAR}, None),
        ([0, 1, 2, 31], {"label_map": {"31": 4}}, None),
        ([0, 1, 2, 5], {"loss": {"name": "lambdarank", "gain": [0, 1, 3]}}, "/loss/gain"),
        ([0, 1, 2, 0.5], {"loss": {"name": "lambdarank", "gain": [0, 1, 3]}}, "/loss/gain"),
    ],
)
def test_labels_that_the_loss_cannot_use_are_refused(
    client: TestClient,
    add_dataset: AddDataset,
    labels: list[float],
    changes: dict[str, Any],
    pointer: str | None,
) -> None:
    """The error points at the field that solves it: another gain or a map of labels."""
    response = client.post("/v1/jobs", json=_train(add_dataset(labels), **changes))
    if pointer is None:
        assert response.status_code == 202
    else:
        assert response.status_code == 422
        assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({}, None),
        ({"scorer": {"kind": "linear"}}, "/scorer"),
        ({"scorer": {"kind": "mlp"}, "features": {"use": ["bm25", "brand"]}}, "/scorer"),
        ({"scorer": {"kind": "mlp"}, "features": {"leave_out": ["brand"]}}, None),
    ],
)
def test_categorical_features_are_refused_for_linear_scorers_and_networks(
    client: TestClient, store: Store, changes: dict[str, Any], pointer: str | None
) -> None:
    """Trees use them; other scorers must leave them out."""
    dataset = RankingDataset.from_arrays(
        np.zeros((4, 3)),
        [0, 1, 2, 3],
        [0, 2, 4],
        feature_names=("bm25", "brand", "age"),
        categories={"brand": ("acme", "zenith")},
    )
    with store.begin() as tx:
        row = tx.datasets.add("judged", {"kind": "upload", "filename": "x", "format": "parquet"})
        statistics, names = dataset_statistics(dataset), dataset.feature_names
        tx.datasets.mark_ready(row.id, statistics=statistics, feature_names=names)
    response = client.post("/v1/jobs", json=_train(row.id, **changes))
    assert response.status_code == (202 if pointer is None else 422), response.text
    assert [error["pointer"] for error in response.json().get("errors", ())] == ([pointer] if pointer else [])


def test_labels_of_held_out_datasets_are_checked_too(client: TestClient, add_dataset: AddDataset) -> None:
    """A job whose test or validation labels are unusable is refused before it starts."""
    good, bad = add_dataset([0, 1, 2, 3]), add_dataset([0, 1, -2, 3])
    assert client.post("/v1/jobs", json=_train(good, test_dataset_id=bad)).status_code == 422
    assert client.post("/v1/jobs", json=_train(good, validation={"dataset_id": bad})).status_code == 422


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"validation": {"folds": 3, "fold": 3}}, None),
        ({"validation": {"folds": 4, "fold": 1}}, "/validation/folds"),
        ({"validation": {"folds": 3}}, None),
        ({"validation": {"folds": 4}}, "/validation/folds"),
        ({"validation": {"fold_column": "split"}}, None),
        ({"validation": {"fold_column": "fold"}}, "/validation/fold_column"),
        ({"validation": {"folds": 101}}, "/validation/folds"),
        ({"test": {"folds": 3}}, "/test/fold"),
        ({"test": {"column": "split", "values": ["test"]}}, None),
        ({"test": {"column": "fold", "values": ["1"]}}, "/test/column"),
    ],
)
def test_held_out_folds_and_columns_must_exist(
    client: TestClient, add_dataset: AddDataset, changes: dict[str, Any], pointer: str | None
) -> None:
    """Folds and columns are checked against the dataset."""
    dataset_id = add_dataset([0, 1, 2, 3], query_columns={"split": ["train", "train", "test"]})
    response = client.post("/v1/jobs", json=_train(dataset_id, **changes))
    if pointer is None:
        assert response.status_code == 202
        assert response.json()["spec"].items() >= changes.items()
    else:
        assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
