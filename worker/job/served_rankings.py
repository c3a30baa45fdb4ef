"""Write stored rankings and interleaved lists as a file of sessions, to read as a click log."""

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from core.errors import DatasetError
from core.interleaving.lists import InterleavedList
from core.store import Transaction
from core.store.clock import utc_now
from core.store.repositories.served import ServedList
from core.store.served_logs import ServedPeriod
from core.store.tables import ShownList
from core.store.tables.datasets import INTERLEAVED, SERVED
from worker.job.run import JobRun

Session = dict[str, Any]
_CERTAIN = 1.0  # a model version ranks the same candidates deterministically
_LISTS_BETWEEN_CHECKS = 1_000


def write_stored_lists(run: JobRun, source: Mapping[str, Any], path: Path) -> None:
    """Write the stored lists of a click log's source as sessions, a JSON line each.

    Raises:
        DatasetError: The source has no lists.
        NotFound: The interleaving was deleted.
    """
    _WRITERS[source["kind"]](run, source, path)


def _write_served(run: JobRun, source: Mapping[str, Any], path: Path) -> None:
    """Write the rankings of a period as sessions.

    A ranking without a user has its session as the user. If several versions served, ranks depend on the
    version that answered. The probability of each version is unknown, so that documents have no propensities.
    """
    period = ServedPeriod.from_json(source)
    with run.store.read() as tx:
        is_one_version = period.version is not None or (
            len(tx.served.versions(period.model, period.since, period.until)) == 1
        )
        served = tx.served.lists(period.model, period.version, period.since, period.until)
        sessions = (_served_session(each, _CERTAIN if is_one_version else None) for each in served)
        n_written = _write(run, sessions, path)
        if not n_written:
            raise DatasetError.at(_missing_rankings(tx, period))


def _missing_rankings(tx: Transaction, period: ServedPeriod) -> str:
    version = "" if period.version is None else f":{period.version}"
    newer = tx.served.versions(period.model, period.until, utc_now())
    reason = (
        "but those that were kept are newer; wait, or set a later end: `until`, `--latest` in commands"
        if newer and period.version in (None, *newer)
        else "but none were kept; RANKERY_RANKING_LOG_SHARE is the share to keep"
    )
    return (
        f"expected rankings of {period.model}{version} that were served with `keep` in this period, up to"
        f" {period.until:%Y-%m-%d %H:%M} UTC, {reason}"
    )


def _write_interleaved(run: JobRun, source: Mapping[str, Any], path: Path) -> None:
    """Write the lists of an interleaving as sessions, once their click window is over."""
    with run.store.read() as tx:
        n_written = _write(run, _interleaved_sessions(tx, source["interleaving_id"]), path)
    if not n_written:
        raise DatasetError.at(
            "expected lists of the interleaving whose click window has ended, but there are none; show"
            " lists, and wait for `click_window_seconds`"
        )


# Keyed by the kind of the log's source.
_WRITERS = {SERVED: _write_served, INTERLEAVED: _write_interleaved}


def _write(run: JobRun, sessions: Iterator[Session], path: Path) -> int:
    """Write sessions as JSON lines, except those without documents; return their number."""
    n_written = 0
    with path.open("w", encoding="utf-8") as file:
        for session in sessions:
            if not session["documents"]:
                continue
            file.write(json.dumps(session) + "\n")
            n_written += 1
            if n_written % _LISTS_BETWEEN_CHECKS == 0:
                run.lease.check()
    return n_written


def _served_session(served: ServedList, propensity: float | None) -> Session:
    ranking = served.ranking
    documents = [
        {"rank": rank, "id": document, "propensity": propensity, "actions": served.actions.get(rank - 1, [])}
        for rank, document in enumerate(ranking.content["documents"], 1)
        if document  # readers refuse an empty id, which would spoil the whole log
    ]
    session: Session = {
        "query": ranking.content["query"],
        "documents": documents,
        "time": ranking.created_at.isoformat(),
        "version": f"{ranking.name}:{ranking.version}",
    }
    return _with_user(session, ranking.user or ranking.session)


def _interleaved_sessions(tx: Transaction, interleaving_id: str) -> Iterator[Session]:
    row = tx.interleavings.get(interleaving_id)
    until = utc_now() - timedelta(seconds=row.click_window_seconds)
    return map(_interleaved_session, tx.interleavings.lists(row.id, until))


def _interleaved_session(shown: ShownList) -> Session:
    clicks = set(shown.clicks or ())
    teams = InterleavedList.of_json(shown.content).teams
    documents = [
        {
            "rank": position + 1,
            "id": document,
            "team": team,
            "actions": ["click"] if position in clicks else [],
        }
        for position, (document, team) in enumerate(zip(shown.content["documents"], teams, strict=True))
        if document
    ]
    session = {
        "query": shown.content["query"],
        "documents": documents,
        "time": shown.created_at.isoformat(),
    }
    return _with_user(session, shown.user)


def _with_user(session: Session, user: str | None) -> Session:
    return session if user is None else {**session, "user": user}
