"""Interleavings over HTTP: creation, lists, clicks and verdicts."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi import FastAPI

from app.http.services import registered
from app.served.writer import ListWriter
from core.store import Store
from core.store.tables import Model
from tests.app.conftest import FEATURE_NAMES, TestClient

DOCUMENTS: list[dict[str, Any]] = [
    {"id": f"d{place}", "features": {"bm25": float(place), "pagerank": -float(place)}} for place in range(12)
]
RANKINGS = {"a": ["d1", "d2", "d3", "d4"], "b": ["d4", "d3", "d2", "d1"]}


def create(client: TestClient, **changed: Any) -> dict[str, Any]:
    """Create an interleaving of two rankings whose clicks count immediately."""
    body: dict[str, Any] = {"name": "test", "rankings": ["a", "b"], "click_window_seconds": 0, **changed}
    answer = client.post("/v1/interleavings", json=body)
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/v1/interleavings/{answer.json()['id']}"
    created: dict[str, Any] = answer.json()
    return created


def request_list(
    client: TestClient, interleaving: dict[str, Any], user: str | None, query: str = "q1"
) -> dict[str, Any]:
    """Request an interleaved list of two rankings."""
    body = {"user": user, "query": {"id": query}, "rankings": RANKINGS}
    answer = client.post(f"/v1/interleavings/{interleaving['id']}/lists", json=body)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


def click(
    client: TestClient, interleaving: dict[str, Any], ranking_id: str, *documents: str
) -> dict[str, int]:
    """Send clicks on documents of a list."""
    events = [{"ranking_id": ranking_id, "document_id": document} for document in documents]
    answer = client.post(f"/v1/interleavings/{interleaving['id']}/events", json={"events": events})
    assert answer.status_code == 200, answer.text
    counts: dict[str, int] = answer.json()
    return counts


def test_interleavings_are_shown_listed_and_deleted(client: TestClient) -> None:
    """The sample size is that of a fixed-size test; a deleted interleaving and its verdict are 404."""
    first, second = create(client), create(client, difference=0.1, method="optimised")
    assert (first["sample_size"], second["sample_size"]) == (785, 197)
    assert client.get(f"/v1/interleavings/{first['id']}").json() == first
    page = client.get("/v1/interleavings").json()
    assert [item["id"] for item in page["items"]] == [second["id"], first["id"]]
    request_list(client, first, "u")
    assert client.delete(f"/v1/interleavings/{first['id']}").status_code == 204
    assert client.get(f"/v1/interleavings/{first['id']}").status_code == 404
    assert client.get(f"/v1/interleavings/{first['id']}/verdict").status_code == 404


def test_the_sample_size_of_several_rankers_is_that_of_each_pair(client: TestClient) -> None:
    """Each of the three pairs is tested with a third of the error, which determines the sample size."""
    several, pair = create(client, rankings=["a", "b", "c"], error=0.15), create(client, error=0.05)
    assert several["sample_size"] == pair["sample_size"]
    verdict = client.get(f"/v1/interleavings/{several['id']}/verdict").json()
    assert verdict["sample_size"] == pair["sample_size"]


def test_interleavings_are_sorted_and_searched(client: TestClient) -> None:
    """The list sorts by name or method, filters by a name prefix, and returns the requested fields."""
    for name, method in (("beta", "balanced"), ("Alpha", "team_draft")):
        create(client, name=name, method=method)

    def names(**filters: str) -> list[str]:
        answer = client.get("/v1/interleavings", params={"fields": "name", **filters})
        return [item["name"] for item in answer.json()["items"]]

    assert names(sort="name") == ["Alpha", "beta"]
    assert names(sort="method", order="desc") == ["Alpha", "beta"]
    assert names(prefix="BE") == ["beta"]
    assert client.get("/v1/interleavings?sort=length").status_code == 422


def test_models_share_a_list(client: TestClient, models: list[str]) -> None:
    """Lists have the first model's best document; a user keeps a list, and those of users may differ."""
    interleaving = create(client, rankings=None, models=models, length=6)
    assert interleaving["rankers"] == models
    assert interleaving["model_ids"] is not None
    lists = {}
    for user in map(str, range(12)):
        body = {"user": user, "query": {"id": "q", "documents": DOCUMENTS}}
        answer = client.post(f"/v1/interleavings/{interleaving['id']}/lists", json=body)
        assert answer.status_code == 200, answer.text
        lists[user] = answer.json()
        assert len(set(answer.json()["documents"])) == 6
        again = client.post(f"/v1/interleavings/{interleaving['id']}/lists", json=body).json()
        assert again == {**lists[user], "kept": True}
    assert len({tuple(shown["documents"]) for shown in lists.values()}) > 1
    ranked = client.post(f"/v1/models/{models[0]}/rank", json={"queries": [body["query"]]}).json()
    best = ranked["queries"][0]["ranking"][0]["id"]
    assert all(best in shown["documents"] for shown in lists.values())


