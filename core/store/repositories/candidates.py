"""Candidates of automatic trainings."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.store.tables import Candidate


class Candidates:
    """Candidates of automatic trainings within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of_job(self, job_id: str) -> list[Candidate]:
        """List the candidates of an automatic training by number, empty before it starts."""
        rows = select(Candidate).where(Candidate.job_id == job_id)
        return list(self._session.scalars(rows.order_by(Candidate.number)))
