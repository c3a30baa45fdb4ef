"""Models over HTTP: lists, references, descriptions, aliases, and rankings."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from app.scoring.slow_json import MAX_PROBLEMS
from core.scoring import Forest
from core.store import Model, Store
from core.store.artifacts.keys import model_key
from tests.app.conftest import TestClient


def _rank(client: TestClient, payload: dict[str, Any], reference: str = "web") -> Any:
    return client.post(f"/v1/models/{reference}/rank", json=payload)


def _one_query(*documents: Any) -> dict[str, Any]:
    return {"queries": [{"id": "q1", "documents": list(documents)}]}


def _order(response: Any) -> list[str]:
    assert response.status_code == 200, response.text
    return [document["id"] for document in response.json()["queries"][0]["ranking"]]


def test_models_are_listed_newest_first(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """Each version is an entry; `name` excludes other models."""
    models = [add_model("web"), add_model("shop"), add_model("web")]
    items = client.get("/v1/models").json()["items"]
    assert [item["id"] for item in items] == [model.id for model in models[::-1]]
    versions = client.get("/v1/models?name=web").json()["items"]
    assert [(item["name"], item["version"]) for item in versions] == [("web", 2), ("web", 1)]


def test_names_are_listed_with_their_latest_version(
    client: TestClient, add_model: Callable[[str], Model]
) -> None:
    """There is one entry per name, the name with the newest version first, with all of its aliases."""
    add_model("web")
    add_model("shop")
    latest = add_model("web")
    client.put("/v1/models/web/aliases/champion", json={"version": 1})
    client.put("/v1/models/web/aliases/live", json={"version": 2})
    client.patch("/v1/models/web:2", json={"tags": {"team": "search"}})
    items = client.get("/v1/model-names").json()["items"]
    assert [(item["name"], item["latest"]["version"]) for item in items] == [("web", 2), ("shop", 1)]
    assert items[0]["latest"]["id"] == latest.id
    assert (items[0]["aliases"], items[1]["aliases"]) == ({"champion": 1, "live": 2}, {})

    def names(query: str) -> list[str]:
        return [item["name"] for item in client.get(f"/v1/model-names?{query}").json()["items"]]

    assert names("contains=ho") == ["shop"]
    assert names("contains=%25") == []  # a text, not a pattern
    assert names("tag=team") == names("tag=team:search") == ["web"]
    first = client.get("/v1/model-names?limit=1").json()
    assert names(f"limit=1&cursor={first['next_cursor']}") == ["shop"]


def test_a_reference_finds_its_version(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """A reference is an id, a name (its latest version), name:version or name@alias."""
    first, second = add_model("web"), add_model("web")
    client.put("/v1/models/web/aliases/champion", json={"version": 1})
    expected = {first.id: first, "web": second, "web:1": first, "web@champion": first}
    for reference, model in expected.items():
        assert client.get(f"/v1/models/{reference}").json()["id"] == model.id


def test_a_correct_name_gets_no_suggestion_among_many_names(
    client: TestClient, add_model: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of an unknown version proposes no other name, even if only some names are compared."""
    add_model("web-search")
    add_model("web-search-2")
    monkeypatch.setattr("core.store.repositories.models._MAX_COMPARED_NAMES", 1)
    for name in ("web-search", "web-search-2"):
        assert client.get(f"/v1/models/{name}:9").json()["detail"] == f"there is no model '{name}:9'"


