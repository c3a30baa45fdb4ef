"""Diagnosis of click logs: findings on problems that make clicks misleading for training."""

from collections.abc import Iterator

import numpy as np

from core.clicks.log import ClickLog
from core.clicks.reading.codes import IMPRESSION_ACTIONS
from core.clicks.reading.report import Examples, ReadingReport
from core.clicks.statistics import blocks
from core.doctor.report import MAX_EXAMPLES, Finding, by_severity
from core.names import counted
from core.types import Int64Array

_MIXED_SHARE = 0.02  # share of lists that begin at rank 1 in a log with ranks from 0
_MIN_MOVED_SHARE = 0.01  # share of the pairs that were shown at least twice
_MAX_SINGLE_SHARE = 0.2  # share of lists that show a single document below rank 1
_BOT_LISTS = 100
_NUMBERED_USERS = "Users are numbered from 0, in the order of their first lists in the file."
_BOT_MULTIPLE = 20  # multiple of the median user's lists
_BURST_LISTS = 30
_BURST_MILLISECONDS = 60_000


def examine_log(log: ClickLog, report: ReadingReport | None = None) -> tuple[Finding, ...]:
    """Return the findings on a log, errors first.

    Args:
        report: Counts from reading the log, None for a log that was not read from files.
    """
    findings = [] if report is None else list(_reading_findings(report, log.n_lists))
    return by_severity([*findings, *_log_findings(log)])


def moving_pairs(log: ClickLog) -> tuple[int, int]:
    """Return the number of pairs shown at two or more ranks, and of pairs shown at least twice."""
    lowest = np.full(log.n_pairs, np.iinfo(np.int16).max, np.int16)
    highest = np.zeros(log.n_pairs, np.int16)
    shown = np.zeros(log.n_pairs, np.int64)
    for block in blocks(log.n_impressions):
        pairs, ranks = log.pairs[block], log.ranks[block]
        np.minimum.at(lowest, pairs, ranks)
        np.maximum.at(highest, pairs, ranks)
        np.add.at(shown, pairs, 1)
    return int((highest > lowest).sum()), int((shown > 1).sum())


def _reading_findings(report: ReadingReport, n_lists: int) -> Iterator[Finding]:
    lists = report.lists_from_0 + report.lists_from_1
    is_mixed = report.events_at_rank_1 > report.events_at_rank_0 or report.lists_from_1 > _MIXED_SHARE * lists
    if report.events_at_rank_0 and report.lists_from_1 and is_mixed:
        yield Finding.of_share(
            "mixed-rank-bases",
            "warning",
            (report.lists_from_1, lists, "lists"),
            ("begins at rank 1, but other rows have rank 0", "begin at rank 1, but other rows have rank 0"),
            advice=f"The log was read with ranks from {report.rank_base}. Check whether two clients count"
            " ranks differently; import their events as separate logs with rank_base.",
        )
    if report.orphaned_actions.count:
        yield Finding.of_share(
            "actions-without-impression",
            "warning",
            (report.orphaned_actions.count, report.weighted_actions, "weighted actions"),
            ("is on a document that its list did not show", "are on documents that their lists did not show"),
            advice="Log all impressions, including those of the second page and of other widgets. These"
            " actions are left out.",
            examples=tuple(report.orphaned_actions.names),
            example_kind="pair",
        )
    if report.moved_actions.count:
        yield Finding.of_share(
            "actions-at-other-ranks",
            "warning",
            (report.moved_actions.count, report.weighted_actions, "weighted actions"),
            (
                "has another rank than the impression of its document",
                "have other ranks than the impressions of their documents",
            ),
            advice="The rank of the impression counts. Hits of a search are ranked from the first one of each"
            " response: for later pages, log impressions with their ranks.",
            examples=tuple(report.moved_actions.names),
            example_kind="pair",
        )
    yield from _left_out(report)
    if report.events_without_query:
        yield Finding(
            "queries-joined",
            "info",
            f"{counted(report.events_without_query, 'event')} without query text, {report.joined_events:,}"
            " joined with a query by query_id",
            "Send user_query with each event, or all queries with the events.",
            report.events_without_query,
            sum(report.rows_by_action.values()),
            "events",
        )
    yield from _unweighted(report)
    if report.lists_without_time:
        yield Finding.of_share(
            "partial-times",
            "info",
            (report.lists_without_time, n_lists, "lists"),
            ("has no time, so that all times are left out", "have no time, so that all times are left out"),
            advice="Log the time of each list. Without times, the period of the log and bursts are unknown.",
        )