def test_a_ranker_may_find_no_documents(client: TestClient) -> None:
    """The list has the documents of the other ranker; without any document there is no list."""
    path = f"/v1/interleavings/{create(client)['id']}/lists"
    answer = client.post(path, json={"query": {"id": "q"}, "rankings": {"a": ["x", "y"], "b": []}})
    assert answer.json()["documents"] == ["x", "y"]
    refused = client.post(path, json={"query": {"id": "q"}, "rankings": {"a": [], "b": []}})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/rankings")


@pytest.mark.parametrize("user", [None, "", " "])
def test_anonymous_users_are_different_users(client: TestClient, user: str | None) -> None:
    """Pages send an empty text for every user that they do not know."""
    interleaving = create(client)
    first, second = (request_list(client, interleaving, user) for _ in range(2))
    assert first["ranking_id"] != second["ranking_id"]
    assert (first["kept"], second["kept"]) == (False, False)


def test_a_list_is_kept_when_the_candidates_change(
    client: TestClient, store: Store, application: FastAPI
) -> None:
    """Another query, or a request without a user, gets a new list. The user's name is not stored."""
    interleaving = create(client)
    first_list = request_list(client, interleaving, "user-17")
    changed = {"user": "user-17", "query": {"id": "q1"}, "rankings": {"a": ["x"], "b": ["y"]}}
    again = client.post(f"/v1/interleavings/{interleaving['id']}/lists", json=changed).json()
    assert (again["documents"], again["kept"]) == (first_list["documents"], True)
    assert not request_list(client, interleaving, "user-17", "q2")["kept"]
    assert (
        request_list(client, interleaving, None)["ranking_id"]
        != request_list(client, interleaving, None)["ranking_id"]
    )
    registered(application, ListWriter).flush()
    with store.read() as tx:
        stored = tx.interleavings.shown_list(interleaving["id"], first_list["ranking_id"])
        assert stored.user is not None
        assert "user-17" not in f"{stored.user} {stored.assignment} {stored.content}"


def test_clicks_are_recorded_once(client: TestClient) -> None:
    """Repeated clicks, and those on unknown lists and documents, change nothing."""
    interleaving, other = create(client), create(client)
    shown = request_list(client, interleaving, "u")
    first = shown["documents"][0]
    assert click(client, interleaving, shown["ranking_id"], first, "absent") == {
        "recorded": 1, "repeated": 0, "late": 0, "unknown": 1
    }  # fmt: skip
    assert click(client, interleaving, shown["ranking_id"], first)["repeated"] == 1
    assert click(client, other, shown["ranking_id"], first)["unknown"] == 1
    verdict = client.get(f"/v1/interleavings/{interleaving['id']}/verdict").json()
    assert (verdict["lists"], verdict["clicked_lists"]) == (1, 1)


@pytest.mark.both_stores
def test_an_id_with_nul_is_unknown(client: TestClient, models: list[str]) -> None:
    """PostgreSQL, which refuses such texts, answers as SQLite does."""
    interleaving = create(client)
    assert click(client, interleaving, "lst_\0", "d1")["unknown"] == 1
    event = {"ranking_id": "srv_\0", "document_id": "d1"}
    answer = client.post("/v1/served-rankings/events", json={"events": [event]})
    assert answer.json()["unknown"] == [{"index": 0, "reason": "ranking"}]
    body = {"queries": [{"id": "q", "documents": DOCUMENTS}], "interleaving": "itl_\0"}
    assert client.post(f"/v1/models/{models[0]}/rank", json=body).status_code == 404


