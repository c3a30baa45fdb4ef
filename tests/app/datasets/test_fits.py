"""Datasets that systems can be measured on."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from core.jobs import System
from core.store import Model, Store
from tests.app.conftest import TestClient
from tests.grids import FEATURES, finished_grid

pytestmark = pytest.mark.embedded


@pytest.fixture
def add(store: Store) -> Callable[..., str]:
    """Function that records a ready dataset with given features, and returns its id."""

    def add_dataset(features: Sequence[str] | None, data_key: str | None = None, **statistics: Any) -> str:
        with store.begin() as tx:
            dataset = tx.datasets.add("judged", {"kind": "upload"})
            counts = {"queries": 3, "documents": 9, "features": 6 if features is None else len(features)}
            tx.datasets.mark_ready(
                dataset.id,
                statistics=counts | statistics,
                feature_names=features,
                digest=dataset.id,
                data_key=data_key,
            )
        return dataset.id

    return add_dataset


def fits_and_proposal(client: TestClient, *systems: str) -> tuple[dict[str, Any], str | None]:
    """Return the fit of each dataset by id, and the proposed dataset."""
    response = client.get("/v1/datasets", params={"for": systems})
    assert response.status_code == 200, response.text
    page = response.json()
    return {item["id"]: item["fit"] for item in page["items"]}, page["default_id"]


def test_the_test_data_of_the_model_are_proposed(
    client: TestClient, store: Store, add: Callable[..., str]
) -> None:
    """The test data of the model are proposed, even if other datasets are newer."""
    test_id, training_id = add(FEATURES), add(FEATURES)
    grid = finished_grid(store, size=1, training_id=training_id, test_id=test_id)
    newer = add(FEATURES)
    fits, default = fits_and_proposal(client, grid.references[0])
    assert default == test_id
    assert {each: fits[each]["part"] for each in (test_id, training_id, newer)} == {
        test_id: "test",
        training_id: "train",
        newer: None,
    }
    assert all(fit["fits"] and fit["reason"] is None for fit in fits.values())
    page = client.get("/v1/datasets", params={"for": grid.references, "limit": 1}).json()
    assert ([item["id"] for item in page["items"]], page["default_id"]) == ([newer], test_id)


def test_a_dataset_without_most_features_does_not_fit(
    client: TestClient, store: Store, add: Callable[..., str]
) -> None:
    """The reason names the missing features; up to half of them may be missing, as in a job."""
    (reference,) = finished_grid(store, size=1).references
    most, half, others = add(FEATURES[:2]), add(FEATURES[:3]), add([f"x{j}" for j in range(9)])
    fits, _ = fits_and_proposal(client, reference)
    assert (
        fits[most]["reason"] == f"lacks 4 of the 6 features that {reference} uses (f3, f4, f5, f6); it has 2"
    )
    assert fits[most]["absent_features"] == ["f3", "f4", "f5", "f6"]
    assert fits[others]["reason"].startswith("lacks 6 of the 6 features")
    assert not fits[most]["fits"]
    assert (fits[half]["fits"], fits[half]["absent_features"]) == (True, ["f4", "f5", "f6"])


def test_names_of_earlier_releases_are_read(
    client: TestClient, store: Store, add: Callable[..., str]
) -> None:
    """Feature profiles supply the names that earlier releases did not store with the dataset."""
    (reference,) = finished_grid(store, size=1).references
    store.artifacts.write_bytes("data/k/features.json", json.dumps([{"name": "f1"}]).encode())
    earlier, unknown = add(None, "data/k/data.parquet"), add(None)
    fits, _ = fits_and_proposal(client, reference)
    assert fits[earlier]["absent_features"] == list(FEATURES[1:])
    assert (fits[unknown]["fits"], fits[unknown]["absent_features"]) == (True, [])


def test_a_dataset_that_cannot_be_measured_on_has_the_reason(
    client: TestClient, store: Store, add: Callable[..., str]
) -> None:
    """The reason is missing labels, missing features, or a dataset that is not ready."""
    (reference,) = finished_grid(store, size=1).references
    unlabelled = add(FEATURES, label_range={"missing": 9})
    half = add(FEATURES, label_range={"missing": 4})
    bare = add([])
    with store.begin() as tx:
        pending = tx.datasets.add("later", {"kind": "upload"}).id
    fits, _ = fits_and_proposal(client, reference)
    assert {each: fits[each]["reason"] for each in (unlabelled, half, bare, pending)} == {
        unlabelled: "has no labels",
        half: None,
        bare: "has judgments without features",
        pending: "is not ready",
    }


def test_most_tested_dataset_of_several_systems_is_proposed(
    client: TestClient, store: Store, add: Callable[..., str]
) -> None:
    """The dataset that most systems were tested on is proposed; a ranking needs no features."""
    one, other = add(FEATURES), add(FEATURES)
    first = finished_grid(store, name="a", size=1, test_id=one).references[0]
    second = finished_grid(store, name="b", size=1, test_id=other).references[0]
    bare = add([])
    with store.begin() as tx:
        run = tx.rankings.add(
            job_id=tx.jobs.add("import", {}).id,
            system=System("bm25", ranking_id="rnk_x"),
            dataset_id=other,
            queries=1,
            documents=1,
        )
        alone = tx.rankings.add(
            job_id=tx.jobs.add("import", {}).id,
            system=System("bm25", ranking_id="rnk_y"),
            dataset_id=bare,
            queries=1,
            documents=1,
        )
    assert fits_and_proposal(client, first, second, run.id)[1] == other
    fits, default = fits_and_proposal(client, alone.id)
    assert (default, fits[bare]) == (
        bare,
        {"fits": True, "reason": None, "absent_features": [], "part": "test"},
    )
    assert fits_and_proposal(client, first, alone.id)[0][bare]["reason"] == "has judgments without features"


def test_without_test_data_the_last_evaluated_dataset_is_proposed(
    client: TestClient, store: Store, add_model: Callable[..., Model]
) -> None:
    """The dataset of the latest evaluation is proposed, but never the training data."""
    model = add_model("web")
    assert fits_and_proposal(client, "web")[1] is None
    with store.begin() as tx:
        evaluated = tx.datasets.add("elsewhere", {"kind": "upload"})
        tx.datasets.mark_ready(evaluated.id, statistics={"features": 3}, feature_names=model.feature_names)
        for dataset_id in (evaluated.id, str(model.dataset_id)):
            tx.evaluations.add(
                job_id=model.job_id,
                system=System(model.reference, model.id),
                dataset_id=dataset_id,
                summaries={},
                contract={},
                baselines=[],
                slices=[],
            )
    assert fits_and_proposal(client, "web")[1] == evaluated.id


def test_an_unknown_model_is_not_found_and_systems_are_optional(
    client: TestClient, ready_dataset: Callable[[], str]
) -> None:
    """An unknown model is answered by 404; without systems, datasets have neither a fit nor a proposal."""
    dataset_id = ready_dataset()
    assert client.get("/v1/datasets?for=nothing").status_code == 404
    assert client.get("/v1/datasets?for=rnk_nothing").status_code == 404
    assert fits_and_proposal(client) == ({dataset_id: None}, None)


def test_fields_may_be_chosen(client: TestClient, store: Store, add: Callable[..., str]) -> None:
    """The proposed dataset is returned whichever fields are chosen."""
    (reference,) = finished_grid(store, size=1).references
    page = client.get("/v1/datasets", params={"for": reference, "fields": "name,fit.fits"}).json()
    assert all(set(item) == {"id", "name", "fit"} and item["fit"] == {"fits": True} for item in page["items"])
    assert page["default_id"] in {item["id"] for item in page["items"]}
