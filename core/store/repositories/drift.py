"""Stored scoring requests, and reports of drift in them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from core.store.artifacts.keys import samples_folder, samples_key
from core.store.repositories import ids
from core.store.repositories.artifacts import ArtifactDigests
from core.store.repositories.pages import Page, Span, narrowed
from core.store.repositories.rows import added, found
from core.store.tables import DriftReport, PendingDeletion, ScoreSamples


class DriftReports:
    """Reports of drift within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, **values: Any) -> DriftReport:
        """Record a report; the values are the columns of its row."""
        return added(self._session, DriftReport(**{"id": ids.new_id(ids.DRIFT_REPORT), **values}))

    def get(self, id: str) -> DriftReport:
        """Return one report.

        Raises:
            NotFound: It does not exist.
        """
        return found(self._session, DriftReport, "drift report", id)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        model_id: str | None = None,
        name: str | None = None,
        verdict: str | None = None,
        project: str | None = None,
    ) -> Page[DriftReport]:
        """List reports, newest first.

        Args:
            cursor: Where the page begins.
            limit: Rows at most.
            model_id: Only those of this version.
            name: Only those of the versions of this name.
            verdict: Only those with this verdict.
            project: Only those of this project.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        wanted = {"model_id": model_id, "name": name, "verdict": verdict, "project": project}
        rows = narrowed(select(DriftReport), **wanted)
        return Span(cursor, limit).take(self._session, rows, DriftReport.id, ids.DRIFT_REPORT)

    def delete(self, id: str) -> None:
        """Delete a report.

        Raises:
            NotFound: It does not exist.
        """
        self._session.delete(self.get(id))
        self._session.flush()


class SampledScores:
    """Artifacts with scoring requests within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._digests = ArtifactDigests(session)

    def add(
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
        """Record a stored artifact with its checksum."""
        self._digests.keep(samples_key(id), sha256, size_bytes)
        row = ScoreSamples(
            id=id,
            models=sorted(set(models)),
            requests=requests,
            size_bytes=size_bytes,
            first_at=first_at,
            last_at=last_at,
        )
        return added(self._session, row)

    def between(self, since: datetime, until: datetime, model: str) -> list[ScoreSamples]:
        """List the artifacts with requests of a period to the models of a name, newest first."""
        rows = select(ScoreSamples).where(ScoreSamples.last_at >= since, ScoreSamples.first_at < until)
        found = self._session.scalars(rows.order_by(ScoreSamples.last_at.desc(), ScoreSamples.id.desc()))
        return [row for row in found if model in row.models]

    def expire(self, most_bytes: int) -> list[str]:
        """Delete the rows of the oldest artifacts beyond a number of bytes.

        Returns:
            Their folders, recorded as pending deletions, for the caller to delete after the commit.
        """
        newest_first = (ScoreSamples.last_at.desc(), ScoreSamples.id.desc())
        total = func.sum(ScoreSamples.size_bytes).over(order_by=newest_first).label("total")
        sums = select(ScoreSamples.id, total).subquery()
        dropped = list(self._session.scalars(select(sums.c.id).where(sums.c.total > most_bytes)))
        self._session.execute(delete(ScoreSamples).where(ScoreSamples.id.in_(dropped)))
        folders = [samples_folder(each) for each in dropped]
        for folder in folders:
            self._digests.forget(folder)
            self._session.merge(PendingDeletion(folder=folder))
        self._session.flush()
        return folders
