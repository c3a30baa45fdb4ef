"""Rankings that `/rank` keeps, and the events on them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from fastapi import FastAPI

from app.http.services import registered
from app.served.rankings import UserHashes
from app.served.writer import ListWriter
from app.settings import ApiSettings
from core.store import Model, Store
from core.store.clock import utc_now
from core.store.repositories.served import ServedList
from core.store.visibility import limited_to
from tests.app.conftest import TestClient
from tests.app.scoring.conftest import arrow_stream, rank_stream

DOCUMENTS = [{"id": f"d{place}", "features": {"bm25": place * 0.3}} for place in range(4)]
BEST_FIRST = ["d3", "d2", "d1", "d0"]
QUERY = {"id": "red shoes", "documents": DOCUMENTS}


@pytest.fixture
def share() -> float:
    """Share of the users whose rankings are kept, by default all."""
    return 1.0


@pytest.fixture
def settings(settings: ApiSettings, share: float) -> ApiSettings:
    """Settings that keep the rankings of a share of the users."""
    return settings.model_copy(update={"ranking_log_share": share})


@pytest.fixture
def model(add_model: Callable[..., Model]) -> Model:
    """A model that ranks by `bm25`."""
    return add_model("web")


def rank(client: TestClient, **options: Any) -> dict[str, Any]:
    """Rank one query, and return its entry of the answer."""
    answer = client.post("/v1/models/web/rank", json={"queries": [QUERY], **options})
    assert answer.status_code == 200, answer.text
    query: dict[str, Any] = answer.json()["queries"][0]
    return query


def send(client: TestClient, *events: tuple[str, str] | tuple[str, str, str]) -> dict[str, Any]:
    """Send events, each a ranking, a document and an action."""
    names = ("ranking_id", "document_id", "action")
    body = {"events": [dict(zip(names, event, strict=False)) for event in events]}
    answer = client.post("/v1/served-rankings/events", json=body)
    assert answer.status_code == 200, answer.text
    outcome: dict[str, Any] = answer.json()
    return outcome


def stored_rankings(application: FastAPI, store: Store) -> list[ServedList]:
    """Return all stored rankings of the model."""
    registered(application, ListWriter).flush()
    with store.read() as tx:
        return list(tx.served.lists("web", None, None, utc_now()))


def test_a_ranking_is_kept_as_it_was_shown(
    client: TestClient, application: FastAPI, store: Store, model: Model
) -> None:
    """A stored ranking has model, version and documents in order; user and session are only hashes."""
    shown = rank(client, keep=True, user="ann@example.org", session="visit 1", top_k=3)
    again = rank(client, keep=True, user="ann@example.org", session="visit 2", top_k=3)
    assert rank(client, keep=True)["ranking_id"] != shown["ranking_id"] != again["ranking_id"]
    assert "ranking_id" not in rank(client, user="ann@example.org")
    first, second, third = (served.ranking for served in stored_rankings(application, store))
    assert (first.id, first.name, first.version) == (shown["ranking_id"], "web", model.version)
    assert first.content == {"query": "red shoes", "documents": BEST_FIRST[:3]}
    assert [entry["id"] for entry in shown["ranking"]] == BEST_FIRST[:3]
    assert first.user == second.user is not None
    assert first.session is not None
    assert first.session != second.session
    assert (third.user, third.session) == (None, None)
    assert "ann" not in f"{first.user} {first.session} {first.content}"


@pytest.mark.parametrize("explain", [False, True])
def test_an_empty_user_is_unknown(
    client: TestClient, application: FastAPI, store: Store, model: Model, explain: bool
) -> None:
    """Pages send an empty text for every user that they do not know."""
    rank(client, keep=True, user="", session=" ", explain=explain)
    (served,) = stored_rankings(application, store)
    assert (served.ranking.user, served.ranking.session) == (None, None)


@pytest.mark.parametrize("form", ["by position", "explained", "several queries", "table"])
def test_every_form_of_a_request_is_kept(
    client: TestClient, application: FastAPI, store: Store, model: Model, form: str
) -> None:
    """Each query has a ranking id, under which the returned documents of this query are stored."""
    if form == "table":
        columns = {"query_id": ["p", "p", "q"], "document_id": ["a", "b", "c"], "bm25": [0.1, 0.2, 0.3]}
        table = pa.table(columns).replace_schema_metadata({"keep": "true", "user": "u"})
        answer = rank_stream(client, arrow_stream(table))
        ids = pa.ipc.open_stream(answer.content).read_all()["ranking_id"].to_pylist()
        assert ids[0] == ids[1] != ids[2]
        expected = {ids[0]: ["b", "a"], ids[2]: ["c"]}
    else:
        values = [[index / 10, None, None] for index in range(4)]
        arrays = [{"id": f"d{index}", "features": row} for index, row in enumerate(values)]
        other = {"id": "hats", "documents": DOCUMENTS[:1]}
        queries = {
            "by position": [{"id": "q", "documents": arrays}],
            "explained": [QUERY],
            "several queries": [QUERY, other],
        }[form]
        body = {"queries": queries, "keep": True, "user": "u", "explain": form == "explained"}
        ranked = client.post("/v1/models/web/rank", json=body).json()["queries"]
        expected = {query["ranking_id"]: [one["id"] for one in query["ranking"]] for query in ranked}
    rankings = stored_rankings(application, store)
    assert {served.ranking.id: served.ranking.content["documents"] for served in rankings} == expected
    assert all(served.ranking.user for served in rankings)


def test_a_table_without_ids_cannot_be_kept(client: TestClient, model: Model) -> None:
    """The error names the column."""
    table = pa.table({"bm25": [0.1]}).replace_schema_metadata({"keep": "true"})
    answer = rank_stream(client, arrow_stream(table))
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/query_id")


@pytest.mark.parametrize("share", [0.0])
def test_nothing_is_kept_by_default(
    client: TestClient, application: FastAPI, store: Store, model: Model
) -> None:
    """The default share is 0, and with it `keep` has no effect."""
    assert ApiSettings.model_fields["ranking_log_share"].default == 0
    assert "ranking_id" not in rank(client, keep=True, user="u")
    assert stored_rankings(application, store) == []


@pytest.mark.parametrize("share", [0.5])
def test_a_share_of_the_users_is_kept(
    client: TestClient, application: FastAPI, store: Store, model: Model
) -> None:
    """Either all rankings of a user are kept, or none."""
    answers_by_user = {
        user: {"ranking_id" in rank(client, keep=True, user=user) for _ in range(2)}
        for user in map(str, range(40))
    }
    assert all(len(answers) == 1 for answers in answers_by_user.values())
    n_kept = sum(answers == {True} for answers in answers_by_user.values())
    assert 0 < n_kept < 40
    assert len(stored_rankings(application, store)) == 2 * n_kept


def test_events_are_recorded_once(
    client: TestClient, application: FastAPI, store: Store, model: Model
) -> None:
    """An event counts once per document and action; each unknown event is listed with the reason."""
    shown = rank(client, keep=True)["ranking_id"]
    click, purchase = (shown, "d2"), (shown, "d2", "purchase")
    assert send(client, click, purchase, click) == {"recorded": 2, "repeated": 1, "unknown": []}
    assert send(client, click)["repeated"] == 1
    outcome = send(client, ("srv_absent", "d1"), (shown, "d1"), (shown, "absent"), ("lst_1", "d1"))
    assert outcome["recorded"] == 1
    assert outcome["unknown"] == [
        {"index": 0, "reason": "ranking"},
        {"index": 2, "reason": "document"},
        {"index": 3, "reason": "interleaved"},
    ]
    (served,) = stored_rankings(application, store)
    assert served.actions == {1: ["click", "purchase"], 2: ["click"]}


def test_waiting_rankings_are_written_when_the_service_stops(
    client: TestClient, application: FastAPI, model: Model
) -> None:
    """Rankings of an unfinished batch are stored; after a restart, a user has the same hash."""
    registered(application, ListWriter)._seconds = 3_600
    first = rank(client, keep=True, user="u")["ranking_id"]
    second = rank(client, keep=True, user="u")["ranking_id"]
    client.__exit__(None, None, None)
    client.__enter__()
    third = rank(client, keep=True, user="u")["ranking_id"]
    store = registered(application, ListWriter)._store
    rankings = stored_rankings(application, store)
    assert [served.ranking.id for served in rankings] == [first, second, third]
    assert len({served.ranking.user for served in rankings}) == 1


def test_hashes_depend_on_the_key(client: TestClient, application: FastAPI, store: Store) -> None:
    """The stored key has 32 bytes, and another key gives another hash of the same user."""
    with store.read() as tx:
        key = tx.served.hash_key()
    assert len(key) == 32
    assert UserHashes(key).of("user", "ann") == UserHashes(key).of("user", "ann")
    assert UserHashes(key).of("user", "ann") != UserHashes(bytes(32)).of("user", "ann")


@pytest.mark.parametrize(
    "at",
    [
        *(0, 1_767_225_600.5, "1767225600", "2026-01-05", "2026-01-05T09:31:00"),
        *("0001-12-31T23:59:59Z", "9999-01-01T00:00:00Z"),
        *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"),
    ],
)
def test_the_time_of_an_event_is_a_text_with_a_zone(client: TestClient, at: object) -> None:
    """Numbers are refused, since they could count seconds or milliseconds; so are times without a zone.

    Times of the first and the last year are refused, as they may be in year 0 or 10000 in another zone.
    """
    event = {"ranking_id": "srv_1", "document_id": "d1", "at": at}
    answer = client.post("/v1/served-rankings/events", json={"events": [event]})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/events/0/at")


def test_a_click_log_of_served_rankings_is_queued(
    client: TestClient, model: Model, add_model: Callable[..., Model]
) -> None:
    """A log is of all versions of a name or of one; an empty period and an unknown model are refused."""
    add_model("web")
    answer = client.post("/v1/click-logs/served", json={"model": "web", "actions": {"click": 1, "buy": 5}})
    assert answer.status_code == 202, answer.text
    log = answer.json()
    assert (log["name"], log["status"], log["source"]["kind"]) == ("served by web", "pending", "served")
    assert (log["source"]["model"], log["source"]["version"]) == ("web", None)
    age = utc_now() - datetime.fromisoformat(log["source"]["until"])
    assert timedelta(minutes=30) <= age < timedelta(minutes=31)  # later rankings may still be clicked
    one = client.post("/v1/click-logs/served", json={"model": "web:1", "name": "first"}).json()
    assert (one["source"]["version"], one["name"]) == (1, "first")
    moment = "2026-05-01T00:00:00Z"
    empty = client.post("/v1/click-logs/served", json={"model": "web", "since": moment, "until": moment})
    assert (empty.status_code, empty.json()["errors"][0]["pointer"]) == (422, "/since")
    number = client.post("/v1/click-logs/served", json={"model": "web", "since": 0, "until": "1767225600"})
    assert [error["pointer"] for error in number.json()["errors"]] == ["/since", "/until"]
    assert client.post("/v1/click-logs/served", json={"model": "absent"}).status_code == 404


def test_rankings_of_another_project_are_not_found(
    client: TestClient, application: FastAPI, store: Store, model: Model
) -> None:
    """The store finds its documents only within the projects of the request."""
    shown = rank(client, keep=True)["ranking_id"]
    registered(application, ListWriter).flush()
    with limited_to(("other",)), store.read() as tx:
        assert tx.served.documents([shown]) == {}
    with store.read() as tx:
        assert tx.served.documents([shown]) == {shown: BEST_FIRST}
