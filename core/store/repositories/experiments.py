"""Stored experiments and their trainings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.errors import WrongState
from core.jobs.base import ACTIVE, CANCELLED, FAILED, SUCCEEDED, TERMINAL
from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.jobs import Jobs
from core.store.repositories.projects import Projects
from core.store.repositories.repository import Repository, insert_row
from core.store.tables import Experiment, ExperimentTraining, Job


class ExperimentStatus(StrEnum):
    """The status of an experiment."""

    PREPARING = "preparing"
    RUNNING = "running"
    REPORTING = "reporting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


ACTIVE_EXPERIMENTS = (ExperimentStatus.PREPARING, ExperimentStatus.RUNNING, ExperimentStatus.REPORTING)


@dataclass(frozen=True)
class TrainingState:
    """A training of an experiment with its jobs.

    Attributes:
        job: Its job, None until it is queued.
    """

    row: ExperimentTraining
    job: Job | None
    evaluation: Job | None

    @property
    def has_ended(self) -> bool:
        """Whether its jobs have ended."""
        if self.job is None or self.job.status not in TERMINAL:
            return False
        if not self.row.needs_training_values or self.job.status != SUCCEEDED:
            return True
        return self.evaluation is not None and self.evaluation.status in TERMINAL

    @property
    def status(self) -> str:
        """The status of the job, then that of the evaluation; `planned` before the job is queued."""
        if self.job is None:
            return "planned"
        if self.job.status != SUCCEEDED or not self.row.needs_training_values:
            return self.job.status
        return "running" if self.evaluation is None else self.evaluation.status


class Experiments(Repository[Experiment]):
    """Experiments within one transaction."""

    table = Experiment
    kind = "experiment"
    id_prefix = ids.EXPERIMENT
    columns = MappingProxyType(
        {
            "created": None,
            "paper": Experiment.paper.expression,
            "status": Experiment.status.expression,
            "finished": Experiment.finished_at.expression,
        }
    )
    searched = (Experiment.paper.expression,)

    def __init__(self, session: Session, jobs: Jobs) -> None:
        super().__init__(session)
        self._jobs = jobs

    def add(self, id: str | None = None, project: str | None = None, **values: Any) -> Experiment:
        """Record an experiment whose datasets are pending; the values are the columns of its row."""
        project = Projects(self._session).for_new_object(project)
        return self._insert(id=id, status=ExperimentStatus.PREPARING, project=project, **values)

    def active(self) -> list[str]:
        """List the ids of the experiments that have not ended, oldest first."""
        rows = select(Experiment.id).where(Experiment.status.in_(ACTIVE_EXPERIMENTS))
        return list(self._session.scalars(rows.order_by(Experiment.id)))

    def add_training(self, experiment_id: str, **values: Any) -> ExperimentTraining:
        """Record a training that an experiment needs."""
        return insert_row(self._session, ExperimentTraining(experiment_id=experiment_id, **values))

    def trainings(self, id: str) -> list[TrainingState]:
        """List the trainings of an experiment with their jobs, in the order of the plan."""
        trainings_of_experiment = select(ExperimentTraining).where(ExperimentTraining.experiment_id == id)
        order = (ExperimentTraining.fold, ExperimentTraining.place)
        rows = list(self._session.scalars(trainings_of_experiment.order_by(*order)))
        job_ids = {each for row in rows for each in (row.job_id, row.evaluation_job_id) if each}
        jobs = {job.id: job for job in self._jobs.get_many(job_ids)}
        return [
            TrainingState(row, jobs.get(row.job_id or ""), jobs.get(row.evaluation_job_id or ""))
            for row in rows
        ]

    def counts(self, experiment_ids: Iterable[str]) -> dict[str, dict[str, int]]:
        """Count the trainings of some experiments by job status; the key `shared` counts shared ones."""
        ids_to_count = list(experiment_ids)
        status = func.coalesce(Job.status, "planned")
        rows = (
            select(ExperimentTraining.experiment_id, status, ExperimentTraining.is_shared, func.count())
            .outerjoin(Job, Job.id == ExperimentTraining.job_id)
            .where(ExperimentTraining.experiment_id.in_(ids_to_count))
            .group_by(ExperimentTraining.experiment_id, status, ExperimentTraining.is_shared)
        )
        counts: dict[str, dict[str, int]] = {each: {} for each in ids_to_count}
        for experiment_id, name, is_shared, number in self._session.execute(rows):
            counted = counts[experiment_id]
            counted[name] = counted.get(name, 0) + number
            if is_shared:
                counted["shared"] = counted.get("shared", 0) + number
        return counts

    def shareable(
        self, sharing_keys: Iterable[str], project: str | None
    ) -> dict[str, list[ExperimentTraining]]:
        """List a project's trainings with an active or successful job by sharing key, newest first.

        Jobs with a cancellation request are left out.
        """
        keys = set(sharing_keys)
        rows = (
            select(ExperimentTraining)
            .join(Job, Job.id == ExperimentTraining.job_id)
            .where(
                ExperimentTraining.sharing_key.in_(keys),
                Job.status.in_((*ACTIVE, SUCCEEDED)),
                Job.cancel_requested.is_(False),
                Job.project.is_not_distinct_from(project),
            )
        )
        by_key: dict[str, list[ExperimentTraining]] = {key: [] for key in keys}
        for row in self._session.scalars(rows.order_by(Job.id.desc())):
            by_key[row.sharing_key].append(row)
        return by_key

    def finish(
        self,
        experiment: Experiment,
        status: ExperimentStatus,
        *,
        sentence: str | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        """End an experiment."""
        experiment.status = status
        experiment.finished_at = utc_now()
        experiment.sentence = sentence or experiment.sentence
        experiment.problem = None if problem is None else dict(problem)
        self._session.flush()

    def cancel(self, id: str) -> tuple[Experiment, list[Job]]:
        """Cancel an experiment, and its trainings that no other active experiment waits for.

        A running report job is not cancelled: it takes seconds and changes nothing else.

        Returns:
            The experiment, and the jobs that were cancelled or got a cancellation request.

        Raises:
            WrongState: The experiment has ended.
        """
        experiment = self.locked(id)
        if experiment.status not in ACTIVE_EXPERIMENTS:
            raise WrongState("experiment", id, experiment.status, "it has already ended")
        self.finish(experiment, ExperimentStatus.CANCELLED)
        states = self.trainings(id)
        jobs = {job.id: job for state in states for job in (state.job, state.evaluation) if job is not None}
        unneeded = {job_id for job_id, job in jobs.items() if job.status in ACTIVE} - self._awaited(jobs, id)
        return experiment, self._jobs.cancel_active(unneeded)

    def resume(self, id: str) -> Experiment:
        """Resume an experiment that was cancelled, failed, or has unsuccessful trainings.

        Raises:
            WrongState: The experiment is active, or has no trainings left to run.
        """
        experiment = self.locked(id)
        if experiment.status in ACTIVE_EXPERIMENTS:
            raise WrongState("experiment", id, experiment.status, "it is already running")
        unsuccessful = [state for state in self.trainings(id) if state.status != SUCCEEDED]
        if experiment.status == ExperimentStatus.SUCCEEDED and not unsuccessful:
            raise WrongState("experiment", id, experiment.status, "it has no trainings left to run")
        for state in unsuccessful:
            # A job may have been deleted with the experiment.
            if state.job is None or state.job.status in (FAILED, CANCELLED) or state.job.cancel_requested:
                state.row.job_id = None
                state.row.is_shared = False
            state.row.evaluation_job_id = None
        experiment.status = ExperimentStatus.PREPARING
        experiment.finished_at = experiment.problem = experiment.report_job_id = None
        self._session.flush()
        return experiment

    def _awaited(self, job_ids: Iterable[str], id: str) -> set[str]:
        """Return the given jobs that other active experiments wait for."""
        wanted = set(job_ids)
        rows = (
            select(ExperimentTraining.job_id, ExperimentTraining.evaluation_job_id)
            .join(Experiment, Experiment.id == ExperimentTraining.experiment_id)
            .where(
                ExperimentTraining.job_id.in_(wanted) | ExperimentTraining.evaluation_job_id.in_(wanted),
                Experiment.id != id,
                Experiment.status.in_(ACTIVE_EXPERIMENTS),
            )
        )
        return {job_id for pair in self._session.execute(rows) for job_id in pair if job_id in wanted}