def test_an_unknown_name_is_answered_with_a_similar_one_that_the_key_may_read(
    client: TestClient, store: Store, add_model: Callable[[str], Model]
) -> None:
    """A key bound to another project, or without the scope `read`, gets no suggestion."""
    model = add_model("web-search")
    with store.begin() as tx:
        tx.aliases.move("web-search", "champion", model.version)
        _, reading = tx.api_keys.create("reading", ["read"])
        _, bound = tx.api_keys.create("bound", ["read"], projects=["other"])
        _, scoring = tx.api_keys.create("scoring", ["score"])
        _, admin = tx.api_keys.create("admin", ["admin"])

    def detail(reference: str, secret: str = reading) -> str:
        answer = client.get(f"/v1/models/{reference}", headers={"Authorization": f"Bearer {secret}"})
        assert answer.status_code == 404
        return str(answer.json()["detail"])

    assert detail("web-serch").endswith("'web-serch'; did you mean web-search?")
    assert detail("web-serch:1").endswith("did you mean web-search?")
    assert detail("web-search@champoin").endswith("did you mean web-search@champion?")
    assert detail("web-search:9").endswith("there is no model 'web-search:9'")
    for reference in (model.reference, "web-search@champion"):  # this path takes a name only
        assert detail(f"{reference}/aliases").endswith(f"{reference!r}; did you mean web-search?")
    assert detail("shop").endswith("there is no model 'shop'")
    deleted = add_model("deleted-one")
    client.post(f"/v1/jobs/{deleted.job_id}/cancel", headers={"Authorization": f"Bearer {admin}"})
    path = f"/v1/models/{deleted.reference}"
    assert client.delete(path, headers={"Authorization": f"Bearer {admin}"}).status_code == 200
    assert detail("deleted-on").endswith("there is no model 'deleted-on'")
    assert detail("web-serch", bound) == "there is no model 'web-serch'"
    body = {"queries": [{"id": "q", "documents": [{"id": "d", "features": [1.0]}]}]}
    headers = {"Authorization": f"Bearer {scoring}"}
    refused = client.post("/v1/models/web-serch/rank", json=body, headers=headers)
    assert (refused.status_code, refused.json()["detail"]) == (404, "there is no model 'web-serch'")


def test_the_description_and_tags_of_a_model_can_be_changed(
    client: TestClient, add_model: Callable[[str], Model]
) -> None:
    """Omitted fields are unchanged; tags are added and removed one by one."""
    model = add_model("web")
    assert (model.description, client.get("/v1/models/web").json()["tags"]) == (None, {})
    first = client.patch(
        "/v1/models/web", json={"description": "spring", "tags": {"team": "search", "x": ""}}
    )
    assert (first.json()["description"], first.json()["tags"]) == ("spring", {"team": "search", "x": ""})
    client.patch("/v1/models/web:1", json={"tags": {"x": None}})
    changed = client.get("/v1/models/web").json()
    assert (changed["description"], changed["tags"]) == ("spring", {"team": "search"})
    cleared = client.patch(f"/v1/models/{model.id}", json={"description": None}).json()
    assert (cleared["description"], cleared["tags"]) == (None, {"team": "search"})


@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        ({"tags": {"Team": "x"}}, "/tags/Team"),
        ({"tags": {"team": 3}}, "/tags/team"),
        ({"tags": {"team": "x" * 257}}, "/tags/team"),
        ({"tags": {f"t{i}": "" for i in range(65)}}, "/tags"),
        ({"description": "x" * 4001}, "/description"),
        ({"description": "\x00"}, "/description"),
        ({"name": "shop"}, "/name"),
    ],
)
def test_wrong_descriptions_and_tags_of_a_model_are_refused(
    client: TestClient, add_model: Callable[[str], Model], payload: dict[str, Any], pointer: str
) -> None:
    """The response has the status 422 and a pointer to the mistake; nothing is changed."""
    add_model("web")
    response = client.patch("/v1/models/web", json=payload)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    assert client.get("/v1/models/web").json()["tags"] == {}
    assert client.patch("/v1/models/none", json={}).status_code == 404


