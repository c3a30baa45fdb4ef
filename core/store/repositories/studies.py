"""Stored studies and their trials."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sqlalchemy import String, func, select
from sqlalchemy.orm import Session

from core.errors import WrongState
from core.jobs.base import ACTIVE
from core.store.clock import utc_now
from core.store.repositories import ids, study_progress
from core.store.repositories.events import Events
from core.store.repositories.jobs import Jobs
from core.store.repositories.projects import Projects
from core.store.repositories.repository import Repository
from core.store.tables import Dataset, Job, Study, Trial
from core.studies import Budget


@dataclass(frozen=True)
class TrialResult:
    """The result of a trial.

    Attributes:
        status: `succeeded` or `pruned`.
        value: Mean of the objective over the tested queries; for a trial pruned within its first fold, the
            best value of the curve, or None.
        folds: `[{"fold", "value", "best_iteration"}]` of the completed folds.
        interval: `[lower, upper]` of the value, or None.
        curve: `[[iteration, value], …]` of the first fold.
        best_iteration: Median over the completed folds; None if no fold was completed.
    """

    status: str
    value: float | None
    folds: list[dict[str, Any]]
    interval: list[float] | None
    curve: list[list[float]]
    best_iteration: int | None


class Studies(Repository[Study]):
    """Studies within one transaction; `StudyProgress` queues their jobs."""

    table = Study
    kind = "study"
    id_prefix = ids.STUDY
    columns = MappingProxyType(
        {
            "created": None,
            "name": func.lower(Study.name, type_=String),
            "status": Study.status.expression,
            "best": Study.best_value.expression,
            "finished": Study.finished_at.expression,
        }
    )
    searched = (Study.name.expression,)

    def __init__(self, session: Session, jobs: Jobs, events: Events) -> None:
        super().__init__(session)
        self._progress = study_progress.StudyProgress(session, jobs, events)

    def add(
        self,
        spec: Mapping[str, Any],
        budget: Budget,
        parallel: int,
        key_id: str | None,
        project: str | None = None,
        origin: Study | None = None,
    ) -> Study:
        """Record a study and queue its first trials; the first one has the default parameters.

        Args:
            parallel: Number of concurrently queued or running trials.
            key_id: The API key that submits it, None without authentication.
            project: Project of the study; None for the project of its models, else that of `origin` or
                its dataset.

        Raises:
            NotFound: A dataset does not exist.
            InvalidInput: See `Projects.claim_name`.
        """
        source = origin or self._session.get(Dataset, spec["dataset_id"])
        inherited = None if source is None else source.project
        study_id = ids.new_id(ids.STUDY)
        study = self._insert(
            id=study_id,
            name=spec["name"],
            model_name=spec["model_name"],
            dataset_id=spec["dataset_id"],
            status=study_progress.RUNNING,
            spec={**spec, "id": study_id},
            trials=budget.trials,
            seconds=budget.seconds,
            patience=budget.patience,
            parallel_trials=parallel,
            key_id=key_id,
            project=Projects(self._session).claim_name(spec["model_name"], project, inherited),
        )
        self._progress.advance(study)
        return study

    def counts(self, study_ids: Collection[str]) -> dict[str, Counter[str]]:
        """Return the number of trials by study and status."""
        by_study: dict[str, Counter[str]] = {study_id: Counter() for study_id in study_ids}
        rows = select(Trial.study_id, Trial.status, func.count()).where(Trial.study_id.in_(study_ids))
        for study_id, status, count in self._session.execute(rows.group_by(Trial.study_id, Trial.status)):
            by_study[study_id][status] = count
        return by_study

    def trials(self, study_id: str, after: int = -1, limit: int | None = None) -> list[Trial]:
        """List the trials of a study above a number, in order."""
        rows = select(Trial).where(Trial.study_id == study_id, Trial.number > after)
        return list(self._session.scalars(rows.order_by(Trial.number).limit(limit)))

    def trial(self, study_id: str, number: int) -> Trial:
        """Return one trial.

        Raises:
            NotFound: The study has no trial with this number.
        """
        return study_progress.trial_of(self._session, study_id, number)

    def active_jobs(self, study_id: str) -> list[str]:
        """List the ids of the active jobs of a study, read without a lock."""
        study = self.get(study_id)
        active = select(Trial.job_id).where(
            Trial.study_id == study_id, Trial.status.in_(study_progress.ACTIVE_TRIALS)
        )
        other_job_ids = (study.default_job_id, study.winner_job_id, study.conclude_job_id)
        job_ids = [*self._session.scalars(active), *(each for each in other_job_ids if each)]
        return list(self._session.scalars(select(Job.id).where(Job.id.in_(job_ids), Job.status.in_(ACTIVE))))

    def start_trial(
        self, study: Study, trial: Trial, parameters: dict[str, Any], training: dict[str, Any]
    ) -> None:
        """Record the parameters of a started trial; requires the lock of the study."""
        now = utc_now()
        trial.status, trial.parameters, trial.training = study_progress.RUNNING, parameters, training
        trial.started_at = trial.started_at or now
        study.started_at = study.started_at or now
        self._session.flush()

    def end_trial(self, study_id: str, number: int, result: TrialResult) -> None:
        """Record the result of a trial, in the transaction that ends its job."""
        study, trial = self.locked(study_id), self.trial(study_id, number)
        trial.status, trial.value = result.status, result.value
        trial.folds, trial.interval, trial.curve = result.folds, result.interval, result.curve
        trial.best_iteration = result.best_iteration
        trial.finished_at = utc_now()
        if number == 0:
            study.default_value = result.value
        if (
            result.status == study_progress.SUCCEEDED
            and result.value is not None
            and _is_better(study, trial)
        ):
            study.best_number, study.best_value = number, result.value
        self._session.flush()

    def add_trial(self, study_id: str, parameters: dict[str, Any]) -> Trial:
        """Queue a trial with given parameters, beyond the budget.

        Raises:
            WrongState: The study is concluding or has ended.
        """
        study = self._locked_open_study(study_id, "trials can be added only while it is running or paused")
        study.trials += 1
        return self._progress.queue(study, "hand", parameters)

    def pause(self, study_id: str) -> Study:
        """Pause a study: queue no further trials; queued and running trials finish.

        Raises:
            WrongState: The study is not running.
        """
        study = self.locked(study_id)
        if study.status != study_progress.RUNNING:
            raise WrongState("study", study_id, study.status, "only a running study can be paused")
        study.status, study.paused_at = study_progress.PAUSED, utc_now()
        self._session.flush()
        return study

    def resume(self, study_id: str) -> Study:
        """Resume a paused study and queue its next trials.

        Raises:
            WrongState: The study is not paused.
        """
        study = self.locked(study_id)
        if study.status != study_progress.PAUSED:
            raise WrongState("study", study_id, study.status, "only a paused study can be resumed")
        now = utc_now()
        # A pause before the first trial does not count.
        study.paused_seconds += min(
            study_progress.seconds_between(study.paused_at, now),
            study_progress.seconds_between(study.started_at, now),
        )
        study.status, study.paused_at = study_progress.RUNNING, None
        self._progress.advance(study)
        return study

    def cancel(self, study_id: str) -> Study:
        """Cancel a study; the caller cancels `active_jobs` in another transaction.

        Raises:
            WrongState: The study has ended.
        """
        study = self.locked(study_id)
        if study.status in study_progress.ENDED:
            raise WrongState("study", study_id, study.status, "it has already ended")
        self._progress.end(study, study_progress.CANCELLED)
        return study

    def change_budget(self, study_id: str, **values: Any) -> Study:
        """Change the budget or the parallel trials of a study, and queue the trials that it allows now.

        Raises:
            WrongState: The study is concluding or has ended.
        """
        study = self._locked_open_study(
            study_id, "its budget can be changed only while it is running or paused; clone the study instead"
        )
        for name, value in values.items():
            setattr(study, name, value)
        self._session.flush()
        self._progress.advance(study)
        return study

    def conclude(self, study_id: str, conclusion: dict[str, Any]) -> None:
        """Record the conclusion, in the transaction that ends its job."""
        study = self.locked(study_id)
        study.conclusion = conclusion
        self._progress.end(study, study_progress.SUCCEEDED)

    def _locked_open_study(self, study_id: str, detail: str) -> Study:
        study = self.locked(study_id)
        if study.status not in study_progress.OPEN:
            raise WrongState("study", study_id, study.status, detail)
        return study


def _is_better(study: Study, trial: Trial) -> bool:
    """Return whether a trial is the best so far; ties go to the lowest number."""
    if study.best_value is None or study.best_number is None or trial.value is None:
        return True
    sign = 1.0 if study.spec["higher_is_better"] else -1.0
    return (sign * trial.value, -trial.number) > (sign * study.best_value, -study.best_number)
