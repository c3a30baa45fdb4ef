"""Progress of studies: the end of a job queues the next job, or ends its study."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.jobs import JobStatus
from core.jobs.study import ConcludeJob, StudyJob, TrialJob
from core.jobs.train import TrainJob
from core.store.clock import utc_now
from core.store.repositories.events import Events
from core.store.repositories.jobs import Jobs
from core.store.repositories.projects import Labels
from core.store.repositories.repository import insert_row
from core.store.tables import Job, Study, Trial
from core.store.visibility import with_trash
from core.studies import Budget, StudySpec, Tally, trials_to_queue
from core.studies.sampling import combinations_taken

StudyStatus = Literal["running", "paused", "concluding", "succeeded", "failed", "cancelled"]
RUNNING, PAUSED, CONCLUDING = "running", "paused", "concluding"
SUCCEEDED, FAILED, CANCELLED = "succeeded", "failed", "cancelled"
OPEN = (RUNNING, PAUSED)
ACTIVE_STUDIES = (*OPEN, CONCLUDING)
ENDED = (SUCCEEDED, FAILED, CANCELLED)

QUEUED = "queued"
ACTIVE_TRIALS = (QUEUED, RUNNING)


class StudyProgress:
    """Progress of studies within one transaction.

    The transaction that ends a trial queues the next one, without a coordinator. A job's row is always
    locked before its study's, so that transactions do not deadlock.
    """

    def __init__(self, session: Session, jobs: Jobs, events: Events) -> None:
        self._session = session
        self._jobs = jobs
        self._events = events
        jobs.on_ending(self._record_outcome)

    def advance(self, study: Study) -> None:
        """Queue the next trials of a running, locked study; after the last trial, its refits.

        If the default trial failed, end the study after its active trials.
        """
        if study.status != RUNNING:
            return
        columns = (Trial.number, Trial.status, Trial.value, Trial.source, Trial.parameters)
        rows = self._session.execute(
            select(*columns).where(Trial.study_id == study.id).order_by(Trial.number)
        ).all()
        active = sum(row.status in ACTIVE_TRIALS for row in rows)
        default_is_lost = bool(rows) and rows[0].status in (FAILED, CANCELLED)
        further = 0 if default_is_lost else self._trials_to_queue(study, rows, active)
        for number in range(len(rows), len(rows) + further):
            self.queue(study, "sampler" if number else "default", None)
        if active or further:
            return
        if default_is_lost or study.default_value is None:
            default = trial_of(self._session, study.id, 0)
            detail = (default.problem or {}).get("detail", "The training has no value of the metric.")
            self.end(study, FAILED, {"title": "The default failed", "detail": detail})
        else:
            self._queue_refits(study)

    def queue(self, study: Study, source: str, parameters: dict[str, Any] | None) -> Trial:
        """Queue the next trial of a locked study.

        Args:
            source: Origin of its parameters: `default`, `sampler` or `hand`.
            parameters: Parameters if the source is `hand`, else None.
        """
        latest = self._session.scalar(select(func.max(Trial.number)).where(Trial.study_id == study.id))
        number = 0 if latest is None else latest + 1
        # Trials also protect the datasets of the refits from deletion.
        datasets = StudySpec(study.spec).dataset_ids_of_trials
        job = self._enqueue(TrialJob(number=number, **_study_fields(study)), study, datasets)
        trial = Trial(
            study_id=study.id,
            number=number,
            status=QUEUED,
            source=source,
            parameters=parameters,
            job_id=job.id,
        )
        return insert_row(self._session, trial)

    def end(self, study: Study, status: str, problem: dict[str, Any] | None = None) -> None:
        """End a locked study."""
        study.status, study.problem, study.finished_at = status, problem, utc_now()
        study.paused_at = None
        self._session.flush()
        self._events.study_concluded(study)

    def _record_outcome(self, job: Job) -> None:
        """Record the end of a job in its study."""
        if job.kind == TrialJob.kind:
            self._record_trial(job)
        elif job.kind == ConcludeJob.kind:
            self._record_conclusion(job)
        elif job.kind == TrainJob.kind:
            self._record_refit(job)

    def _record_trial(self, job: Job) -> None:
        study = self._locked(job.spec["study_id"])
        if study is None:
            return
        trial = trial_of(self._session, study.id, job.spec["number"])
        if trial.status in ACTIVE_TRIALS:
            trial.status = CANCELLED if job.status == JobStatus.CANCELLED else FAILED
            trial.problem, trial.finished_at = job.problem, utc_now()
            self._session.flush()
        try:
            with self._session.begin_nested():
                self.advance(study)
        except NotFound as absent:  # jobs of earlier releases do not protect all datasets of their study
            self.end(study, FAILED, {"title": "The study cannot continue", "detail": str(absent)})

    def _record_conclusion(self, job: Job) -> None:
        study = self._locked(job.spec["study_id"])
        if study is not None and study.status == CONCLUDING:
            self._fail(study, "The conclusion failed", job)

    def _record_refit(self, job: Job) -> None:
        refitted = or_(Study.default_job_id == job.id, Study.winner_job_id == job.id)
        study_id = self._session.scalar(select(Study.id).where(refitted))
        if study_id is None:
            return
        study = self._locked(study_id)
        if study is None or study.status != CONCLUDING or study.conclude_job_id is not None:
            return
        if job.status != JobStatus.SUCCEEDED:
            self._fail(study, "A refit failed", job)
            return
        refits = [each for each in (study.default_job_id, study.winner_job_id) if each]
        done = select(func.count()).where(Job.id.in_(refits), Job.status == JobStatus.SUCCEEDED)
        if self._session.scalar(done) == len(refits):
            conclusion = ConcludeJob(**_study_fields(study))
            study.conclude_job_id = self._enqueue(conclusion, study, StudySpec(study.spec).dataset_ids).id
            self._session.flush()

    def _trials_to_queue(self, study: Study, rows: Sequence[Any], active: int) -> int:
        spec = StudySpec(study.spec)
        now = study.paused_at or utc_now()
        ended = [row for row in rows if row.status not in ACTIVE_TRIALS]
        tally = Tally(
            created=len(rows),
            active=active,
            sampled=sum(row.source == "sampler" for row in rows),
            seconds=seconds_between(study.started_at, now) - study.paused_seconds,
            values=[row.value if row.status == SUCCEEDED else None for row in ended],
            by_hand={index for index, row in enumerate(ended) if row.source == "hand"},
        )
        return trials_to_queue(
            Budget(study.trials, study.seconds, study.patience),
            tally,
            parallel=study.parallel_trials,
            sampler_limit=_sampler_limit(spec, rows),
            higher_is_better=spec.higher_is_better,
        )

    def _queue_refits(self, study: Study) -> None:
        spec = StudySpec(study.spec)
        study.status = CONCLUDING

        def queue_refit(number: int) -> str:
            trial = trial_of(self._session, study.id, number)
            training = spec.refit(trial.training or {}, trial.best_iteration or 1, number)
            return self._jobs.add(
                TrainJob.kind,
                training,
                dataset_ids=spec.dataset_ids,
                priority=ConcludeJob(**_study_fields(study)).queue_priority,
                key_id=study.key_id,
                labels=Labels(tags=training.get("tags"), project=study.project),
            ).id

        study.default_job_id = queue_refit(0)
        study.winner_job_id = queue_refit(study.best_number) if study.best_number else None
        self._session.flush()

    def _enqueue(self, job: StudyJob, study: Study, dataset_ids: Sequence[str]) -> Job:
        return self._jobs.add(
            job.kind,
            job.to_json(),
            dataset_ids=dataset_ids,
            priority=job.queue_priority,
            key_id=study.key_id,
            labels=Labels(project=study.project),
        )

    def _fail(self, study: Study, title: str, job: Job) -> None:
        detail = (job.problem or {}).get("detail", f"{job.id} is {job.status}.")
        self.end(study, FAILED, {"title": title, "detail": detail})

    def _locked(self, study_id: str) -> Study | None:
        """Return a study, even in the trash, locked until the transaction ends; None if it was purged."""
        with with_trash(self._session):
            return self._session.get(Study, study_id, with_for_update=True, populate_existing=True)


def _sampler_limit(spec: StudySpec, rows: Sequence[Any]) -> int | None:
    """Return the number of trials that the sampler can suggest; it does not repeat trials added by hand."""
    limit: int | None = spec.stored.get("sampler_limit")
    by_hand = [row.parameters for row in rows if row.source == "hand"]
    if limit is None or not by_hand:
        return limit
    sampled = [row.parameters for row in rows if row.source == "sampler"]
    return limit - combinations_taken(spec.space, spec.base, by_hand, sampled)


def trial_of(session: Session, study_id: str, number: int) -> Trial:
    """Return the current row of a trial.

    Raises:
        NotFound: The study has no such trial.
    """
    trial = session.get(Trial, (study_id, number), populate_existing=True)
    if trial is None:
        raise NotFound("trial", f"{study_id}/{number}")
    return trial


def seconds_between(since: datetime | None, until: datetime) -> float:
    """Return the seconds between two moments; 0 if `since` is None or later than `until`."""
    return 0.0 if since is None else max(0.0, (until - since).total_seconds())


def _study_fields(study: Study) -> dict[str, Any]:
    return {
        "study_id": study.id,
        "study_name": study.name,
        "dataset_id": study.dataset_id,
        "test_dataset_id": study.spec.get("test_dataset_id"),
        "metrics": (study.spec["objective"]["metric"],),
        "priority": study.spec.get("priority") or "normal",
    }
