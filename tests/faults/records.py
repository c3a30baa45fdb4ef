"""Checks of the database for duplicate results of jobs, and for datasets whose job has ended."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.store.engines import for_reading, open_engine
from core.store.tables import Comparison, Dataset, Evaluation, Job, JobAttempt, Model, Ranking

# Columns whose values no two rows share. A comparison creates a ranking of each model.
_UNIQUE_COLUMNS: tuple[tuple[Any, ...], ...] = (
    (Model.job_id,),
    (Evaluation.job_id,),
    (Ranking.job_id, Ranking.model_id),
    (Comparison.job_id,),
)


class Records:
    """Queries of the database of an installation.

    Args:
        database_url: URL of the database.
    """

    def __init__(self, database_url: str) -> None:
        self._engine = for_reading(open_engine(database_url))

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def job_ids(self) -> set[str]:
        """Return the ids of all jobs."""
        with Session(self._engine) as session:
            return set(session.scalars(select(Job.id)))

    def faults(self, job_ids: Iterable[str]) -> list[str]:
        """Describe duplicate results and successes of jobs, gaps in versions, and datasets never read."""
        ids = list(job_ids)
        with Session(self._engine) as session:
            return [
                *self._results_twice(session, ids),
                *self._successes_twice(session, ids),
                *self._versions(session),
                *self._datasets_unread(session),
            ]

    @staticmethod
    def _results_twice(session: Session, job_ids: list[str]) -> list[str]:
        duplicates = []
        for columns in _UNIQUE_COLUMNS:
            counted = select(*columns, func.count()).where(columns[0].in_(job_ids)).group_by(*columns)
            duplicates += [
                f"{number} {columns[0].class_.__tablename__} of {job_id}"
                for job_id, *_, number in session.execute(counted)
                if number > 1
            ]
        return duplicates

    @staticmethod
    def _successes_twice(session: Session, job_ids: list[str]) -> list[str]:
        won = (JobAttempt.job_id.in_(job_ids), JobAttempt.ending == "succeeded")
        counted = select(JobAttempt.job_id, func.count()).where(*won).group_by(JobAttempt.job_id)
        return [
            f"{job_id} succeeded {number} times" for job_id, number in session.execute(counted) if number > 1
        ]

    @staticmethod
    def _versions(session: Session) -> list[str]:
        versions: dict[str, list[int]] = {}
        for name, version in session.execute(select(Model.name, Model.version).order_by(Model.version)):
            versions.setdefault(name, []).append(version)
        return [
            f"versions of {name}: {numbers}"
            for name, numbers in versions.items()
            if numbers != list(range(1, len(numbers) + 1))
        ]

    @staticmethod
    def _datasets_unread(session: Session) -> list[str]:
        ended = ("succeeded", "failed", "cancelled")
        waiting = select(Dataset.id).join(Job, Dataset.job_id == Job.id)
        rows = session.scalars(waiting.where(Dataset.status == "pending", Job.status.in_(ended)))
        return [f"{dataset_id} waits for a job that has ended" for dataset_id in rows]