def test_models_are_found_by_name_and_tags(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """A filter is a tag alone or with its value, which may contain a colon; all filters must match."""
    for name, tags in (("web", {"team": "search", "run": "a:b"}), ("web", {"team": "ads"}), ("shop", {})):
        add_model(name)
        client.patch(f"/v1/models/{name}", json={"tags": tags})
    references = {
        query: [(item["name"], item["version"]) for item in client.get(f"/v1/models?{query}").json()["items"]]
        for query in (
            "tag=team",
            "tag=team:search",
            "tag=team&tag=run:a:b",
            "tag=team:s",
            "name=shop&tag=team",
        )
    }
    assert list(references.values()) == [[("web", 2), ("web", 1)], [("web", 1)], [("web", 1)], [], []]
    refused = client.get("/v1/models?tag=Team")
    assert refused.status_code == 422
    assert "must be the name of a tag, such as team" in refused.json()["detail"]


def test_an_alias_moves(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """Setting an alias again moves it, and the list shows its version."""
    add_model("web")
    add_model("web")
    for version in (1, 2):
        response = client.put("/v1/models/web/aliases/champion", json={"version": version})
        assert (response.status_code, response.json()["version"]) == (200, version)
        assert response.json()["aliases"] == ["champion"]
    assert [item["aliases"] for item in client.get("/v1/models").json()["items"]] == [["champion"], []]


@pytest.mark.parametrize(
    ("path", "payload", "status", "pointer"),
    [
        ("web/aliases/champion", {"version": 2}, 404, None),
        ("none/aliases/champion", {"version": 1}, 404, None),
        ("web/aliases/champion", {"version": 0}, 422, "/version"),
        ("web/aliases/champion", {"version": "1"}, 422, "/version"),
        ("web/aliases/champion", {}, 422, "/version"),
        ("web/aliases/champion", {"version": 10**30}, 422, "/version"),
        ("web/aliases/Champion!", {"version": 1}, 422, "/alias"),
    ],
)
def test_a_bad_alias_is_refused(
    client: TestClient,
    add_model: Callable[[str], Model],
    path: str,
    payload: dict[str, Any],
    status: int,
    pointer: str | None,
) -> None:
    """An alias must point at an existing version and have a valid name."""
    add_model("web")
    response = client.put(f"/v1/models/{path}", json=payload)
    assert response.status_code == status
    if pointer is not None:
        assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_candidates_come_back_in_order(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """Documents are sorted by descending score with ranks from 1; the answer names the version."""
    model = add_model("web")
    response = _rank(
        client,
        _one_query(
            {"id": "low", "features": {"bm25": 0.1}},
            {"id": "high", "features": {"bm25": 0.9}},
            {"id": "middle", "features": {"bm25": 0.5}},
        ),
    )
    assert _order(response) == ["high", "middle", "low"]
    body = response.json()
    assert body["model"] == {"id": model.id, "name": "web", "version": 1}
    assert [document["rank"] for document in body["queries"][0]["ranking"]] == [1, 2, 3]


def test_scores_equal_those_of_the_stored_forest(
    client: TestClient, store: Store, add_model: Callable[[str], Model]
) -> None:
    """Online scores are those of the stored forest on float32 features, NaN where a value is missing."""
    model = add_model("web")
    forest = Forest.parse(store.artifacts.read_bytes(model_key(model.id)).decode())
    values = [0.1, 0.3, None, 0.7]
    response = _rank(
        client, _one_query(*({"id": str(i), "features": [value, None, 1]} for i, value in enumerate(values)))
    )
    matrix = np.array([[np.nan if v is None else v, np.nan, 1] for v in values], np.float32)
    ranking = response.json()["queries"][0]["ranking"]
    assert {int(d["id"]): d["score"] for d in ranking} == dict(enumerate(forest.score(matrix)))


def test_features_by_name_and_by_position_have_equal_scores(
    client: TestClient, add_model: Callable[[str], Model]
) -> None:
    """An object in any order and an array in the model's order give equal scores."""
    add_model("web")
    by_name = {"id": "a", "features": {"age/days": 3, "bm25": 0.7}}
    by_position = {"id": "b", "features": [0.7, None, 3.0]}
    ranking = _rank(client, _one_query(by_name, by_position)).json()["queries"][0]["ranking"]
    assert ranking[0]["score"] == ranking[1]["score"]


def test_ties_keep_their_order(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """Equal scores rank in the order of the request."""
    add_model("web")
    ids = [f"d{i}" for i in (5, 3, 9, 1, 7, 2, 8, 4, 6, 0)]
    assert _order(_rank(client, _one_query(*({"id": name, "features": {}} for name in ids)))) == ids


def test_top_k_of_json_in_the_query_string_is_refused(
    client: TestClient, add_model: Callable[[str], Model]
) -> None:
    """Only tables accept `top_k` in the query string; ignoring it would return every document."""
    add_model("web")
    body = {"queries": [{"id": "q1", "documents": []}]}
    answer = client.post("/v1/models/web/rank?top_k=1", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/top_k"


def test_top_k_cuts_each_query(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """Each query is ranked separately; a query with fewer documents than k, or none, is accepted."""
    add_model("web")
    documents = [{"id": str(i), "features": {"bm25": i / 10}} for i in range(9)]
    payload = {
        "queries": [
            {"id": "many", "documents": documents},
            {"id": "one", "documents": documents[:1]},
            {"id": "none", "documents": []},
        ],
        "top_k": 2,
    }
    queries = _rank(client, payload).json()["queries"]
    assert [(query["id"], len(query["ranking"])) for query in queries] == [
        ("many", 2),
        ("one", 1),
        ("none", 0),
    ]


GOOD = {"id": "d0", "features": {"bm25": 1.0}}
PLACE = "/queries/0/documents/1"


@pytest.mark.long
@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"id": "d1", "features": {"bm26": 1.0}}, f"{PLACE}/features/bm26"),
        ({"id": "d1", "features": {"a/b~c": 1.0}}, f"{PLACE}/features/a~1b~0c"),
        ({"id": "d1", "features": {"bm25": "1"}}, f"{PLACE}/features/bm25"),
        ({"id": "d1", "features": {"bm25": True}}, f"{PLACE}/features/bm25"),
        ({"id": "d1", "features": {"age/days": []}}, f"{PLACE}/features/age~1days"),
        ({"id": "d1", "features": {"bm25": 1e39}}, f"{PLACE}/features/bm25"),
        ({"id": "d1", "features": [0, 10**400, 0]}, f"{PLACE}/features/1"),
        ({"id": "d1", "features": [1.0, 2.0]}, f"{PLACE}/features"),
        ({"id": "d1", "features": [1.0, 2.0, 3.0, 4.0]}, f"{PLACE}/features"),
        ({"id": "d1", "features": [1.0, "2", 3.0]}, f"{PLACE}/features/1"),
        ({"id": "d1", "features": "1,2,3"}, f"{PLACE}/features"),
        ({"id": "d1", "features": None}, f"{PLACE}/features"),
        ({"id": "d1"}, f"{PLACE}/features"),
        ({"features": {}}, f"{PLACE}/id"),
        ({"id": 1, "features": {}}, f"{PLACE}/id"),
        ({"id": "d0", "features": {}}, f"{PLACE}/id"),
        ({"id": "d1", "features": {}, "score": 1}, f"{PLACE}/score"),
        ([], PLACE),
    ],
)
def test_the_error_of_a_bad_document_has_its_pointer(
    client: TestClient, add_model: Callable[[str], Model], document: Any, pointer: str
) -> None:
    """The error names the document and the feature at fault."""
    add_model("web")
    response = _rank(client, _one_query(GOOD, document))
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        ({"queries": []}, "/queries"),
        ({}, "/queries"),
        ({"queries": [{"id": "q1"}]}, "/queries/0/documents"),
        ({"queries": [{"documents": []}]}, "/queries/0/id"),
        ({"queries": [{"id": "q1", "documents": []}], "top_k": 0}, "/top_k"),
        ({"queries": [{"id": "q1", "documents": []}], "k": 1}, "/k"),
    ],
)
def test_a_bad_ranking_request_is_refused(
    client: TestClient, add_model: Callable[[str], Model], payload: dict[str, Any], pointer: str
) -> None:
    """The shape of the request is checked before scoring."""
    add_model("web")
    response = _rank(client, payload)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_the_same_mistake_is_reported_for_some_documents(
    client: TestClient, add_model: Callable[[str], Model]
) -> None:
    """An unknown feature in every document is reported for some documents only."""
    add_model("web")
    documents = [{"id": str(i), "features": {"bm26": 1}} for i in range(500)]
    response = _rank(client, _one_query(*documents))
    assert len(response.json()["errors"]) == MAX_PROBLEMS


def test_scoring_requests_have_a_separate_limit(
    client: TestClient, add_model: Callable[[str], Model]
) -> None:
    """The limit is larger than that of other JSON bodies."""
    add_model("web")
    documents = [{"id": f"document {i:05}", "features": {"bm25": 0.5}} for i in range(3000)]
    assert _rank(client, _one_query(*documents[:1000])).status_code == 200
    assert _rank(client, _one_query(*documents)).status_code == 413


def test_an_alias_is_followed_immediately(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """The next request after a move is answered by the new version."""
    models = {model.version: model for model in (add_model("web"), add_model("web"))}
    for version, model in models.items():
        client.put("/v1/models/web/aliases/live", json={"version": version})
        assert _rank(client, _one_query(GOOD), "web@live").json()["model"]["id"] == model.id
