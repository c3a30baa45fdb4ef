"""Parameters shared by all lists: sorting, search by prefix, and selection of fields."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import app.dashboard
from core.jobs import System
from core.metrics import Conventions
from core.store import Model, Store
from tests.app.conftest import TestClient

_VIEWS = Path(app.dashboard.__file__).parent / "static" / "views"
VIEWS = [path for path in sorted(_VIEWS.glob("*.js")) if "showList({" in path.read_text()]
LISTS = ["jobs", "datasets", "models", "evaluations", "comparisons", "rankings"]


@pytest.fixture
def listed(client: TestClient, store: Store, add_model: Callable[[str], Model]) -> TestClient:
    """A service with two records of each kind."""
    for name in ("beta", "alpha"):
        model = add_model(name)
        about: dict[str, Any] = {"job_id": model.job_id, "dataset_id": str(model.dataset_id)}
        system = System(model.reference, model.id)
        with store.begin() as tx:
            tx.evaluations.add(
                **about,
                system=system,
                summaries={"ndcg@10": {"mean": 0.5, "lower": 0.4, "upper": 0.6}},
                contract=Conventions().to_json(),
                baselines=[],
                slices=[],
            )
            tx.rankings.add(**about, system=system, queries=3, documents=9)
            tx.comparisons.add(
                **about,
                sentence=f"{name} is better",
                systems=[{"name": name}, {"name": "other"}],
                metrics=["ndcg@10"],
                contract=Conventions().to_json(),
                permutations=1,
                seed=0,
                pairs=[{"verdict": "better"}],
            )
    return client


def _items(client: TestClient, path: str) -> list[dict[str, Any]]:
    response = client.get(f"/v1/{path}")
    assert response.status_code == 200, response.text
    items: list[dict[str, Any]] = response.json()["items"]
    return items


@pytest.mark.parametrize("name", LISTS)
def test_fields_select_the_members_of_items(listed: TestClient, name: str) -> None:
    """Items have the id and the requested fields, with the values that they have without a selection."""
    whole = _items(listed, name)
    some = _items(
        listed, f"{name}?fields=created_at,job_id" if name != "jobs" else f"{name}?fields=created_at,kind"
    )
    assert len(whole) == 2
    for item, chosen in zip(whole, some, strict=True):
        assert len(chosen) == 3
        assert chosen == {field: item[field] for field in chosen}


def test_members_of_a_field_are_chosen(listed: TestClient) -> None:
    """A path selects a member of an object or of each object of a list; unknown members are left out."""
    (dataset, _) = _items(listed, "datasets?fields=statistics.queries,statistics.nothing,findings.code")
    assert dataset == {"id": dataset["id"], "statistics": {"queries": 3}, "findings": []}
    (evaluation, _) = _items(listed, "evaluations?fields=metrics.ndcg@10")
    assert evaluation["metrics"] == {"ndcg@10": {"mean": 0.5, "lower": 0.4, "upper": 0.6}}
    (both, _) = _items(listed, "datasets?fields=statistics.queries,statistics")
    assert both["statistics"] == {"queries": 3, "documents": 9, "features": 3}


def test_chosen_members_keep_their_order(listed: TestClient) -> None:
    """The order is that of the object, so that responses of all processes have the same `ETag`."""
    members = ("queries", "documents", "features")
    fields = ",".join(f"statistics.{member}" for member in reversed(members))
    (dataset, _) = _items(listed, f"datasets?fields={fields}")
    assert tuple(dataset["statistics"]) == members


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("fields=nothing", "/fields"),
        ("fields=", "/fields"),
        ("fields=id,,id", "/fields"),
        ("sort=nothing", "/sort"),
        ("order=up", "/order"),
        ("prefix=", "/prefix"),
        ("prefix=a%00", "/prefix"),
    ],
)
def test_wrong_parameters_are_named(refusing_client: TestClient, name: str, query: str, pointer: str) -> None:
    """Every list refuses the same parameters and points at them."""
    response = refusing_client.get(f"/v1/{name}?{query}")
    assert response.status_code == 422, response.text
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_sorting_by_metric_and_the_metric_require_each_other(listed: TestClient) -> None:
    """`sort=metric` needs a valid `metric`, and `metric` needs `sort=metric`."""
    for name in ("models", "evaluations"):
        assert len(_items(listed, f"{name}?sort=metric&metric=ndcg@10")) == 2
        for query in ("sort=metric", "metric=ndcg@10", "sort=metric&metric=ndgc"):
            response = listed.get(f"/v1/{name}?{query}")
            assert [error["pointer"] for error in response.json()["errors"]] == ["/metric"]


@pytest.mark.parametrize(
    ("name", "column", "field"),
    [
        ("jobs", "name", "title"),
        ("models", "name", "name"),
        ("evaluations", "system", "system"),
        ("rankings", "system", "system"),
    ],
)
def test_lists_are_sorted_and_searched(listed: TestClient, name: str, column: str, field: str) -> None:
    """Lists are sorted and searched by the columns of the dashboard's tables."""
    shown = [item[field][:4] for item in _items(listed, f"{name}?sort={column}")]
    assert shown == ["alph", "beta"]
    assert [item[field][:4] for item in _items(listed, f"{name}?sort={column}&order=desc")] == shown[::-1]
    assert [item[field][:4] for item in _items(listed, f"{name}?prefix=BET")] == ["beta"]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: str(view.stem))
