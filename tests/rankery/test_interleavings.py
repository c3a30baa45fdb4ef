"""Interleavings of the client, with a mocked HTTP server."""

import json
from typing import Any

import httpx
import pandas
import polars
import pytest

from rankery.client import Client
from rankery.errors import DataUnusable, WrongType

INTERLEAVING = {
    "id": "itl_1",
    "name": "engines",
    "rankers": ["a", "b"],
    "model_ids": None,
    "method": "team_draft",
    "length": 10,
    "seed": 42,
    "unit": "user",
    "error": 0.05,
    "miss": 0.2,
    "difference": 0.05,
    "sample_size": 785,
    "click_window_seconds": 1800,
    "project": None,
    "created_at": "2026-01-05T09:30:00Z",
}
PAIR = {
    "first": "a",
    "second": "b",
    "wins": 1,
    "losses": 2,
    "ties": 0,
    "delta": -0.17,
    "delta_lower": -0.5,
    "delta_upper": 0.2,
    "decided": 3,
    "preferring_first": 1,
    "first_share": 0.333,
    "sign_p": 1.0,
    "sequential_p": 1.0,
    "conclusion": "undecided",
    "path": [{"decided": 3, "preferring_first": 1, "first_share": 0.333, "winning_share": 0.97}],
    "needed": 300,
}


def answer(request: httpx.Request) -> httpx.Response:
    """Answer each call as the service does."""
    path = request.url.path.removeprefix("/v1/interleavings")
    documents = {
        "": INTERLEAVING if request.method == "POST" else {"items": [INTERLEAVING], "next_cursor": None},
        "/itl_1": INTERLEAVING,
        "/itl_1/lists": {"ranking_id": "lst_1", "query": "q", "documents": ["d1", "d2"], "kept": False},
        "/itl_1/events": {"recorded": 1, "repeated": 0, "late": 0, "unknown": 0},
        "/itl_1/verdict": {
            "sentence": "Undecided.",
            "winner": None,
            "lists": 5,
            "clicked_lists": 3,
            "waiting_lists": 1,
            "sample_size": 785,
            "pairs": [PAIR],
        },
    }
    return httpx.Response(204) if request.method == "DELETE" else httpx.Response(200, json=documents[path])


def test_answers_are_parsed_and_shown() -> None:
    """Each answer is parsed as an object and shown as a table."""
    sent: list[httpx.Request] = []

    def keep(request: httpx.Request) -> httpx.Response:
        request.read()
        sent.append(request)
        return answer(request)

    with Client("http://rankery.test", transport=httpx.MockTransport(keep), retries=0) as client:
        interleaving = client.create_interleaving("engines", rankings=["a", "b"], length=10)
        assert [one.id for one in client.interleavings()] == ["itl_1"]
        assert client.interleaving("itl_1") == interleaving
        rankings = {"a": ["d1", "d2"], "b": ["d2", "d1"]}
        shown = client.interleaved_list(interleaving, "q", user="u", rankings=rankings)
        assert shown.documents == ["d1", "d2"]
        assert client.send_clicks(interleaving, [(shown.ranking_id, "d1")]).recorded == 1
        verdict = client.interleaving_verdict(interleaving)
        client.delete_interleaving(interleaving)
    assert interleaving.summary()["rankers"] == "a, b"
    assert verdict.summary()["clicked lists"] == "3"
    assert verdict.card().sentence == "Undecided."
    assert sent[0].content == b'{"name":"engines","rankings":["a","b"],"length":10}'
    assert sent[3].content == (
        b'{"user":"u","query":{"id":"q"},"rankings":{"a":["d1","d2"],"b":["d2","d1"]}}'
    )
    assert sent[4].content == b'{"events":[{"ranking_id":"lst_1","document_id":"d1"}]}'
    assert sent[-1].method == "DELETE"


def sent_by(clicks: Any, *, are_events: bool = False) -> list[dict[str, str]]:
    """Return the events that the client sends for clicks, or for events on kept rankings."""
    sent: list[dict[str, str]] = []

    def keep(request: httpx.Request) -> httpx.Response:
        sent.extend(json.loads(request.read())["events"])
        counts = {"recorded": len(sent), "repeated": 0, "unknown": []}
        return httpx.Response(200, json=counts) if are_events else answer(request)

    with Client("http://rankery.test", transport=httpx.MockTransport(keep), retries=0) as client:
        if are_events:
            client.send_events(clicks)
        else:
            client.send_clicks("itl_1", clicks)
    return sent


def test_clicks_may_be_a_frame() -> None:
    """The columns are those of a ranked frame; whole numbers are sent as texts."""
    expected = [{"ranking_id": "lst_1", "document_id": "7"}]
    frame = pandas.DataFrame({"row": [0], "ranking_id": ["lst_1"], "document_id": [7]})
    assert sent_by(frame) == sent_by(polars.from_pandas(frame)) == sent_by([("lst_1", 7)]) == expected


def test_a_frame_of_events_has_actions_and_times() -> None:
    """A column `action` or `at` is sent where it has a value; without it, events are clicks at present."""
    click = {"ranking_id": "rkg_1", "document_id": "7", "action": "click"}
    frame = pandas.DataFrame({"ranking_id": ["rkg_1"] * 2, "document_id": [7, 8]})
    assert sent_by(frame.head(1), are_events=True) == [click]
    actions = frame.assign(action=[None, "purchase"], at=[pandas.Timestamp("2026-05-01 10:00Z"), None])
    expected = [
        {**click, "at": "2026-05-01T10:00:00+00:00"},
        {**click, "document_id": "8", "action": "purchase"},
    ]
    assert sent_by(actions, are_events=True) == expected
    assert sent_by(polars.from_pandas(actions), are_events=True) == expected
    texts = actions.assign(at=["2026-05-01T10:00:00+00:00", None])
    assert sent_by(texts, are_events=True) == expected


@pytest.mark.parametrize(
    ("clicks", "sentence"),
    [
        (pandas.DataFrame({"ranking": ["a"], "document_id": ["b"]}), "no column 'ranking_id'; did you mean"),
        (
            pandas.DataFrame({"ranking_id": ["a", None], "document_id": ["b", "c"]}),
            "row 1, column 'ranking_id'",
        ),
        (
            [("a", "b"), ("a",)],
            r"event 1: a tuple of \(ranking_id, document_id\) is expected, not a tuple of 1",
        ),
        (["ab"], "event 0: a tuple"),
        ([("a", 0.5)], "event 0: the document_id must be a text or a whole number, not 0.5"),
        ([(3, "b")], "event 0: the ranking_id must be a text, not 3"),
        (None, "or a data frame are expected, not None"),
    ],
)
def test_wrong_clicks_are_refused_by_their_position(clicks: Any, sentence: str) -> None:
    """The client refuses them by its own error before a request."""
    with pytest.raises((DataUnusable, WrongType), match=sentence):
        sent_by(clicks)
