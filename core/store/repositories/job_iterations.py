"""Recorded iterations of jobs: values and times, the points of learning curves."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import and_, delete, insert, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from core.store.repositories.job_rows import JobRows
from core.store.tables import JobIteration


class JobIterations(JobRows):
    """Iterations of jobs within one transaction."""

    def iterations(self, id: str, after: int = 0) -> list[JobIteration]:
        """List the recorded iterations of a job above `after`, in order.

        Raises:
            NotFound: There is no such job.
        """
        self.get(id)
        rows = select(JobIteration).where(JobIteration.job_id == id, JobIteration.iteration > after)
        return list(self._session.scalars(rows.order_by(JobIteration.iteration)))

    def values_by_iteration(self, after: Mapping[str, int]) -> dict[str, dict[int, dict[str, Any]]]:
        """Return the recorded values of several jobs in one statement, without their times.

        Args:
            after: Ids of jobs, each with the iteration above which to return its values.

        Returns:
            By job and iteration, both in order; a job without such values has an empty entry.
        """
        return self._by_iteration(JobIteration.values, after)

    def milliseconds_by_iteration(self, after: Mapping[str, int]) -> dict[str, dict[int, dict[str, Any]]]:
        """Return the recorded times of several jobs in one statement, as `values_by_iteration`.

        An iteration without recorded times has an empty entry.
        """
        found = self._by_iteration(JobIteration.milliseconds, after)
        return {job_id: {at: times or {} for at, times in rows.items()} for job_id, rows in found.items()}

    def _by_iteration(
        self, column: InstrumentedAttribute[Any], after: Mapping[str, int]
    ) -> dict[str, dict[int, Any]]:
        found: dict[str, dict[int, Any]] = {job_id: {} for job_id in after}
        wanted = [
            and_(JobIteration.job_id == job_id, JobIteration.iteration > iteration)
            for job_id, iteration in after.items()
        ]
        rows = select(JobIteration.job_id, JobIteration.iteration, column).where(or_(*wanted))
        for job_id, iteration, recorded in self._session.execute(
            rows.order_by(JobIteration.job_id, JobIteration.iteration)
        ):
            found[job_id][iteration] = recorded
        return found

    def _replace_iterations(
        self, id: str, values: dict[int, dict[str, Any]], milliseconds: Mapping[int, dict[str, Any]]
    ) -> None:
        self._session.execute(
            delete(JobIteration).where(JobIteration.job_id == id, JobIteration.iteration.in_(values)),
            execution_options={"synchronize_session": False},
        )
        rows = [
            {"job_id": id, "iteration": number, "values": value, "milliseconds": milliseconds.get(number)}
            for number, value in values.items()
        ]
        self._session.execute(insert(JobIteration), rows)

    def _drop_iterations(self, id: str, after: int) -> None:
        dropped = delete(JobIteration).where(JobIteration.job_id == id, JobIteration.iteration > after)
        self._session.execute(dropped)
