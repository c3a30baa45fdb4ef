"""Findings on click logs: each is reported for a log that has its cause, and only then."""

from dataclasses import replace

import numpy as np

from core.clicks import ClickLog
from core.clicks.doctor import examine_log, moving_pairs
from core.data.texts import Texts

N_LISTS = 400


def swapped_log() -> ClickLog:
    """Return a log of one query whose two documents swap ranks in every other list."""
    swapped = np.arange(N_LISTS) % 2
    pairs = np.stack([swapped, 1 - swapped], axis=1).ravel().astype(np.int32)
    return ClickLog(
        list_boundaries=np.arange(0, 2 * N_LISTS + 1, 2, dtype=np.int64),
        list_queries=np.zeros(N_LISTS, np.int32),
        pairs=pairs,
        ranks=np.tile(np.array([1, 2], np.int16), N_LISTS),
        clicks=pairs == 0,
        pair_queries=np.zeros(2, np.int32),
        pair_documents=np.arange(2, dtype=np.int32),
        query_ids=Texts.of(["shoes"]),
        document_ids=Texts.of(["a", "b"]),
        list_users=np.arange(N_LISTS, dtype=np.int32),
        list_times=np.arange(N_LISTS, dtype=np.int64) * 3_600_000,
    )


def codes(log: ClickLog) -> list[str]:
    """Return the codes of the findings."""
    return [finding.code for finding in examine_log(log)]


def test_a_sound_log_has_no_findings() -> None:
    """A log whose documents move between ranks, with many users and query texts, has no finding."""
    assert codes(swapped_log()) == []
    assert moving_pairs(swapped_log()) == (2, 2)


def test_a_log_of_clicks_alone_is_an_error() -> None:
    """Clicks can only be compared with impressions that were not clicked."""
    log = swapped_log()
    clicked = replace(log, clicks=np.ones(2 * N_LISTS, bool))
    (finding,) = examine_log(clicked)
    assert (finding.code, finding.severity) == ("only-clicks", "error")
    almost = np.ones(2 * N_LISTS, bool)
    almost[0] = False
    assert codes(replace(log, clicks=almost)) == []


def test_many_lists_of_one_document_are_a_warning() -> None:
    """Lists of one document below rank 1 are probably rows of longer lists without a common id."""
    log = swapped_log()
    apart = replace(
        log,
        list_boundaries=np.arange(2 * N_LISTS + 1),
        list_queries=np.zeros(2 * N_LISTS, np.int32),
        list_users=np.arange(2 * N_LISTS, dtype=np.int32),
        list_times=None,
    )
    (finding,) = examine_log(apart)
    assert (finding.code, finding.severity) == ("single-documents", "warning")
    assert (finding.count, finding.total) == (N_LISTS, 2 * N_LISTS)
    drawn = replace(apart, propensities=np.full(2 * N_LISTS, 0.5, np.float32))
    assert codes(drawn) == []


def test_ranks_that_never_move_identify_nothing() -> None:
    """Documents that are always shown at one rank are an error."""
    log = swapped_log()
    fixed = replace(log, pairs=np.tile(np.array([0, 1], np.int32), N_LISTS))
    (finding,) = examine_log(fixed)
    assert (finding.code, finding.severity, finding.count) == ("fixed-ranks", "error", 2)


def test_a_few_moving_pairs_are_a_warning() -> None:
    """If one of 150 pairs was shown at more than one rank, the finding is a warning."""
    n_pairs = 150
    pairs = np.tile(np.arange(n_pairs, dtype=np.int32), 2)
    ranks = np.tile(np.arange(1, n_pairs + 1, dtype=np.int16), 2)
    ranks[[-2, -1]] = ranks[[-1, -2]]
    pairs[[-2, -1]] = pairs[[-1, -2]]
    ranks[-1] = n_pairs + 1
    log = replace(
        swapped_log(),
        list_boundaries=np.array([0, n_pairs, 2 * n_pairs], np.int64),
        list_queries=np.zeros(2, np.int32),
        pairs=pairs,
        ranks=ranks,
        clicks=np.arange(2 * n_pairs) % 2 == 0,
        pair_queries=np.zeros(n_pairs, np.int32),
        pair_documents=np.arange(n_pairs, dtype=np.int32),
        list_users=np.arange(2, dtype=np.int32),
        list_times=None,
    )
    (finding,) = examine_log(log)
    assert (finding.code, finding.severity) == ("fixed-ranks", "warning")
    assert (
        finding.title
        == "1 of 150 pairs of query and document with several impressions were shown at more than one rank"
    )


def test_a_log_without_clicks_is_an_error() -> None:
    """A log without clicks has this error alone."""
    log = swapped_log()
    assert codes(replace(log, clicks=np.zeros_like(log.clicks))) == ["no-clicks"]


def test_empty_queries_and_absent_users_are_named() -> None:
    """Lists with an empty query are counted, and a log without users has a finding."""
    log = replace(swapped_log(), query_ids=Texts.of([" "]), list_users=None)
    empty, absent = examine_log(log)
    assert (empty.code, empty.count, empty.title) == (
        "empty-queries",
        N_LISTS,
        f"All {N_LISTS} lists have an empty query",
    )
    assert absent.code == "no-users"


def test_users_with_many_lists_or_many_in_a_minute_are_named() -> None:
    """Users are named by number, the busiest first."""
    log = swapped_log()
    assert log.list_users is not None
    assert log.list_times is not None
    users = np.where(np.arange(N_LISTS) < 150, 3, log.list_users).astype(np.int32)
    (bot,) = examine_log(replace(log, list_users=users))
    assert (bot.code, bot.examples) == ("bots", ("user 3: 150 lists",))
    times = np.where(np.arange(N_LISTS) < 30, np.arange(N_LISTS), log.list_times)
    few = np.where(np.arange(N_LISTS) < 30, 5, log.list_users).astype(np.int32)
    (burst,) = examine_log(replace(log, list_users=few, list_times=times))
    assert (burst.code, burst.examples) == ("bursts", ("user 5: 30 lists",))
