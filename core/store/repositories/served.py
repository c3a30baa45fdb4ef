"""Rows of served rankings and drift reports."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select

from core.store.artifacts.keys import samples_folder, samples_key
from core.store.repositories import ids
from core.store.repositories.artifacts import ArtifactRecords
from core.store.repositories.repository import Repository, SimpleRepository, chunks, insert_absent, insert_row
from core.store.tables import DriftReport, HashKey, PendingDeletion, ScoreSamples, ServedEvent, ServedRanking

_USERS = "users"
_KEY_BYTES = 32


@dataclass(frozen=True)
class ServedList:
    """A served ranking with the recorded actions on its documents.

    Attributes:
        actions: Names of the actions by position of the document, from 0.
    """

    ranking: ServedRanking
    actions: Mapping[int, list[str]]


class ServedRankings(Repository[ServedRanking]):
    """Rankings that were served, within one transaction."""

    table = ServedRanking
    kind = "served ranking"
    id_prefix = ids.SERVED_RANKING

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rankings, given by their columns; existing ones stay unchanged."""
        insert_absent(self._session, ServedRanking, rows, "id")

    def documents(self, ranking_ids: Iterable[str]) -> dict[str, list[str]]:
        """Return the documents of rankings by id, without the rankings that do not exist."""
        possible = set(filter(ids.may_exist, ranking_ids))
        wanted = select(ServedRanking.id, ServedRanking.content).where(ServedRanking.id.in_(possible))
        return {row.id: row.content["documents"] for row in self._session.execute(wanted)}

    def record(self, events: Sequence[Mapping[str, Any]]) -> int:
        """Record events, given by the columns of `ServedEvent`; return the number of new ones."""
        keys = {(event["ranking_id"], event["place"], event["action"]): event for event in events}
        # A fixed order, so that two transactions with the same events do not deadlock.
        rows = [keys[key] for key in sorted(keys)]
        return len(insert_absent(self._session, ServedEvent, rows, "ranking_id", "place", "action"))

    def lists(
        self, name: str, version: int | None, since: datetime | None, until: datetime
    ) -> Iterator[ServedList]:
        """Yield the rankings that a model served in a period, oldest first, read in chunks.

        Args:
            version: Its version, None for all.
            since: Start of the period, None for all stored rankings.
        """
        after = _first_id(since)
        rows = select(ServedRanking).where(ServedRanking.name == name, ServedRanking.id < _first_id(until))
        if version is not None:
            rows = rows.where(ServedRanking.version == version)
        for chunk in chunks(self._session, rows, ServedRanking.id, after):
            actions = self._actions([ranking.id for ranking in chunk])
            for ranking in chunk:
                yield ServedList(ranking, actions.get(ranking.id, {}))

    def versions(self, name: str, since: datetime | None, until: datetime) -> list[int]:
        """Return the versions of a model that served rankings in a period; see `lists`."""
        in_period = (ServedRanking.id > _first_id(since), ServedRanking.id < _first_id(until))
        versions = select(ServedRanking.version).where(ServedRanking.name == name, *in_period).distinct()
        return list(self._session.scalars(versions.order_by(ServedRanking.version)))

    def _actions(self, ranking_ids: Sequence[str]) -> dict[str, dict[int, list[str]]]:
        rows = select(ServedEvent).where(ServedEvent.ranking_id.in_(ranking_ids))
        actions: dict[str, dict[int, list[str]]] = {}
        for event in self._session.scalars(rows.order_by(ServedEvent.place, ServedEvent.action)):
            actions.setdefault(event.ranking_id, {}).setdefault(event.place, []).append(event.action)
        return actions

    def forget_before(self, before: datetime, limit: int) -> int:
        """Delete up to `limit` of the rankings before a time, with their events; return their number."""
        old = select(ServedRanking.id).where(ServedRanking.id < ids.first_id(ids.SERVED_RANKING, before))
        old_ids = list(self._session.scalars(old.order_by(ServedRanking.id).limit(limit)))
        self._session.execute(delete(ServedEvent).where(ServedEvent.ranking_id.in_(old_ids)))
        self._session.execute(delete(ServedRanking).where(ServedRanking.id.in_(old_ids)))
        return len(old_ids)

    def hash_key(self) -> bytes:
        """Return the random key for the hashes of users; the first call creates it."""
        key = select(HashKey.key).where(HashKey.name == _USERS)
        stored = self._session.scalar(key)
        if stored is None:
            new_row = [{"name": _USERS, "key": secrets.token_hex(_KEY_BYTES)}]
            insert_absent(self._session, HashKey, new_row, "name")
            stored = self._session.scalar(key)
        return bytes.fromhex(str(stored))


def _first_id(since: datetime | None) -> str:
    return "" if since is None else ids.first_id(ids.SERVED_RANKING, since)


_MAX_EXPIRED = 500  # artifacts in one transaction, during which other writers wait


class DriftReports(SimpleRepository[DriftReport]):
    """Reports of drift, and the artifacts with scoring requests that they read, within one transaction."""

    table = DriftReport
    kind = "drift report"
    id_prefix = ids.DRIFT_REPORT

    def add_samples(
        self,
        id: str,
        *,
        models: Sequence[str],
        requests: int,
        sha256: str,
        size_bytes: int,
        first_at: datetime,
        last_at: datetime,
    ) -> ScoreSamples:
        """Record a stored artifact of scoring requests, with its checksum."""
        ArtifactRecords(self._session).record_checksum(samples_key(id), sha256, size_bytes)
        row = ScoreSamples(
            id=id,
            models=sorted(set(models)),
            requests=requests,
            size_bytes=size_bytes,
            first_at=first_at,
            last_at=last_at,
        )
        return insert_row(self._session, row)

    def samples_between(self, since: datetime, until: datetime, model: str) -> list[ScoreSamples]:
        """List the artifacts with scoring requests of a period to models with this name, newest first."""
        rows = select(ScoreSamples).where(ScoreSamples.last_at >= since, ScoreSamples.first_at < until)
        samples = self._session.scalars(rows.order_by(ScoreSamples.last_at.desc(), ScoreSamples.id.desc()))
        return [row for row in samples if model in row.models]

    def expire_samples(self, max_bytes: int) -> list[str]:
        """Delete rows of the oldest artifacts beyond a number of bytes, at most 500 in one call.

        Returns:
            The folders of these artifacts, recorded as pending deletions. The caller deletes the folders
            after the commit.
        """
        newest_first = (ScoreSamples.last_at.desc(), ScoreSamples.id.desc())
        total = func.sum(ScoreSamples.size_bytes).over(order_by=newest_first).label("total")
        sums = select(ScoreSamples.id, total).subquery()
        beyond = select(sums.c.id).where(sums.c.total > max_bytes)
        dropped = list(self._session.scalars(beyond.order_by(sums.c.total.desc()).limit(_MAX_EXPIRED)))
        self._session.execute(delete(ScoreSamples).where(ScoreSamples.id.in_(dropped)))
        ArtifactRecords(self._session).delete_checksums_of(map(samples_key, dropped))
        folders = [samples_folder(each) for each in dropped]
        insert_absent(self._session, PendingDeletion, [{"folder": folder} for folder in folders], "folder")
        return folders