def _left_out(report: ReadingReport) -> Iterator[Finding]:
    rows = max(report.rows, sum(report.rows_by_action.values()))  # search hits are no actions
    for code, severity, examples, predicate, advice in (
        (
            "unknown-queries",
            "warning",
            report.rows_without_query,
            (
                "belongs to a list without a query and is left out",
                "belong to lists without a query and are left out",
            ),
            "Upload UBI's queries with the events, as the file `queries` (`--queries` on the command line).",
        ),
        (
            "repeated-impressions",
            "warning",
            report.repeated_impressions,
            (
                "repeats a document of its list and is left out",
                "repeat a document of their list and are left out",
            ),
            "Log each document of a list once; the smallest rank counts. If a visit repeats a search, name a"
            " column of searches, not of visits, as the list.",
        ),
        (
            "unranked-impressions",
            "warning",
            report.unranked,
            (
                "has no rank, or one below rank_base, and is left out",
                "have no rank, or one below rank_base, and are left out",
            ),
            "Log the rank of each impression, and check rank_base.",
        ),
        (
            "shared-ranks",
            "info",
            report.shared_ranks,
            ("has the rank of another document of its list", "have the rank of another document of the list"),
            "Check whether a page mixes several lists, such as advertisements and results.",
        ),
        (
            "actions-without-list",
            "warning",
            Examples(report.without_list),
            ("names no list and is left out", "name no list and are left out"),
            "Send the id of the ranking with each interaction.",
        ),
        (
            "events-without-document",
            "info",
            Examples(report.without_document),
            ("names no document and is left out", "name no document and are left out"),
            "Send the id of the document with impressions and clicks.",
        ),
    ):
        if examples.count:
            yield Finding.of_share(
                code,
                severity,
                (examples.count, rows, "rows"),
                predicate,
                advice=advice,
                examples=tuple(examples.names),
                example_kind="pair",
            )


def _unweighted(report: ReadingReport) -> Iterator[Finding]:
    actions = {name: n for name, n in report.rows_by_action.items() if name not in IMPRESSION_ACTIONS}
    unweighted = sorted(actions.keys() - report.weights.keys(), key=lambda name: (-actions[name], name))
    if unweighted:
        yield Finding.of_share(
            "actions-without-weight",
            "info",
            (len(unweighted), len(actions), "actions other than impressions"),
            ("has no weight and is left out", "have no weight and are left out"),
            advice='Set a weight in `actions` for each action that indicates relevance, such as {"click": 1,'
            ' "purchase": 5}.',
            examples=tuple(f"{name}: {actions[name]:,}" for name in unweighted[:MAX_EXAMPLES]),
            example_kind="action",
        )


def _log_findings(log: ClickLog) -> Iterator[Finding]:
    if not log.clicks.any():
        yield Finding(
            "no-clicks",
            "error",
            "No impression was clicked",
            "Set weights for the actions that indicate relevance; check that impressions and actions have"
            " the same ids.",
            0,
            log.n_impressions,
            "impressions",
        )
    elif log.clicks.all():
        yield Finding(
            "only-clicks",
            "error",
            "Every impression was clicked",
            "Upload the impressions without clicks, too: without them, no document is better than another.",
            log.n_impressions,
            log.n_impressions,
            "impressions",
        )
    yield from _single_documents(log)
    yield from _fixed_ranks(log)
    is_empty = np.array([not query.strip() for query in log.query_ids], np.bool_)
    n_empty = int(is_empty[log.list_queries].sum())
    if n_empty:
        yield Finding.of_share(
            "empty-queries",
            "warning",
            (n_empty, log.n_lists, "lists"),
            ("has an empty query", "have an empty query"),
            advice="All empty queries are learnt as one query, although users searched for different things;"
            " leave them out.",
        )
    if log.list_users is None:
        yield Finding(
            "no-users",
            "info",
            "The lists have no users",
            "Log a user or session. Confidence intervals resample users if they are known, and lists"
            " otherwise.",
            log.n_lists,
            log.n_lists,
            "lists",
        )
    else:
        yield from _bots(log.list_users.astype(np.int64), log.list_times)


