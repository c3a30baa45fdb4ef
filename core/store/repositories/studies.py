"""Stored studies and their trials."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import String, delete, func, or_, select
from sqlalchemy.orm import Session

from core.errors import NotFound, WrongState
from core.jobs import JobStatus
from core.jobs.conclude import ConcludeJob
from core.jobs.study import StudyJob
from core.jobs.trial import TrialJob
from core.store.clock import utc_now
from core.store.repositories import ids
from core.store.repositories.artifact_digests import ArtifactDigests
from core.store.repositories.events import Events
from core.store.repositories.jobs import Jobs
from core.store.repositories.pages import Columns, Direction, Page, Span, begins_with, narrowed, order_of
from core.store.repositories.projects import Labels, Projects
from core.store.repositories.rows import added, locked
from core.store.tables import Dataset, Job, Study, Trial
from core.studies import Budget, StudySpec, Tally, wanted

RUNNING, PAUSED, CONCLUDING = "running", "paused", "concluding"
SUCCEEDED, FAILED, CANCELLED = "succeeded", "failed", "cancelled"
OPEN = (RUNNING, PAUSED)
ENDED = (SUCCEEDED, FAILED, CANCELLED)

QUEUED, PRUNED = "queued", "pruned"
ACTIVE_TRIALS = (QUEUED, RUNNING)

COLUMNS: Columns = MappingProxyType(
    {
        "created": None,
        "name": func.lower(Study.name, type_=String),
        "status": Study.status.expression,
        "best": Study.best_value.expression,
        "finished": Study.finished_at.expression,
    }
)


@dataclass(frozen=True)
class TrialResult:
    """What a trial found.

    Attributes:
        status: `succeeded` or `pruned`.
        value: Mean of the objective over the tested queries.
        folds: `[{"fold", "value", "best_iteration"}]`.
        interval: `[lower, upper]` of the value, or None.
        curve: `[[iteration, value], …]` of the first fold.
        best_iteration: Median over the folds.
    """

    status: str
    value: float | None
    folds: list[dict[str, Any]]
    interval: list[float] | None
    curve: list[list[float]]
    best_iteration: int | None


class Studies:
    """Studies within one transaction.

    The transaction that ends a trial queues the next one, so that no coordinator runs. A job's row is always
    locked before its study's, so that no two transactions wait for each other.
    """

    def __init__(self, session: Session, jobs: Jobs, events: Events) -> None:
        self._session = session
        self._jobs = jobs
        self._events = events
        jobs.on_ending(self._settle)

    def add(
        self,
        spec: Mapping[str, Any],
        budget: Budget,
        parallel: int,
        key_id: str | None,
        project: str | None = None,
    ) -> Study:
        """Record a study and queue its first trials, the default before all.

        Args:
            spec: What is asked for, resolved.
            budget: How much it may take.
            parallel: Trials that are queued or run at a time.
            key_id: The API key that submits it, where one is needed.
            project: None for that of its models, if there are some, or else of its dataset.

        Raises:
            NotFound: A dataset does not exist.
            InvalidInput: As `Projects.claim_name`.
        """
        dataset = self._session.get(Dataset, spec["dataset_id"])
        of_dataset = None if dataset is None else dataset.project
        study = Study(
            id=(study_id := ids.new_id(ids.STUDY)),
            name=spec["name"],
            model_name=spec["model_name"],
            dataset_id=spec["dataset_id"],
            status=RUNNING,
            spec={**spec, "id": study_id},
            trials=budget.trials,
            seconds=budget.seconds,
            patience=budget.patience,
            parallel_trials=parallel,
            key_id=key_id,
            project=Projects(self._session).claim_name(spec["model_name"], project, of_dataset),
        )
        added(self._session, study)
        self._advance(study)
        return study

    def get(self, id: str) -> Study:
        """Return one study.

        Raises:
            NotFound: There is none.
        """
        study = self._session.get(Study, id)
        if study is None:
            raise NotFound("study", id)
        return study

    def locked(self, id: str) -> Study:
        """Return one study, locked until the transaction ends.

        Raises:
            NotFound: There is none.
        """
        return locked(self._session, Study, "study", id)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        status: str | None = None,
        dataset_id: str | None = None,
        project: str | None = None,
        prefix: str | None = None,
        sort: str = "created",
        direction: Direction | None = None,
    ) -> Page[Study]:
        """List studies, newest first by default.

        Raises:
            InvalidInput: The cursor is not of this list.
        """
        rows = narrowed(select(Study), status=status, dataset_id=dataset_id, project=project)
        if prefix is not None:
            rows = rows.where(begins_with(prefix, Study.name.expression, Study.id.expression))
        return Span(cursor, limit).take(
            self._session, rows, Study.id, ids.STUDY, order_of(COLUMNS, sort, direction)
        )

    def counts(self, study_ids: Collection[str]) -> dict[str, Counter[str]]:
        """Return the number of trials by study and status."""
        found: dict[str, Counter[str]] = {study_id: Counter() for study_id in study_ids}
        rows = select(Trial.study_id, Trial.status, func.count()).where(Trial.study_id.in_(study_ids))
        for study_id, status, count in self._session.execute(rows.group_by(Trial.study_id, Trial.status)):
            found[study_id][status] = count
        return found

    def trials(self, study_id: str, after: int = -1, limit: int | None = None) -> list[Trial]:
        """List the trials of a study above a number, in order."""
        rows = select(Trial).where(Trial.study_id == study_id, Trial.number > after)
        return list(self._session.scalars(rows.order_by(Trial.number).limit(limit)))

    def trial(self, study_id: str, number: int) -> Trial:
        """Return one trial.

        Raises:
            NotFound: There is none.
        """
        trial = self._session.get(Trial, (study_id, number), populate_existing=True)
        if trial is None:
            raise NotFound("trial", f"{study_id}/{number}")
        return trial

    def active_jobs(self, study_id: str) -> list[str]:
        """List the jobs of a study that may not have ended, without a lock."""
        study = self.get(study_id)
        active = select(Trial.job_id).where(Trial.study_id == study_id, Trial.status.in_(ACTIVE_TRIALS))
        own = (study.default_job_id, study.winner_job_id, study.conclude_job_id)
        named = [*self._session.scalars(active), *(each for each in own if each)]
        ended = (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED)
        return list(self._session.scalars(select(Job.id).where(Job.id.in_(named), Job.status.not_in(ended))))

    def start_trial(
        self, study: Study, trial: Trial, parameters: dict[str, Any], training: dict[str, Any]
    ) -> None:
        """Record the parameters of a trial that begins; the study is locked."""
        now = utc_now()
        trial.status, trial.parameters, trial.training = RUNNING, parameters, training
        trial.started_at = trial.started_at or now
        study.started_at = study.started_at or now
        self._session.flush()

    def end_trial(self, study_id: str, number: int, result: TrialResult) -> None:
        """Record what a trial found, in the transaction that ends its job."""
        study, trial = self.locked(study_id), self.trial(study_id, number)
        trial.status, trial.value = result.status, result.value
        trial.folds, trial.interval, trial.curve = result.folds, result.interval, result.curve
        trial.best_iteration = result.best_iteration
        trial.finished_at = utc_now()
        if number == 0:
            study.default_value = result.value
        if result.status == SUCCEEDED and result.value is not None and _is_better(study, trial):
            study.best_number, study.best_value = number, result.value
        self._session.flush()

    def add_trial(self, study_id: str, parameters: dict[str, Any]) -> Trial:
        """Queue a trial with given parameters, beyond the budget.

        Raises:
            WrongState: The study concludes or has ended.
        """
        study = self._open(study_id, "trials are added while it runs or is paused")
        study.trials += 1
        return self._queue(study, "hand", parameters)

    def pause(self, study_id: str) -> Study:
        """Queue no further trials; those that are queued or run go on to their end.

        Raises:
            WrongState: It is not running.
        """
        study = self.locked(study_id)
        if study.status != RUNNING:
            raise WrongState("study", study_id, study.status, "only a running one can be paused")
        study.status, study.paused_at = PAUSED, utc_now()
        self._session.flush()
        return study

    def resume(self, study_id: str) -> Study:
        """Queue trials again.

        Raises:
            WrongState: It is not paused.
        """
        study = self.locked(study_id)
        if study.status != PAUSED:
            raise WrongState("study", study_id, study.status, "only a paused one can be resumed")
        study.paused_seconds += _seconds(study.paused_at, utc_now())
        study.status, study.paused_at = RUNNING, None
        self._advance(study)
        return study

    def cancel(self, study_id: str) -> Study:
        """Queue nothing further; the caller cancels `active_jobs` in another transaction.

        Raises:
            WrongState: It has ended.
        """
        study = self.locked(study_id)
        if study.status in ENDED:
            raise WrongState("study", study_id, study.status, "it has already ended")
        self._end(study, CANCELLED)
        return study

    def change_budget(self, study_id: str, **values: Any) -> Study:
        """Change trials, seconds, patience or parallel trials, and queue what is possible now.

        Raises:
            WrongState: It concludes or has ended.
        """
        study = self._open(study_id, "its budget is changed while it runs or is paused; clone it instead")
        for name, value in values.items():
            setattr(study, name, value)
        self._session.flush()
        self._advance(study)
        return study

    def delete(self, study_id: str) -> None:
        """Delete a study with its trials and the checksums of their values; jobs and models stay.

        Raises:
            WrongState: It has not ended.
        """
        from core.store.artifacts.keys import study_folder

        study = self.locked(study_id)
        if study.status not in ENDED:
            raise WrongState("study", study_id, study.status, "cancel it first")
        self._session.execute(delete(Trial).where(Trial.study_id == study_id))
        self._session.delete(study)
        self._session.flush()
        ArtifactDigests(self._session).forget(study_folder(study_id))

    def conclude(self, study_id: str, conclusion: dict[str, Any]) -> None:
        """Record the conclusion, in the transaction that ends its job."""
        study = self.locked(study_id)
        study.conclusion = conclusion
        self._end(study, SUCCEEDED)

    def _open(self, study_id: str, detail: str) -> Study:
        study = self.locked(study_id)
        if study.status not in OPEN:
            raise WrongState("study", study_id, study.status, detail)
        return study

    def _settle(self, job: Job) -> None:
        """Carry the end of a job over to its study."""
        if job.kind == TrialJob.kind:
            self._settle_trial(job)
        elif job.kind == ConcludeJob.kind:
            self._settle_conclusion(job)
        elif job.kind == "train":
            self._settle_refit(job)

    def _settle_trial(self, job: Job) -> None:
        study, trial = self.locked(job.spec["study_id"]), self.trial(job.spec["study_id"], job.spec["number"])
        if trial.status in ACTIVE_TRIALS:
            trial.status = CANCELLED if job.status == JobStatus.CANCELLED else FAILED
            trial.problem, trial.finished_at = job.problem, utc_now()
            self._session.flush()
        self._advance(study)

    def _settle_conclusion(self, job: Job) -> None:
        study = self.locked(job.spec["study_id"])
        if study.status == CONCLUDING:
            self._fail(study, "The conclusion failed", job)

    def _settle_refit(self, job: Job) -> None:
        refitted = or_(Study.default_job_id == job.id, Study.winner_job_id == job.id)
        study_id = self._session.scalar(select(Study.id).where(refitted))
        if study_id is None:
            return
        study = self.locked(study_id)
        if study.status != CONCLUDING or study.conclude_job_id is not None:
            return
        if job.status != JobStatus.SUCCEEDED:
            self._fail(study, "A refit failed", job)
            return
        refits = [each for each in (study.default_job_id, study.winner_job_id) if each]
        done = select(func.count()).where(Job.id.in_(refits), Job.status == JobStatus.SUCCEEDED)
        if self._session.scalar(done) == len(refits):
            study.conclude_job_id = self._enqueue(ConcludeJob(**_of_study(study)), study).id
            self._session.flush()

    def _advance(self, study: Study) -> None:
        """Queue the trials that a running study wants now, or its refits after the last one."""
        if study.status != RUNNING:
            return
        columns = (Trial.number, Trial.status, Trial.value, Trial.source)
        rows = self._session.execute(
            select(*columns).where(Trial.study_id == study.id).order_by(Trial.number)
        ).all()
        active = sum(row.status in ACTIVE_TRIALS for row in rows)
        default_is_lost = bool(rows) and rows[0].status in (FAILED, CANCELLED)
        further = 0 if default_is_lost else self._wanted(study, rows, active)
        for number in range(len(rows), len(rows) + further):
            self._queue(study, "sampler" if number else "default", None)
        if active or further:
            return
        if default_is_lost or study.default_value is None:
            lost = self.trial(study.id, 0)
            detail = (lost.problem or {}).get("detail", "It has no value.")
            self._end(study, FAILED, {"title": "The default failed", "detail": detail})
        else:
            self._refit(study)

    def _wanted(self, study: Study, rows: Sequence[Any], active: int) -> int:
        spec = StudySpec(study.spec)
        now = study.paused_at or utc_now()
        tally = Tally(
            asked=len(rows),
            active=active,
            sampled=sum(row.source == "sampler" for row in rows),
            seconds=_seconds(study.started_at, now) - study.paused_seconds,
            values=[
                row.value if row.status == SUCCEEDED else None
                for row in rows
                if row.status not in ACTIVE_TRIALS
            ],
        )
        return wanted(
            Budget(study.trials, study.seconds, study.patience),
            tally,
            parallel=study.parallel_trials,
            sampler_limit=study.spec.get("sampler_limit"),
            higher_is_better=spec.higher_is_better,
        )

    def _queue(self, study: Study, source: str, parameters: dict[str, Any] | None) -> Trial:
        latest = self._session.scalar(select(func.max(Trial.number)).where(Trial.study_id == study.id))
        number = 0 if latest is None else latest + 1
        job = self._enqueue(TrialJob(number=number, **_of_study(study)), study)
        trial = Trial(
            study_id=study.id,
            number=number,
            status=QUEUED,
            source=source,
            parameters=parameters,
            job_id=job.id,
        )
        return added(self._session, trial)

    def _refit(self, study: Study) -> None:
        spec = StudySpec(study.spec)
        study.status = CONCLUDING

        def queued(number: int) -> str:
            trial = self.trial(study.id, number)
            training = spec.refit(trial.training or {}, trial.best_iteration or 1, number)
            return self._jobs.add(
                "train",
                training,
                dataset_ids=spec.dataset_ids,
                priority=_priority(study),
                key_id=study.key_id,
                labels=Labels(tags=training.get("tags"), project=study.project),
            ).id

        study.default_job_id = queued(0)
        study.winner_job_id = queued(study.best_number) if study.best_number else None
        self._session.flush()

    def _enqueue(self, job: StudyJob, study: Study) -> Job:
        return self._jobs.add(
            job.kind,
            job.to_json(),
            dataset_ids=job.dataset_ids.values(),
            priority=job.queue_priority,
            key_id=study.key_id,
            labels=Labels(project=study.project),
        )

    def _fail(self, study: Study, title: str, job: Job) -> None:
        detail = (job.problem or {}).get("detail", f"{job.id} is {job.status}.")
        self._end(study, FAILED, {"title": title, "detail": detail})

    def _end(self, study: Study, status: str, problem: dict[str, Any] | None = None) -> None:
        study.status, study.problem, study.finished_at = status, problem, utc_now()
        study.paused_at = None
        self._session.flush()
        self._events.study_concluded(study)


def _of_study(study: Study) -> dict[str, Any]:
    return {
        "study_id": study.id,
        "study_name": study.name,
        "dataset_id": study.dataset_id,
        "test_dataset_id": study.spec.get("test_dataset_id"),
        "metric": study.spec["objective"]["metric"],
        "priority": study.spec.get("priority") or "normal",
    }


def _priority(study: Study) -> int:
    return ConcludeJob(**_of_study(study)).queue_priority


def _is_better(study: Study, trial: Trial) -> bool:
    """Return whether a trial is the best so far; among equals the one of the least number."""
    if study.best_value is None or study.best_number is None or trial.value is None:
        return True
    sign = 1.0 if study.spec["higher_is_better"] else -1.0
    return (sign * trial.value, -trial.number) > (sign * study.best_value, -study.best_number)


def _seconds(since: datetime | None, until: datetime) -> float:
    return 0.0 if since is None else max(0.0, (until - since).total_seconds())
