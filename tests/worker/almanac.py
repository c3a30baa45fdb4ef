"""A schedule that is due each night, and sweeps at given times."""

from datetime import UTC, datetime, timedelta
from typing import Any

from app.models.alias_schemas import GateRequest
from app.models.promotion import gate_rule
from app.schedules.schemas import ScheduleRequest
from app.schedules.submission import job_spec, requested_job
from core.data import synthetic_dataset
from core.jobs.base import QUEUED
from core.store import Schedule, ScheduleRun
from tests.worker.inline_worker import SMALL, InlineWorker
from worker.process.schedules import advance_all
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs

NIGHT = datetime(2026, 5, 4, 3, tzinfo=UTC)
DAY = timedelta(days=1)
MAX_JOBS = 10


class Almanac:
    """An inline worker with a dataset, a schedule that is due each night, and sweeps at given times."""

    def __init__(self, inline_worker: InlineWorker) -> None:
        self.inline_worker, self.store = inline_worker, inline_worker.store
        self.add_data(1)

    def add_data(self, seed: int, name: str = "clicks") -> str:
        """Add another ready dataset with this name."""
        data = synthetic_dataset(40, seed=seed, polynomial_seed=1, documents_per_query=8, n_features=4)
        dataset_id = self.inline_worker.add(data, f"data{seed}")
        with self.store.begin() as tx:
            row = tx.datasets.get(dataset_id)
            row.name, row.statistics = name, {"queries": 40, "documents": 320, "features": 4}
        return dataset_id

    def add(self, alias: str | None = None, key_id: str | None = None, **changed: Any) -> str:
        """Add a schedule whose first due time is `NIGHT`."""
        job = {
            "kind": "train",
            "model_name": "web",
            "dataset": "clicks",
            "loss": {"name": "lambdarank"},
            "hyperparameters": SMALL,
            "metrics": ["ndcg@5"],
        }
        given = changed.pop("job", {})
        job = given if "kind" in given else job | given
        request = ScheduleRequest.model_validate({"name": "nightly", "cron": "0 3 * * *", "job": job})
        requested = requested_job(request.job, changed.get("project"))
        with self.store.begin() as tx:
            values: dict[str, Any] = {
                "name": "nightly",
                "cron": "0 3 * * *",
                "timezone": "UTC",
                "enabled": True,
                "job": requested,
                "spec": job_spec(tx, requested),
                "only_new_data": False,
            }
            values |= {"alias": alias, "key_id": key_id, "next_run_at": NIGHT} | changed
            return tx.schedules.add(**values).id

    def sweep(self, now: datetime) -> int:
        """Sweep once at the given time; return the number of queued jobs."""
        return len(advance_all(self.store, MAX_JOBS, now))

    def work(self, now: datetime) -> None:
        """Sweep and run jobs until no job is queued."""
        advance_all(self.store, MAX_JOBS, now)
        while self.waiting():
            self.run_jobs()
            advance_all(self.store, MAX_JOBS, now)

    def run_jobs(self) -> None:
        """Run the queued jobs, without a sweep."""
        run_jobs(self.store, self.inline_worker.settings, StopFlag(), "w1", RUNNERS)

    def waiting(self) -> list[str]:
        """Return the ids of the queued jobs."""
        with self.store.read() as tx:
            return [job.id for job in tx.jobs.page(None, 50, status=QUEUED).items]

    def runs(self, schedule_id: str) -> list[ScheduleRun]:
        """Return the runs, oldest first."""
        with self.store.read() as tx:
            return tx.schedules.runs(schedule_id, None, 50).items[::-1]

    def last_run(self, schedule_id: str) -> ScheduleRun:
        """Return the last run of a schedule."""
        return self.runs(schedule_id)[-1]

    def work_without_schedule(self) -> None:
        """Train another version of the model."""
        schedule_id = self.add()
        self.work(NIGHT)
        with self.store.begin() as tx:
            tx.schedules.delete(schedule_id)

    def moves(self) -> list[tuple[int | None, int | None]]:
        """Return the versions before and after each move of the alias, oldest first."""
        with self.store.read() as tx:
            rows = tx.aliases.history("web", "champion", None, 50).items[::-1]
        return [(row.from_version, row.to_version) for row in rows]

    def statuses(self, schedule_id: str) -> list[str]:
        """Return the statuses of the runs, oldest first."""
        return [run.status for run in self.runs(schedule_id)]

    def row(self, schedule_id: str) -> Schedule:
        """Return the current state of a schedule."""
        with self.store.read() as tx:
            return tx.schedules.get(schedule_id)

    def set_gate(self, dataset_id: str, **rule: Any) -> None:
        """Give the alias `champion` a gate."""
        request = GateRequest(dataset_id=dataset_id, metric="ndcg@5", permutations=1000, **rule)
        with self.store.begin() as tx:
            tx.aliases.set_gate("web", "champion", dataset_id=dataset_id, rule=gate_rule(tx, request))

    def champion(self) -> int:
        """Return the version to which the alias points."""
        with self.store.read() as tx:
            return tx.models.resolve("web@champion").version