def test_models_of_an_interleaving_are_not_deleted(client: TestClient, models: list[str]) -> None:
    """Requests for its lists would fail; the models can be deleted after the interleaving."""
    interleaving = create(client, models=models, rankings=None)
    refused = client.delete(f"/v1/models/{models[0]}")
    assert refused.status_code == 409, refused.text
    (holder,) = [each for each in refused.json()["holders"] if each["kind"] == "interleaving"]
    assert (holder["id"], holder["name"]) == (interleaving["id"], "test")
    assert "delete the interleaving" in refused.json()["detail"]
    body = {"query": {"id": "q1", "documents": DOCUMENTS}}
    assert client.post(f"/v1/interleavings/{interleaving['id']}/lists", json=body).status_code == 200
    client.delete(f"/v1/interleavings/{interleaving['id']}")
    again = client.delete(f"/v1/models/{models[0]}")
    assert "interleaving" not in again.text


@pytest.mark.parametrize("method", ["team_draft", "balanced", "probabilistic", "optimised"])
def test_the_preferred_ranker_wins(client: TestClient, method: str) -> None:
    """Users who click the first document of one ranker prefer it, by each method."""
    interleaving = create(client, method=method, difference=0.2)
    path = f"/v1/interleavings/{interleaving['id']}/verdict"
    before = client.get(path).json()
    assert before["sentence"] == "Undecided between a and b: no user prefers either ranker yet."
    assert before["pairs"][0]["delta"] is None
    for user in range(25):
        shown = request_list(client, interleaving, str(user))
        click(client, interleaving, shown["ranking_id"], "d4")
    verdict = client.get(path).json()
    (pair,) = verdict["pairs"]
    assert verdict["winner"] == "b"
    by_sign = method in ("team_draft", "balanced")
    preferred = "preferred by" if by_sign else "with"
    assert verdict["sentence"].startswith(f"b is better than a, {preferred} ")
    assert (pair["sign_p"] is not None) == by_sign
    assert (pair["conclusion"], pair["losses"] > pair["wins"]) == ("second", True)
    last = pair["path"][-1]
    assert (last["decided"], last["preferring_first"]) == (pair["decided"], pair["preferring_first"])
    assert last["first_share"] == pytest.approx(pair["first_share"], abs=1e-12)
    assert pair["first_share"] <= (1.0 - last["winning_share"] if by_sign else 0.4)
    assert pair["delta"] <= pair["delta_upper"] <= 0.0