def test_columns_of_the_dashboard_can_be_sorted_by(openapi_document: dict[str, Any], view: Path) -> None:
    """Each `sort` of a view is one of the list that it shows."""
    source = view.read_text()
    (kind,) = re.findall(r'\n  kind: "([a-z-]+)"', source)
    parameters = openapi_document["paths"][f"/v1/{kind}"]["get"]["parameters"]
    (sorts,) = [each["schema"]["enum"] for each in parameters if each["name"] == "sort"]
    missing = set(re.findall(r'\bsort: "(\w+)"', source)) - set(sorts)
    assert not missing, f"add {missing} to `columns` of the repository in core/store/repositories/"


def test_results_name_their_dataset_and_verdict(listed: TestClient, store: Store) -> None:
    """A list needs no request for each dataset; a deleted dataset has no name."""
    for name in ("evaluations", "comparisons", "rankings", "models"):
        assert [item["dataset_name"] for item in _items(listed, name)] == ["judged", "judged"]
    assert [item["verdict"] for item in _items(listed, "comparisons")] == ["better", "better"]
    with store.begin() as tx:
        for job in tx.jobs.page(None, 9).items:
            tx.jobs.request_cancel(job.id)
    deleted = _items(listed, "comparisons")[0]["dataset_id"]
    assert listed.delete(f"/v1/datasets/{deleted}").status_code == 204
    assert [item["dataset_name"] for item in _items(listed, "comparisons")] == [None, "judged"]


def test_a_listed_model_has_all_aliases_of_its_name(
    listed: TestClient, add_model: Callable[[str], Model]
) -> None:
    """`aliases` has those of the version, and `name_aliases` has all of the name."""
    add_model("beta")
    assert listed.put("/v1/models/beta/aliases/champion", json={"version": 1}).status_code == 200
    second, _, first = _items(listed, "models")
    assert (second["aliases"], second["name_aliases"]) == ([], {"champion": 1})
    assert (first["aliases"], first["name_aliases"]) == (["champion"], {"champion": 1})
    assert [item["version"] for item in _items(listed, "models?latest=true&sort=name")] == [1, 2]


def test_jobs_are_found_by_their_ids(listed: TestClient) -> None:
    """One request finds several jobs; unknown ids are left out."""
    older = _items(listed, "jobs")[1]
    assert _items(listed, f"jobs?id={older['id']}&id=job_none") == [older]


def test_several_models_are_tagged(listed: TestClient) -> None:
    """All models are tagged, or none if one is unknown."""
    ids = [item["id"] for item in _items(listed, "models")]
    response = listed.post("/v1/models/tags", json={"ids": ids, "tags": {"team": "search"}})
    assert response.status_code == 200, response.text
    assert [item["tags"] for item in response.json()["items"]] == [{"team": "search"}] * 2
    wrong = {"ids": [*ids, "mdl_none"], "tags": {"team": None}}
    assert listed.post("/v1/models/tags", json=wrong).status_code == 404
    assert [item["tags"] for item in _items(listed, "models")] == [{"team": "search"}] * 2
    assert listed.post("/v1/models/tags", json={"ids": ids, "tags": {}}).status_code == 422


def test_several_datasets_are_deleted(listed: TestClient, ready_dataset: Callable[[], str]) -> None:
    """A dataset in use is kept with the reason; a repeated request reports deleted ones as missing."""
    free = ready_dataset()
    used = _items(listed, "jobs")[0]["dataset_names"]
    body = {"ids": [free, *used, free]}
    response = listed.post("/v1/datasets/delete", json=body)
    assert response.status_code == 200, response.text
    deleted, refused = response.json()["items"]
    assert deleted == {"id": free, "outcome": "deleted", "detail": None}
    assert refused["outcome"] == "in_use"
    assert "and uses it" in refused["detail"]
    again = listed.post("/v1/datasets/delete", json=body).json()["items"]
    assert [item["outcome"] for item in again] == ["missing", "in_use"]
    assert [item["id"] for item in _items(listed, "trash")] == [free]
    restored = listed.post("/v1/trash/restore", json={"ids": [free]})
    assert restored.json()["restored"] == {"datasets": 1}
    gone = listed.post("/v1/datasets/delete", json=body | {"permanently": True}).json()["items"]
    assert [item["outcome"] for item in gone] == ["deleted", "in_use"]
    assert _items(listed, "trash") == []
