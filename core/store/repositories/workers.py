"""Stored workers with their leases."""

from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from core.store.clock import utc_now
from core.store.repositories.events import Events
from core.store.tables import Worker


class Workers:
    """Workers within one transaction."""

    def __init__(self, session: Session, events: Events) -> None:
        self._session = session
        self._events = events

    def report(
        self, name: str, lane: str, processes: int, seconds: float, compiling: str | None = None
    ) -> bool:
        """Record a live worker; delete workers with an expired lease and record their loss.

        Args:
            name: Worker name, the prefix of its processes' names.
            lane: Lane of the jobs that it runs.
            processes: Number of its concurrent jobs.
            seconds: Duration of its lease.
            compiling: Progress of the compilation of its kernels, None when it is ready.

        Returns:
            Whether the worker is new, or its lane, processes or progress changed.
        """
        now = utc_now()
        expired = delete(Worker).where(Worker.name != name, Worker.expires_at < now).returning(Worker)
        for lost in self._session.scalars(expired, execution_options={"synchronize_session": False}).all():
            self._events.worker_lost(lost)
        worker = self._session.get(Worker, name) or Worker(name=name, started_at=now)
        before = worker.lane, worker.processes, worker.compiling
        worker.lane, worker.processes, worker.compiling = lane, processes, compiling
        worker.seen_at, worker.expires_at = now, now + timedelta(seconds=seconds)
        self._session.add(worker)
        self._session.flush()
        return before != (lane, processes, compiling)

    def remove(self, name: str) -> None:
        """Delete the row of a worker that shuts down."""
        self._session.execute(delete(Worker).where(Worker.name == name))

    def live(self) -> list[Worker]:
        """List live workers, oldest first."""
        now = utc_now()
        rows = select(Worker).where(Worker.expires_at >= now).order_by(Worker.started_at, Worker.name)
        return [worker for worker in self._session.scalars(rows) if not _reports_from_future(worker, now)]


def _reports_from_future(worker: Worker, now: datetime) -> bool:
    """Return whether a worker's last report lies more than a lease in the future, after a clock change."""
    return worker.seen_at - now > worker.expires_at - worker.seen_at
