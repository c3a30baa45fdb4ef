"""Inspections of models over HTTP, and refused requests."""

from collections.abc import Callable
from typing import Any

import lightgbm
import pytest

from core.metrics import Conventions
from core.store import Inspection, Model, Store
from core.store.artifacts.keys import model_key
from tests.app.conftest import FEATURE_NAMES, TestClient

_RESULTS: dict[str, Any] = {
    "contract": Conventions().to_json(),
    "baseline": {
        "mean": 0.5,
        "lower": 0.4,
        "upper": 0.6,
        "quantiles": None,
        "queries": 3,
        "skipped": 0,
        "higher_is_better": True,
        "contract": {"gain": "exp2"},
    },
    "importance": [
        {"feature": "bm25", "mean": 0.2, "standard_error": 0.01, "lower": 0.1, "upper": 0.3},
        {"feature": "pagerank", "mean": 0.0, "standard_error": None, "lower": 0.0, "upper": 0.0},
    ],
    "partial_dependence": [
        {
            "feature": "bm25",
            "points": [{"value": 0.5, "share": 0.5, "mean": 1.0, "lower": 0.5, "upper": 1.5}],
            "missing": {"share": 0.1, "mean": 0.0, "lower": -0.5, "upper": 0.5},
            "percentiles": [0.0, 0.5, 1.0],
        }
    ],
}
_OPTIONS: dict[str, Any] = {"metric": "ndcg@5", "repeats": 5, "within": "query", "seed": 42, "sample": 100}


@pytest.fixture
def add_inspection(store: Store) -> Callable[[Model], Inspection]:
    """Function that records inspections."""

    def add(model: Model) -> Inspection:
        with store.begin() as tx:
            return tx.inspections.add(
                job_id=model.job_id, model_id=model.id, dataset_id=model.dataset_id, **_OPTIONS, **_RESULTS
            )

    return add


def test_an_inspection_is_shown_with_all_its_results(
    client: TestClient, add_model: Callable[[str], Model], add_inspection: Callable[[Model], Inspection]
) -> None:
    """The answer has the stored values, and the preset of the contract."""
    inspection = add_inspection(add_model("web"))
    shown = client.get(f"/v1/inspections/{inspection.id}").json()
    assert {name: shown[name] for name in _OPTIONS} == _OPTIONS
    contract = {**Conventions().to_json(), "preset": "default", "max_documents": None, "judged_only": False}
    expected = {**_RESULTS, "contract": contract}
    assert {name: shown[name] for name in _RESULTS} == expected
    assert client.get("/v1/inspections/ins_none").status_code == 404


def test_the_inspections_of_a_model_are_listed_newest_first(
    client: TestClient, add_model: Callable[[str], Model], add_inspection: Callable[[Model], Inspection]
) -> None:
    """Pages have only inspections of this version, without their results."""
    first, second = add_model("web"), add_model("web")
    add_inspection(second)
    ids = [add_inspection(first).id for _ in range(3)]
    page = client.get("/v1/models/web:1/inspections?limit=2").json()
    assert [item["id"] for item in page["items"]] == ids[:0:-1]
    assert "importance" not in page["items"][0]
    rest = client.get(f"/v1/models/web:1/inspections?cursor={page['next_cursor']}").json()
    assert ([item["id"] for item in rest["items"]], rest["next_cursor"]) == (ids[:1], None)


def test_importance_is_lightgbms(client: TestClient, store: Store, add_model: Callable[[str], Model]) -> None:
    """Features have gains, splits and shares, by the names of the dataset, the largest gain first."""
    model = add_model("web")
    booster = lightgbm.Booster(model_str=store.artifacts.read_bytes(model_key(model.id)).decode())
    shown = client.get("/v1/models/web/importance").json()
    assert (shown["model_id"], shown["trees"]) == (model.id, 2)
    assert [each["feature"] for each in shown["features"]] == FEATURE_NAMES
    assert [each["gain"] for each in shown["features"]] == booster.feature_importance("gain").tolist()
    assert [each["split"] for each in shown["features"]] == booster.feature_importance("split").tolist()
    assert [each["gain_share"] for each in shown["features"]] == [1.0, 0.0, 0.0]
    assert [each["split_share"] for each in shown["features"]] == [1.0, 0.0, 0.0]