def _single_documents(log: ClickLog) -> Iterator[Finding]:
    """Yield a finding if many lists are single documents below rank 1: rows that belong to one list.

    Logs with propensities are exempt: each row may be a slot of a page.
    """
    starts = log.list_boundaries[:-1][np.diff(log.list_boundaries) == 1]
    single = int((log.ranks[starts] > 1).sum())
    if log.propensities is None and single > _MAX_SINGLE_SHARE * log.n_lists:
        yield Finding.of_share(
            "single-documents",
            "warning",
            (single, log.n_lists, "lists"),
            ("shows one document, below rank 1", "show one document, below rank 1"),
            advice="The rows of a list were not recognised as one list. Name a column with the list or"
            " session as `list` in `columns`, or sort the rows by user, time and rank.",
        )


def _fixed_ranks(log: ClickLog) -> Iterator[Finding]:
    moving, repeated = moving_pairs(log)
    if moving > _MIN_MOVED_SHARE * repeated:
        return
    if moving == 0:
        title = "Each document was shown at only one rank for its query"
        severity, advice = "error", "Relevance and position cannot be separated. Swap some ranks at random."
    else:
        title = (
            f"{moving:,} of {repeated:,} pairs of query and document with several impressions were shown at"
            " more than one rank"
        )
        severity = "warning"
        advice = "Position bias is estimated from these pairs only. Swap some ranks at random."
    yield Finding("fixed-ranks", severity, title, advice, repeated - moving, repeated, "pairs")


def _bots(users: Int64Array, times: Int64Array | None) -> Iterator[Finding]:
    lists = np.bincount(users)
    median = float(np.median(lists[lists > 0])) if len(users) else 0.0
    many = np.flatnonzero((lists >= _BOT_LISTS) & (lists > _BOT_MULTIPLE * median))
    if len(many):
        many = many[np.argsort(-lists[many], kind="stable")]
        predicate = f"more than {_BOT_MULTIPLE} times the lists of the median user, and at least {_BOT_LISTS}"
        yield Finding.of_share(
            "bots",
            "warning",
            (len(many), int((lists > 0).sum()), "users"),
            (f"has {predicate}", f"have {predicate}"),
            advice=f"Leave robots and monitors out of the log. {_NUMBERED_USERS}",
            examples=tuple(f"user {user}: {lists[user]:,} lists" for user in many[:MAX_EXAMPLES].tolist()),
            example_kind="user",
        )
    if times is None:
        return
    order = np.lexsort((times, users))
    users, times = users[order], times[order]
    last = _BURST_LISTS - 1
    if len(users) > last:
        fast = (users[last:] == users[:-last]) & (times[last:] - times[:-last] <= _BURST_MILLISECONDS)
        bursting = np.unique(users[last:][fast])
        if len(bursting):
            yield Finding.of_share(
                "bursts",
                "warning",
                (len(bursting), int((lists > 0).sum()), "users"),
                (
                    f"has {_BURST_LISTS} lists or more within a minute",
                    f"have {_BURST_LISTS} lists or more within a minute",
                ),
                advice="This is faster than a person reads: check for robots, prefetching and retries."
                f" {_NUMBERED_USERS}",
                examples=tuple(
                    f"user {user}: {lists[user]:,} lists" for user in bursting[:MAX_EXAMPLES].tolist()
                ),
                example_kind="user",
            )
