"""Stored scoring requests, and reports of drift in them."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select

from core.store.artifacts.keys import samples_folder, samples_key
from core.store.repositories import ids
from core.store.repositories.artifacts import ArtifactRecords
from core.store.repositories.repository import SimpleRepository, insert_absent, insert_row
from core.store.tables import DriftReport, PendingDeletion, ScoreSamples

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
            Their folders, recorded as pending deletions, for the caller to delete after the commit.
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
