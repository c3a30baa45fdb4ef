"""Stored comparisons, and the systems that may be compared."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.evaluation import compare_systems
from core.jobs import System
from core.metrics import Conventions
from core.store import Model, Store
from core.store.artifacts.keys import comparison_key, ranking_key
from tests.app.conftest import TestClient

VALUES: dict[str, list[list[float | None]]] = {"ndcg@5": [[0.1, 0.4], [0.5, 0.5], [None, None], [0.9, 0.2]]}
QUERIES = ["q1", "q2", "q/3", "q4"]


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _ranking(store: Store, job_id: str, name: str, documents: list[str]) -> str:
    with store.begin() as tx:
        ranking = tx.rankings.add(
            job_id=job_id, system=System(name), dataset_id="ds_1", queries=4, documents=2 * 4
        )
    rows = [
        {
            "query_id": query,
            "document_id": document,
            "rank": rank,
            "score": 1.0 / rank,
            "label": 1.0 if document == "a" else None,
        }
        for query in QUERIES
        for rank, document in enumerate(documents, start=1)
    ]
    store.artifacts.write_bytes(ranking_key(ranking.id), _parquet(pa.Table.from_pylist(rows)))
    return ranking.id


@pytest.fixture
def comparison_id(store: Store, add_model: Callable[[str], Model]) -> str:
    """A stored comparison of two rankings on four queries; the metric is undefined for one query."""
    job_id = add_model("web").job_id
    rankings = [_ranking(store, job_id, "first", ["a", "b"]), _ranking(store, job_id, "second", ["b", "a"])]
    stored = {name: pa.array(rows, pa.list_(pa.float64())) for name, rows in VALUES.items()}
    table = pa.table({"query_id": QUERIES, **stored})
    values = {name: np.array(rows, float) for name, rows in VALUES.items()}
    result = compare_systems(["first", "second"], values, {"ndcg@5": True})
    summary: dict[str, Any] = {
        "mean": 0.5,
        "lower": 0.4,
        "upper": 0.6,
        "quantiles": None,
        "queries": 3,
        "skipped": 1,
        "higher_is_better": True,
        "contract": {},
    }
    with store.begin() as tx:
        comparison = tx.comparisons.add(
            job_id=job_id,
            dataset_id="ds_1",
            sentence=result.sentence,
            systems=[
                {"name": name, "model_id": None, "ranking_id": ranking_id, "metrics": {"ndcg@5": summary}}
                for name, ranking_id in zip(("first", "second"), rankings, strict=True)
            ],
            metrics=list(VALUES),
            contract=Conventions().to_json(),
            permutations=1000,
            seed=42,
            pairs=[pair.to_json(QUERIES) for pair in result.pairs],
        )
    store.artifacts.write_bytes(comparison_key(comparison.id), _parquet(table))
    return comparison.id


def test_a_comparison_shows_its_result(client: TestClient, comparison_id: str) -> None:
    """The comparison has a sentence, its tests, and the queries with the largest changes."""
    comparison = client.get(f"/v1/comparisons/{comparison_id}").json()
    (pair,) = comparison["pairs"]
    assert comparison["sentence"] == pair["sentence"]
    assert pair["metrics"]["ndcg@5"]["queries"] == 3
    assert pair["metrics"]["ndcg@5"]["randomisation_p"] == pytest.approx(1.0)
    assert [changed["query_id"] for changed in pair["most_improved"]] == ["q1"]
    assert [changed["query_id"] for changed in pair["most_harmed"]] == ["q4"]
    (entry,) = client.get("/v1/comparisons").json()["items"]
    assert (entry["id"], entry["systems"]) == (comparison_id, ["first", "second"])
    assert client.get("/v1/comparisons/cmp_none").status_code == 404


def test_the_queries_of_a_comparison_are_paged(client: TestClient, comparison_id: str) -> None:
    """A query has one value per system, null where the metric is undefined."""
    first = client.get(f"/v1/comparisons/{comparison_id}/queries?limit=3").json()
    assert [(item["query_id"], item["values"]["ndcg@5"]) for item in first["items"]] == [
        ("q1", [0.1, 0.4]),
        ("q2", [0.5, 0.5]),
        ("q/3", [None, None]),
    ]
    rest = client.get(f"/v1/comparisons/{comparison_id}/queries?cursor={first['next_cursor']}").json()
    assert [item["query_id"] for item in rest["items"]] == ["q4"]


def test_differences_are_sorted_and_have_the_order_of_the_pair(
    client: TestClient, comparison_id: str
) -> None:
    """The differences are B − A, or A − B if `a` and `b` are swapped."""
    answer = client.get(f"/v1/comparisons/{comparison_id}/differences").json()
    assert answer["queries"] == 3
    assert answer["differences"] == pytest.approx([-0.7, 0.0, 0.3])
    for name in ("ndcg@5", "nDCG@5"):
        swapped = client.get(f"/v1/comparisons/{comparison_id}/differences?a=1&b=0&metric={name}").json()
        assert swapped["differences"] == pytest.approx([-0.3, 0.0, 0.7])


@pytest.mark.parametrize(("query", "pointer"), [("metric=map", "/metric"), ("b=2", "/b"), ("a=2", "/a")])
def test_unknown_systems_and_metrics_are_named(
    client: TestClient, comparison_id: str, query: str, pointer: str
) -> None:
    """The answer points at the parameter."""
    response = client.get(f"/v1/comparisons/{comparison_id}/differences?{query}")
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_rankings_are_shown_side_by_side(client: TestClient, comparison_id: str) -> None:
    """Each system has its first documents with scores and labels; an unknown query is 404."""
    path = f"/v1/comparisons/{comparison_id}/rankings"
    answer = client.get(path, params={"query_id": "q/3", "top": 1}).json()
    tops = [(system["name"], system["documents"], system["ranking"]) for system in answer["systems"]]
    assert tops == [
        ("first", 2, [{"document_id": "a", "rank": 1, "score": 1.0, "label": 1.0}]),
        ("second", 2, [{"document_id": "b", "rank": 1, "score": 1.0, "label": None}]),
    ]
    assert client.get(path, params={"query_id": "q5"}).status_code == 404


def _compare(dataset_id: str, systems: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"kind": "compare", "dataset_id": dataset_id, "systems": systems, **more}


def test_a_comparison_is_queued_with_resolved_references(
    client: TestClient, store: Store, add_model: Callable[[str], Model], ready_dataset: Callable[[], str]
) -> None:
    """References become ids and names, and a preset becomes its conventions."""
    first, second = add_model("web"), add_model("web")
    rankings = [_ranking(store, first.job_id, "bm25", ["a"]) for _ in range(2)]
    systems = [
        {"model": "web:1"},
        {"model": second.id},
        *({"ranking_id": ranking_id} for ranking_id in rankings),
    ]
    response = client.post(
        "/v1/jobs", json=_compare(ready_dataset(), systems, contract={"preset": "letor", "max_label": 5})
    )
    assert response.status_code == 202, response.text
    spec = response.json()["spec"]
    assert [(system.get("model_id"), system["system"]) for system in spec["systems"]] == [
        (first.id, "web:1"),
        (second.id, "web:2"),
        (None, f"bm25 ({rankings[0]})"),
        (None, f"bm25 ({rankings[1]})"),
    ]
    assert (spec["contract"]["preset"], spec["contract"]["discount"]) == (None, "letor")
    assert (spec["permutations"], spec["seed"]) == (100_000, 42)


def test_pooled_folds_replace_a_model_by_its_ranking(
    client: TestClient, store: Store, add_model: Callable[[str], Model], ready_dataset: Callable[[], str]
) -> None:
    """The stored ranking by folds is compared; a model trained on another dataset is refused."""
    first, second = add_model("web"), add_model("web")
    dataset_id = first.dataset_id or ""
    ranking_id = _ranking(store, first.job_id, "web:1 by folds", ["a"])
    with store.begin() as tx:
        tx.models.get(first.id).validation = {"cross_validation": {"ranking_id": ranking_id}}
        tx.models.get(second.id).validation = {"cross_validation": {"ranking_id": ranking_id}}
    bm25 = {"ranking_id": _ranking(store, first.job_id, "bm25", ["a"])}

    def submit(trained_on: str, model: str) -> Any:
        body = _compare(trained_on, [bm25, {"model": model}], pool_folds=True, reference=0, correction="none")
        return client.post("/v1/jobs", json=body)

    accepted = submit(dataset_id, "web:1")
    assert accepted.status_code == 202, accepted.text
    spec = accepted.json()["spec"]
    assert spec["systems"][1] == {"ranking_id": ranking_id, "system": "web:1 by folds"}
    assert (spec["pool_folds"], spec["reference"], spec["correction"]) == (True, 0, "none")
    third = add_model("web")
    for model, detail in ((second, "another dataset"), (third, "was not cross-validated")):
        refused = submit(dataset_id, model.id)
        (error,) = refused.json()["errors"]
        assert error["pointer"] == "/systems/1/model"
        assert detail in error["detail"]
    beyond = _compare(dataset_id, [bm25, {"model": "web"}], reference=2)
    (error,) = client.post("/v1/jobs", json=beyond).json()["errors"]
    assert error["pointer"] == "/reference"


def test_a_geometric_mean_is_not_compared(
    client: TestClient, add_model: Callable[[str], Model], ready_dataset: Callable[[], str]
) -> None:
    """The difference of geometric means is no mean over queries; the error names the metric to use."""
    add_model("web"), add_model("web")
    systems = [{"model": "web:1"}, {"model": "web:2"}]
    response = client.post("/v1/jobs", json=_compare(ready_dataset(), systems, metrics=["map", "gm_map"]))
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["pointer"] == "/metrics/1"
    assert "use map" in error["detail"]


def test_a_system_is_compared_once(
    client: TestClient, add_model: Callable[[str], Model], ready_dataset: Callable[[], str]
) -> None:
    """Two references to the same model are refused."""
    model = add_model("web")
    response = client.post(
        "/v1/jobs", json=_compare(ready_dataset(), [{"model": "web"}, {"model": model.id}])
    )
    assert [error["pointer"] for error in response.json()["errors"]] == ["/systems/1"]


@pytest.mark.parametrize(
    ("systems", "pointer"),
    [
        ([{"model": "web"}], "/systems"),
        ([{"model": "web"}] * 21, "/systems"),
        ([{"model": "web"}, {"run": "x"}], "/systems/1"),
        ([{"model": "web"}, {"ranking_id": 3}], "/systems/1/ranking_id"),
    ],
)
def test_invalid_systems_are_refused(
    client: TestClient, ready_dataset: Callable[[], str], systems: list[dict[str, Any]], pointer: str
) -> None:
    """A comparison needs two to twenty systems, each a model or a ranking."""
    response = client.post("/v1/jobs", json=_compare(ready_dataset(), systems))
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_an_evaluation_names_one_system(
    client: TestClient, store: Store, add_model: Callable[[str], Model], ready_dataset: Callable[[], str]
) -> None:
    """An evaluation needs either a model or a ranking; a ranking has no gradient to diagnose."""
    model = add_model("web")
    ranking_id = _ranking(store, model.job_id, "bm25", ["a"])
    dataset_id = ready_dataset()
    base = {"kind": "evaluate", "dataset_id": dataset_id}
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "/model"),
        ({"model": "web", "ranking_id": ranking_id}, "/model"),
        ({"ranking_id": ranking_id, "diagnostics": {"loss": {"name": "lambdarank"}}}, "/diagnostics"),
        (
            {"model": "web", "diagnostics": {"loss": {"name": "lambdarank", "sigma": 0}}},
            "/diagnostics/loss/sigma",
        ),
        ({"model": "web", "contract": "trec"}, "/contract"),
        ({"model": "web", "contract": {"preset": "letor", "ties": "coin"}}, "/contract/ties"),
    ]
    for request, pointer in cases:
        response = client.post("/v1/jobs", json=base | request)
        assert response.status_code == 422, response.text
        assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    accepted = client.post("/v1/jobs", json=base | {"ranking_id": ranking_id, "contract": "trec_eval"})
    assert accepted.status_code == 202
    assert accepted.json()["spec"]["system"] == "bm25"
    assert accepted.json()["spec"]["contract"]["preset"] == "trec_eval"


@pytest.mark.parametrize("change", [{"max_documents": 100}, {"judged_only": True}, {"ties": "stable"}])
def test_a_contract_changes_a_preset(
    client: TestClient, add_model: Callable[[str], Model], ready_dataset: Callable[[], str], change: Any
) -> None:
    """Any convention of a preset can be changed; the result is no preset."""
    add_model("web")
    request = {"kind": "evaluate", "dataset_id": ready_dataset(), "model": "web"}
    accepted = client.post("/v1/jobs", json={**request, "contract": {"preset": "trec_eval", **change}})
    assert accepted.status_code == 202, accepted.text
    contract = accepted.json()["spec"]["contract"]
    assert contract["preset"] is None
    assert contract.items() >= change.items()