def test_a_tree_is_nested(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """A tree is nested down to the requested depth, from any of its splits."""
    model = add_model("web")
    shown = client.get("/v1/models/web/trees/1").json()
    assert (shown["model_id"], shown["index"], shown["trees"]) == (model.id, 1, 2)
    root = shown["root"]
    assert (root["kind"], root["feature"], root["documents"]) == ("split", "bm25", 200)
    assert _leaves(root) == root["leaves"] == 8
    shallow = client.get("/v1/models/web/trees/1?depth=1").json()["root"]
    assert shallow == {**root, "left": None, "right": None}
    split = next(child for child in (root["left"], root["right"]) if child["kind"] == "split")
    assert client.get(f"/v1/models/web/trees/1?root={split['split']}").json()["root"] == split


def _leaves(node: dict[str, Any]) -> int:
    return 1 if node["kind"] == "leaf" else _leaves(node["left"]) + _leaves(node["right"])


@pytest.mark.parametrize(
    ("path", "status", "pointer"),
    [
        ("web/trees/2", 422, "/index"),
        ("web/trees/-1", 422, "/index"),
        ("web/trees/first", 422, "/index"),
        ("web/trees/0?root=99", 422, "/root"),
        ("web/trees/0?depth=65", 422, "/depth"),
        ("none/trees/0", 404, None),
        ("none/importance", 404, None),
        ("none/inspections", 404, None),
        ("web/inspections?cursor=x", 422, "/cursor"),
    ],
)
def test_unknown_trees_and_models_are_refused(
    client: TestClient, add_model: Callable[[str], Model], path: str, status: int, pointer: str | None
) -> None:
    """A tree, a split or a model that does not exist is refused, and so is a wrong parameter."""
    add_model("web")
    answer = client.get(f"/v1/models/{path}")
    assert answer.status_code == status
    if pointer:
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_an_inspection_is_stored_with_its_defaults(
    client: TestClient, add_model: Callable[[str], Model], ready_dataset: Callable[[], str]
) -> None:
    """Defaults, the model's id and the full contract are stored."""
    model = add_model("web")
    request = {"kind": "inspect", "model": "web", "dataset_id": ready_dataset(), "contract": "letor"}
    answer = client.post("/v1/jobs", json=request)
    assert answer.status_code == 202, answer.text
    spec = answer.json()["spec"]
    assert (spec["model"], spec["model_id"], spec["system"]) == ("web", model.id, "web:1")
    assert (spec["metric"], spec["repeats"], spec["within"], spec["seed"]) == ("ndcg@10", 5, "dataset", 42)
    assert spec["partial_dependence"] == {"features": None, "grid": 32, "sample": 2000}
    assert spec["contract"]["discount"] == "letor"


@pytest.mark.parametrize(
    ("change", "pointers"),
    [
        ({"metric": "fame@5"}, ["/metric"]),
        ({"metric": "gm_map"}, ["/metric"]),
        ({"repeats": 0}, ["/repeats"]),
        ({"within": "corpus"}, ["/within"]),
        (
            {"partial_dependence": {"features": ["bm25", "fame", "bm25"]}},
            ["/partial_dependence/features/1", "/partial_dependence/features/2"],
        ),
        ({"partial_dependence": {"grid": 1}}, ["/partial_dependence/grid"]),
        ({"label_map": {"x": 1.0}}, ["/label_map/x"]),
        ({"contract": {"gain": [1.0], "max_label": 0}}, ["/contract/max_label"]),
    ],
)
def test_each_invalid_value_is_reported_with_its_pointer(
    client: TestClient,
    add_model: Callable[[str], Model],
    ready_dataset: Callable[[], str],
    change: dict[str, Any],
    pointers: list[str],
) -> None:
    """Each unknown or repeated feature is reported separately."""
    add_model("web")
    request = {"kind": "inspect", "model": "web", "dataset_id": ready_dataset(), **change}
    answer = client.post("/v1/jobs", json=request)
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == pointers


def test_judgments_without_features_are_refused(
    client: TestClient, store: Store, add_model: Callable[[str], Model]
) -> None:
    """A model cannot score judgments without features."""
    add_model("web")
    with store.begin() as tx:
        bare = tx.datasets.add("qrels", {"kind": "upload"}).id
        tx.datasets.mark_ready(bare, statistics={"queries": 3, "documents": 9, "features": 0})
    answer = client.post("/v1/jobs", json={"kind": "inspect", "model": "web", "dataset_id": bare})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/dataset_id")
