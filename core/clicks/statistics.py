"""Statistics of a click log."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np

from core.clicks.log import ClickLog
from core.clicks.reading.report import ReadingReport

_MAX_ENTRIES = 20  # of ranks, versions and actions
_BLOCK = 2**22  # impressions


def log_statistics(log: ClickLog, report: ReadingReport | None = None) -> dict[str, Any]:
    """Return the counts of a log as JSON.

    Args:
        report: Counts from reading the log, None for a log that was not read from files.
    """
    n_clicks = int(np.count_nonzero(log.clicks))
    counts: dict[str, Any] = {
        "lists": log.n_lists,
        "impressions": log.n_impressions,
        "clicks": n_clicks,
        "clicked_lists": clicked_lists(log),
        "queries": len(np.unique(log.list_queries)),
        "documents": len(np.unique(log.pair_documents)),
        "pairs": log.n_pairs,
        "users": None if log.list_users is None else len(np.unique(log.list_users)),
        "versions": None if log.versions is None else list(log.versions)[:_MAX_ENTRIES],
        "ctr": n_clicks / max(log.n_impressions, 1),
        "ranks": rank_counts(log),
        "has_propensities": log.propensities is not None,
        "has_teams": log.teams is not None,
        "first_at": None,
        "last_at": None,
    }
    if log.list_times is not None and log.n_lists:
        counts["first_at"] = _iso(int(log.list_times.min()))
        counts["last_at"] = _iso(int(log.list_times.max()))
    if report is not None:
        counts |= {
            "rows": report.rows,
            "rank_base": report.rank_base,
            "rank_base_detected": report.rank_base_detected,
            "actions": dict(sorted(report.rows_by_action.items(), key=lambda item: -item[1])[:_MAX_ENTRIES]),
        }
    return counts


def blocks(n: int) -> Iterator[slice]:
    """Yield consecutive ranges that cover n impressions, so that temporary arrays stay small."""
    for start in range(0, n, _BLOCK):
        yield slice(start, min(start + _BLOCK, n))


def clicked_lists(log: ClickLog) -> int:
    """Return the number of lists with a click."""
    if not log.n_lists:
        return 0
    return int(np.count_nonzero(np.logical_or.reduceat(log.clicks, log.list_boundaries[:-1])))


def rank_counts(log: ClickLog) -> list[dict[str, Any]]:
    """Return impressions and clicks of the first 20 ranks."""
    n_ranks = min(log.max_rank, _MAX_ENTRIES)
    shown, clicked = np.zeros((2, log.max_rank + 1), np.int64)
    for block in blocks(log.n_impressions):
        ranks = log.ranks[block]
        shown += np.bincount(ranks, minlength=len(shown))
        clicked += np.bincount(ranks[log.clicks[block]], minlength=len(shown))
    return [
        {"rank": rank, "impressions": int(shown[rank]), "clicks": int(clicked[rank])}
        for rank in range(1, n_ranks + 1)
    ]


def _iso(milliseconds: int) -> str | None:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
    except (OverflowError, OSError, ValueError):  # before the year 1 or after 9999
        return None
