"""Click logs of served rankings, from stored rows to the columns of the log."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np

from core.store import new_id
from core.store.clock import utc_now
from core.store.served_logs import InterleavedLists, ServedPeriod, queue_served_log
from tests.worker.inline_worker import InlineWorker
from worker.job.datasets import load_click_log
from worker.job.run import JobRun
from worker.process.shutdown import StopFlag
from worker.process.tasks import run_job


def serve(inline_worker: InlineWorker, *lists: dict[str, Any]) -> list[str]:
    """Record rankings as the API does; return their ids."""
    rows: list[dict[str, Any]] = []
    for changed in lists:
        row = {"id": new_id("srv_"), "name": "web", "version": 1, "user": None, "session": None}
        content = {"query": "shoes", "documents": ["a", "b", "c"]}
        rows.append({**row, "content": content, "created_at": utc_now(), **changed})
    with inline_worker.store.begin() as tx:
        tx.served.add(rows)
    return [str(row["id"]) for row in rows]


def act(inline_worker: InlineWorker, *events: tuple[str, int, str]) -> None:
    """Record actions, each given as ranking id, position and name."""
    with inline_worker.store.begin() as tx:
        names = ("ranking_id", "place", "action")
        tx.served.record([{**dict(zip(names, event, strict=True)), "at": utc_now()} for event in events])


def make_log(
    inline_worker: InlineWorker, version: int | None = None, since: datetime | None = None, **options: Any
) -> tuple[JobRun, str]:
    """Make a log of served rankings; return the job and the id of the log."""
    return run_log_job(
        inline_worker, ServedPeriod("web", version, since, utc_now() + timedelta(seconds=1)), **options
    )


def run_log_job(
    inline_worker: InlineWorker, lists: ServedPeriod | InterleavedLists, **options: Any
) -> tuple[JobRun, str]:
    """Make a log as a worker does; return the job and the id of the log."""
    with inline_worker.store.begin() as tx:
        log, _ = queue_served_log(tx, "served", lists, options)
    run = JobRun.claim_next(inline_worker.store, inline_worker.settings, {"ingest-clicks"}, "w1")
    assert run is not None
    run_job(run, inline_worker.settings, StopFlag())
    return run, log.id


def test_a_log_has_the_served_rankings_and_their_actions(inline_worker: InlineWorker) -> None:
    """The log has ranks, clicks, weighted actions, users or sessions, and versions."""
    first, _, third = serve(
        inline_worker,
        {"user": "u1"},
        {"session": "s1", "version": 2},
        {"user": "u1", "content": {"query": "hats", "documents": ["c", "a"]}},
    )
    serve(inline_worker, {"name": "other"})
    act(inline_worker, (first, 1, "click"), (first, 1, "buy"), (third, 0, "buy"), (third, 1, "hover"))
    run, log_id = make_log(inline_worker, actions={"click": 1, "buy": 5})
    log = load_click_log(run, log_id)
    assert (log.n_lists, log.n_impressions, list(log.query_ids)) == (3, 8, ["shoes", "hats"])
    np.testing.assert_array_equal(log.ranks, [1, 2, 3, 1, 2, 3, 1, 2])
    np.testing.assert_array_equal(log.clicks, [0, 1, 0, 0, 0, 0, 1, 0])
    assert log.gains is not None
    assert log.list_users is not None
    np.testing.assert_array_equal(log.gains, [0, 6, 0, 0, 0, 0, 5, 0])
    np.testing.assert_array_equal(log.list_users, [0, 1, 0])
    assert log.versions is not None
    assert log.list_versions is not None
    assert [list(log.versions)[place] for place in log.list_versions] == ["web:1", "web:2", "web:1"]
    assert log.list_times is not None


def test_only_a_log_of_one_version_has_propensities(inline_worker: InlineWorker) -> None:
    """With several versions, the rank of a document depends on the version that answered."""
    serve(inline_worker, {}, {"name": "other", "version": 3}, {})
    log = load_click_log(*make_log(inline_worker))
    np.testing.assert_array_equal(log.propensities, np.ones(6))
    serve(inline_worker, {"version": 2, "content": {"query": "shoes", "documents": ["c", "a", "b"]}})
    assert load_click_log(*make_log(inline_worker)).propensities is None
    np.testing.assert_array_equal(
        load_click_log(*make_log(inline_worker, version=2)).propensities, np.ones(3)
    )


def test_rankings_without_documents_do_not_spoil_a_log(inline_worker: InlineWorker) -> None:
    """A search without candidates is left out, and so is a document with an empty id; others keep ranks."""
    first, _, _ = serve(
        inline_worker,
        {"content": {"query": "shoes", "documents": ["a", "", "c"]}},
        {"content": {"query": "nothing", "documents": []}},
        {"content": {"query": "nothing", "documents": [""]}},
    )
    act(inline_worker, (first, 1, "click"), (first, 2, "click"))
    run, log_id = make_log(inline_worker)
    log = load_click_log(run, log_id)
    assert (log.n_lists, list(log.query_ids), list(log.document_ids)) == (1, ["shoes"], ["a", "c"])
    np.testing.assert_array_equal(log.ranks, [1, 3])
    np.testing.assert_array_equal(log.clicks, [0, 1])
    empty = {"query": "nothing", "documents": [], "teams": [], "rankers": 2}
    drafted = {"query": "shoes", "documents": ["", "b"], "teams": [1, 0], "rankers": 2}
    interleaving_id = interleave(inline_worker, 0, (empty, "u1", []), (drafted, "u2", [1]))
    run, log_id = run_log_job(inline_worker, InterleavedLists(interleaving_id))
    log = load_click_log(run, log_id)
    np.testing.assert_array_equal(log.ranks, [2])
    np.testing.assert_array_equal(log.teams, [0])


def test_a_log_may_be_of_one_version_and_of_a_period(inline_worker: InlineWorker) -> None:
    """Older rankings, and those of other versions, are left out; a log without rankings is invalid."""
    serve(inline_worker, {}, {"version": 2})
    run, log_id = make_log(inline_worker, version=2)
    assert load_click_log(run, log_id).n_lists == 1
    run, log_id = make_log(inline_worker, since=utc_now() + timedelta(milliseconds=500))
    with inline_worker.store.read() as tx:
        log = tx.click_logs.get(log_id)
    assert log.status == "invalid"
    assert "RANKERY_RANKING_LOG_SHARE" in str(log.problem)


def test_a_log_of_newer_rankings_names_the_end_of_the_period(inline_worker: InlineWorker) -> None:
    """Rankings of the last half hour were kept, so the setting for the share to keep is not to blame."""
    serve(inline_worker, {})
    until = utc_now() - timedelta(minutes=30)
    problems = []
    for version in (None, 1, 2):
        _, log_id = run_log_job(inline_worker, ServedPeriod("web", version, None, until))
        with inline_worker.store.read() as tx:
            problems.append(str(tx.click_logs.get(log_id).problem))
    assert all("those that were kept are newer" in problem for problem in problems[:2])
    assert all("RANKERY_RANKING_LOG_SHARE" not in problem for problem in problems[:2])
    assert "rankings of web:2 that were served" in problems[2]
    assert "none were kept; RANKERY_RANKING_LOG_SHARE" in problems[2]


def interleave(
    inline_worker: InlineWorker, window: int, *lists: tuple[dict[str, Any], str | None, list[int]]
) -> str:
    """Record an interleaving with contents, users and clicked places of its lists; return its id."""
    options = {"method": "team_draft", "length": 3, "seed": 1, "unit": "user", "click_window_seconds": window}
    rule = {"error": 0.05, "miss": 0.2, "difference": 0.2}
    with inline_worker.store.begin() as tx:
        row = tx.interleavings.add(name="x", rankers=["a", "b"], model_ids=None, rule=rule, **options)
        rows: list[dict[str, Any]] = [
            {
                "id": new_id("lst_"),
                "interleaving_id": row.id,
                "assignment": None,
                "created_at": utc_now(),
                "user": user,
                "content": content,
            }
            for content, user, _ in lists
        ]
        tx.interleavings.add_lists(rows)
        for shown, (_, _, clicked) in zip(rows, lists, strict=True):
            tx.interleavings.record_clicks(tx.interleavings.shown_list(row.id, str(shown["id"])), clicked)
    return row.id


def test_interleaved_lists_become_a_log(inline_worker: InlineWorker) -> None:
    """The log has ranks, clicks, users, and the team of each document that a team contributed."""
    drafted = {"query": "shoes", "documents": ["a", "b", "c"], "teams": [-1, 1, 0], "rankers": 2}
    shared = {"query": "hats", "documents": ["d", "e"], "shares": [[0.5, 0.2], [0.5, 0.8]]}
    interleaving_id = interleave(
        inline_worker, 0, (drafted, "u1", [2]), (drafted, "u2", []), (shared, "u1", [0, 1])
    )
    run, log_id = run_log_job(inline_worker, InterleavedLists(interleaving_id))
    log = load_click_log(run, log_id)
    assert (log.n_lists, list(log.query_ids)) == (3, ["shoes", "hats"])
    np.testing.assert_array_equal(log.ranks, [1, 2, 3, 1, 2, 3, 1, 2])
    np.testing.assert_array_equal(log.clicks, [0, 0, 1, 0, 0, 0, 1, 1])
    np.testing.assert_array_equal(log.teams, [-1, 1, 0, -1, 1, 0, -1, -1])
    assert log.list_users is not None
    np.testing.assert_array_equal(log.list_users, [0, 1, 0])
    assert log.propensities is None


def test_a_log_of_lists_with_an_open_click_window_is_invalid(inline_worker: InlineWorker) -> None:
    """The problem of the log names the option that shortens the click window."""
    content = {"query": "shoes", "documents": ["a"], "teams": [0], "rankers": 2}
    _, log_id = run_log_job(
        inline_worker, InterleavedLists(interleave(inline_worker, 3600, (content, None, [0])))
    )
    with inline_worker.store.read() as tx:
        log = tx.click_logs.get(log_id)
    assert log.status == "invalid"
    assert "click_window_seconds" in str(log.problem)