def test_clicks_count_within_their_window(client: TestClient, store: Store, application: FastAPI) -> None:
    """A list counts when its window is over; later clicks do not."""
    interleaving = create(client, click_window_seconds=3_600)
    shown, late = request_list(client, interleaving, "u"), request_list(client, interleaving, "v")
    click(client, interleaving, shown["ranking_id"], "d4")
    path = f"/v1/interleavings/{interleaving['id']}/verdict"
    registered(application, ListWriter).flush()
    before = client.get(path).json()
    assert (before["clicked_lists"], before["waiting_lists"]) == (0, 1)
    with store.begin() as tx:
        for list_id in (shown["ranking_id"], late["ranking_id"]):
            row = tx.interleavings.shown_list(interleaving["id"], list_id)
            row.created_at = row.created_at.replace(year=row.created_at.year - 1)
    assert click(client, interleaving, late["ranking_id"], "d4")["late"] == 1
    assert client.get(path).json()["clicked_lists"] == 1


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"rankings": None}, "/models"),
        ({"models": ["web", "web"]}, "/models"),
        ({"rankings": ["a"]}, "/rankings"),
        ({"rankings": ["a", "a"]}, "/rankings"),
        ({"rankings": ["a", "b", "c"], "method": "balanced"}, "/method"),
        ({"difference": 0.5}, "/difference"),
        ({"difference": 1e-200}, "/difference"),
        ({"length": 0}, "/length"),
    ],
)
def test_wrong_interleavings_are_refused(
    refusing_client: TestClient, changed: dict[str, Any], pointer: str
) -> None:
    """422 points at the field with the mistake."""
    body = {"name": "test", "rankings": ["a", "b"], **changed}
    answer = refusing_client.post("/v1/interleavings", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_models_of_different_features_take_their_own(
    client: TestClient, models: list[str], add_model: Callable[..., Model]
) -> None:
    """A list of a model and one with a new feature needs the features of both; others are refused."""
    newer = add_model("web", feature_names=(*FEATURE_NAMES[1:], "freshness")).reference
    interleaving = create(client, rankings=None, models=[models[0], newer])
    path = f"/v1/interleavings/{interleaving['id']}/lists"
    documents = [{"id": one["id"], "features": {**one["features"], "freshness": 1.0}} for one in DOCUMENTS]
    answer = client.post(path, json={"query": {"id": "q", "documents": documents}, "user": "u"})
    assert answer.status_code == 200, answer.text
    assert {*answer.json()["documents"]} <= {one["id"] for one in DOCUMENTS}
    unknown = [{"id": "d1", "features": {"bm25": 1.0, "recency": 1.0}}]
    answer = client.post(path, json={"query": {"id": "s", "documents": unknown}, "user": "u"})
    assert answer.json()["errors"] == [
        {"pointer": "/query/documents/0/features/recency", "detail": "not a feature of this model"}
    ]


def test_wrong_lists_are_refused(client: TestClient, models: list[str]) -> None:
    """Missing rankers, repeated documents and candidates without models, for example, are refused."""
    interleaving = create(client)
    of_models = create(client, rankings=None, models=models)

    def error_pointer(receiver: dict[str, Any], **body: Any) -> str:
        answer = client.post(f"/v1/interleavings/{receiver['id']}/lists", json={"query": {"id": "q"}, **body})
        assert answer.status_code == 422, answer.text
        pointer: str = answer.json()["errors"][0]["pointer"]
        return pointer

    assert error_pointer(interleaving, rankings={"a": ["d1"]}) == "/rankings"
    assert error_pointer(interleaving, rankings={"a": ["d1", "d1"], "b": ["d1"]}) == "/rankings/a"
    slash = create(client, rankings=["a/b", "~"])
    assert error_pointer(slash, rankings={"a/b": ["d1", "d1"], "~": ["d1"]}) == "/rankings/a~1b"
    assert error_pointer(interleaving, query={"id": "q", "documents": DOCUMENTS}) == "/query/documents"
    assert error_pointer(of_models, rankings=RANKINGS) == "/query/documents"
    assert error_pointer(of_models, query={"id": "q", "documents": []}) == "/query/documents"
    twice = [DOCUMENTS[0], DOCUMENTS[0]]
    assert error_pointer(of_models, query={"id": "q", "documents": twice}) == "/query/documents/1/id"
    wrong = [{"id": "d1", "features": {"bm25": "text"}}]
    place = error_pointer(of_models, query={"id": "q", "documents": wrong})
    assert place.startswith("/query/documents/0/features")
    assert error_pointer(of_models, query={"documents": DOCUMENTS}) == "/query/id"
    assert error_pointer(of_models, query={"id": "q", "documents": "none"}) == "/query/documents"
    assert error_pointer(of_models, query={"id": "q"}, other=1) == "/other"
    text = client.post(
        f"/v1/interleavings/{interleaving['id']}/lists",
        content="{",
        headers={"content-type": "application/json"},
    )
    assert text.status_code == 422
    unknown = client.post("/v1/interleavings/itl_absent/lists", json={"query": {"id": "q"}})
    assert unknown.status_code == 404


def test_lists_become_a_click_log(client: TestClient) -> None:
    """A job creates the log, named after the interleaving by default; an unknown interleaving is 404."""
    created = create(client)
    request_list(client, created, "u1")
    answer = client.post("/v1/click-logs/interleaved", json={"interleaving_id": created["id"]})
    assert answer.status_code == 202, answer.text
    log = answer.json()
    assert (log["name"], log["status"]) == (created["name"], "pending")
    assert log["source"]["kind"] == "interleaved"
    assert log["source"]["interleaving_id"] == created["id"]
    assert client.get(f"/v1/jobs/{log['job_id']}").json()["kind"] == "ingest-clicks"
    absent = client.post("/v1/click-logs/interleaved", json={"interleaving_id": "itl_absent"})
    assert absent.status_code == 404
