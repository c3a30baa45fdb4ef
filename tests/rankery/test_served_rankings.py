"""Kept and interleaved rankings of frames, arrays and files, and their events, on a real service."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

from rankery.cli.served_events import read_events
from rankery.client import Client
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import DataUnusable, InvalidArgument
from tests.rankery.cli.commands import run

NAME = "shown-to-users"
FRAME = pandas.DataFrame(
    {
        "query_id": ["p", "q", "p", "q", "q"],
        "document_id": [11, 12, 13, 14, 15],
        "bm25": [0.9, 0.1, 0.4, 0.7, 0.3],
        "age": [0.1, 0.5, 0.8, 0.2, 0.9],
    }
)


@pytest.fixture(scope="module")
def client(stack: EmbeddedStack) -> Iterator[Client]:
    """A client and two versions of a model, by `bm25` and by `age`; their results are deleted at the end."""
    values = np.linspace(0.0, 1.0, 60)
    parameters = {"objective": "regression", "num_leaves": 16, "min_data_in_leaf": 2, "verbosity": -1}
    with Client(stack.url) as client:
        for feature in ("bm25", "age"):
            features = np.column_stack([values * (name == feature) for name in ("bm25", "age")])
            data = lightgbm.Dataset(features, values, feature_name=["bm25", "age"])
            client.import_model(lightgbm.train(parameters, data, 3), NAME).wait()
        yield client
        for interleaving in [one for one in client.interleavings() if one.name == NAME]:
            client.delete_interleaving(interleaving)
        for log in list(client.click_logs(name=NAME)):
            log.delete(permanently=True)


def test_kept_rankings_of_frames_become_a_click_log(client: Client) -> None:
    """Frames and arrays get a `ranking_id` per query, and repeated events are counted once."""
    expected = {"p": [11, 13], "q": [14, 15, 12]}
    ids, since = [], datetime.now(UTC)  # other tests keep rankings of the same model
    for frame in (FRAME, polars.from_pandas(FRAME), pa.Table.from_pandas(FRAME, preserve_index=False)):
        ranked = client.rank(f"{NAME}:1", frame, keep=True, user="ann", session="visit 1")
        shown = ranked if isinstance(ranked, pandas.DataFrame) else ranked.to_pandas()
        assert shown.groupby("query_id")["document_id"].agg(list).to_dict() == expected
        assert shown.groupby("query_id")["ranking_id"].nunique().tolist() == [1, 1]
        ids += shown["ranking_id"].drop_duplicates().tolist()
    arrays = client.rank_arrays(
        f"{NAME}:1",
        FRAME[["bm25", "age"]].to_numpy(),
        query_ids=FRAME["query_id"].to_numpy(),
        document_ids=FRAME["document_id"].to_numpy(),
        keep=True,
    )
    ids += list(dict.fromkeys(arrays["ranking_id"]))
    assert len(set(ids)) == 8
    explained = client.rank(f"{NAME}:1", FRAME, explain=True, keep=True)
    assert {"ranking_id", "contribution.bm25"} <= set(explained.columns)
    yesterday = datetime.now(UTC) - timedelta(days=1)
    events: list[Any] = [(ids[0], "11"), (ids[1], "14", "purchase"), (ids[1], "15", "click", yesterday)]
    sent = client.send_events(events)
    assert (sent.recorded, sent.repeated, sent.unknown) == (3, 0, [])
    assert client.send_events(events[:1]).repeated == 1
    period: Any = {"since": since, "until": datetime.now(UTC)}
    log = client.served_clicks(f"{NAME}:1", NAME, **period, actions={"click": 1, "purchase": 2}).wait()
    assert log.statistics is not None
    assert log.statistics["lists"] >= len(ids)
    assert log.statistics["clicks"] == 3


def test_frames_and_arrays_are_interleaved_alike(client: Client) -> None:
    """Frames and arrays get the same lists, with their rows and ids, and clicks on them are counted."""
    interleaving = client.create_interleaving(NAME, models=[f"{NAME}:1", f"{NAME}:2"], click_window_seconds=0)
    rows = FRAME.set_index(np.arange(len(FRAME)) * 2)
    shown = client.rank(f"{NAME}:1", rows, interleaving=interleaving, user="bob")
    assert FRAME["document_id"].to_numpy()[shown["row"]].tolist() == shown["document_id"].tolist()
    assert FRAME["query_id"].to_numpy()[shown["row"]].tolist() == shown["query_id"].tolist()
    assert sorted(shown["document_id"]) == sorted(FRAME["document_id"])
    scores = client.score(f"{NAME}:1", FRAME)
    np.testing.assert_allclose(scores[shown["row"]], shown["score"])
    arrays = client.rank_arrays(
        f"{NAME}:1",
        FRAME[["bm25", "age"]].to_numpy(),
        query_ids=FRAME["query_id"].to_numpy(),
        document_ids=FRAME["document_id"].to_numpy(),
        interleaving=interleaving,
        user="bob",
    )
    assert arrays["ranking_id"].tolist() == shown["ranking_id"].tolist()
    fewer = client.rank(f"{NAME}:1", FRAME.iloc[:2], interleaving=interleaving, user="bob")
    assert fewer["document_id"].tolist() == shown["document_id"].tolist()
    assert fewer["row"].isna().sum() == fewer["score"].isna().sum() == 3
    document = {"id": "11", "features": {"bm25": 0.9, "age": 0.1}}
    (listed,) = client.rank(
        f"{NAME}:1", [{"id": "p", "documents": [document]}], interleaving=interleaving, user="bob"
    ).queries
    unscored = [one.id for one in listed.ranking if one.score is None]
    assert (len(listed.ranking), unscored) == (2, ["13"])
    first = shown.iloc[0]
    assert client.send_clicks(interleaving, [(first["ranking_id"], str(first["document_id"]))]).recorded == 1


def test_kept_and_interleaved_rankings_need_ids_and_are_not_reordered(client: Client) -> None:
    """Each error has a remedy."""
    without_ids = FRAME[["bm25", "age"]]
    for options in ({"keep": True}, {"interleaving": "itl_1"}):
        with pytest.raises(DataUnusable, match="the id of each query: give a column 'query_id'"):
            client.rank(NAME, without_ids, **options)
        with pytest.raises(InvalidArgument, match="use rank_arrays"):
            client.rank(NAME, without_ids.to_numpy(), **options)
    with pytest.raises(InvalidArgument, match="its own order"):
        client.rank(NAME, FRAME, interleaving="itl_1", order="rows")


def test_commands_keep_rankings_and_send_events(client: Client, stack: EmbeddedStack, tmp_path: Path) -> None:
    """`rank --keep` prints ids, `send-events` counts events of a file, and an invalid line has its number."""
    candidates, events = tmp_path / "candidates.csv", tmp_path / "events.ndjson"
    FRAME.to_csv(candidates, index=False)
    columns = ("--columns", '{"query": "query_id", "document": "document_id"}')
    place = ("--data-dir", stack.data_dir)
    options = ("--keep", "--user", "ann", "--session", "visit 2", *columns, *place)
    ranked = run("rank", f"{NAME}:1", candidates, *options, "--json").document
    assert "ranking id" in run("rank", f"{NAME}:1", candidates, *options).output
    ids = {query["id"]: query["ranking_id"] for query in ranked["queries"]}
    lines = [{"ranking_id": ids["q"], "document_id": document} for document in ("14", "15", "absent")]
    events.write_text("\n\n".join(map(json.dumps, lines)))
    sent = run("click-logs", "send-events", events, *place, "--json").document
    assert sent == {"recorded": 2, "repeated": 0, "unknown": 1}
    assert "2 repeated" in run("click-logs", "send-events", events, *place).output
    assert run("click-logs", "served", NAME, "--days", "1e9", *place).code == 2
    log = run("click-logs", "served", NAME, "--name", NAME, "--latest", *place, "--json").document
    assert log["statistics"]["clicks"] >= 2
    interleaving = client.create_interleaving(NAME, models=[f"{NAME}:1", f"{NAME}:2"], click_window_seconds=0)
    interleaved_options = ("--interleaving", interleaving.id, "--user", "ann", *columns, *place)
    query = run("rank", f"{NAME}:2", candidates, *interleaved_options, "--json").document["queries"][0]
    click = {"ranking_id": query["ranking_id"], "document_id": query["ranking"][0]["id"]}
    FRAME.iloc[:2].to_csv(candidates, index=False)
    trec_run = run("rank", f"{NAME}:2", candidates, *interleaved_options, "--trec").output
    rows = [line.split() for line in trec_run.splitlines() if line.startswith(query["id"])]
    rows.sort(key=lambda row: float(row[4]), reverse=True)  # as tools that read runs
    assert [row[2] for row in rows] == [document["id"] for document in query["ranking"]]
    actions = [click | {"action": action} for action in ("impression", "click", "purchase")]
    events.write_text("\n".join(map(json.dumps, [actions[0], click, *actions])))
    sent = run("interleavings", "send-clicks", interleaving.id, events, *place, "--json").document
    assert sent == {"recorded": 1, "repeated": 1, "late": 0, "unknown": 0, "ignored": 3}
    events.write_text(f"{json.dumps(click)}\n[]\n")
    wrong = run("click-logs", "send-events", events, *place)
    assert wrong.sentence == "events.ndjson, line 2: an event needs a ranking_id and a document_id"
    assert run("interleavings", "delete", interleaving.id, *place, "--json").document == [interleaving.id]


@pytest.mark.parametrize("query_ids", [None, ["p"]])
def test_any_number_of_rows_is_scored(client: Client, query_ids: list[str] | None) -> None:
    """Rows that exceed a request, with or without queries, have the scores of single rows."""
    repeats = 3_000
    rows = pandas.concat([FRAME[["bm25", "age"]]] * repeats, ignore_index=True)
    expected = np.tile(client.score(f"{NAME}:1", FRAME[["bm25", "age"]]), repeats)
    if query_ids is None:
        np.testing.assert_array_equal(client.score(f"{NAME}:1", rows.to_numpy()), expected)
    else:
        rows = rows.assign(query_id=query_ids * len(rows))
    np.testing.assert_array_equal(client.score(f"{NAME}:1", rows), expected)


def test_event_lines_end_only_at_line_feeds(tmp_path: Path) -> None:
    """A JSON text may contain U+0085, U+2028 and U+2029 unescaped; a byte order mark is skipped."""
    events = [{"ranking_id": "lst_1", "document_id": f"a{end}b"} for end in "\x85\u2028\u2029"]
    path = tmp_path / "events.ndjson"
    text = "\r\n".join(json.dumps(event, ensure_ascii=False) for event in events)
    path.write_text(text, "utf-8")
    assert read_events(path) == events
    path.write_text(text, "utf-8-sig")
    assert read_events(path) == events
