"""A worker in the process of a benchmark: jobs with a real store, heartbeat, reports and checkpoints."""

import shutil
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.data import RankingDataset, write_parquet
from core.store import Job, JobIteration, Store
from worker import WorkerSettings
from worker.job.run import JobRun
from worker.process.shutdown import StopFlag
from worker.process.tasks import run_job


@dataclass(frozen=True)
class JobTimes:
    """Times of a training job.

    Attributes:
        first_seconds: Time from the claim of the job to the report of the first iteration.
        findings_seconds: Time of the comparison of the datasets, after the first iteration.
        iteration_milliseconds: Time of each further iteration, including other work of the worker.
        end_seconds: Time from the last iteration to the success, including evaluation and storage.
        parts_milliseconds: Medians by part, from the job's history.
        iterated_at: Moments at which the iterations ended.
        ranks: Reports of each rank of a distributed training at the end of each iteration.
    """

    first_seconds: float
    findings_seconds: float
    iteration_milliseconds: list[float]
    end_seconds: float
    parts_milliseconds: Mapping[str, float]
    iterated_at: list[float]
    ranks: list[list[dict[str, Any]]]


def add_dataset(store: Store, name: str, dataset: RankingDataset) -> str:
    """Store a dataset as if it had been uploaded and return its id."""
    key = f"data/{name}/data.parquet"
    with store.artifacts.writing(key) as file:
        write_parquet(dataset, file)
    statistics = {"queries": dataset.n_queries, "features": dataset.n_features}
    with store.begin() as tx:
        row = tx.datasets.add(name, {"kind": "upload"})
        tx.datasets.mark_ready(row.id, statistics=statistics, digest=name, data_key=key)
    return row.id


class BenchmarkWorker:
    """A worker on a new data folder.

    Args:
        data_dir: The folder.
        threads: Threads of a job.
        settings: Other settings of the worker.
    """

    def __init__(self, data_dir: Path, threads: int, **settings: Any) -> None:
        self._settings = WorkerSettings(data_dir=data_dir, threads=threads, **settings)
        self._store = Store.open(self._settings)
        self._store.migrate()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def add(self, name: str, dataset: RankingDataset) -> str:
        """Store a dataset and return its id, see `add_dataset`."""
        return add_dataset(self._store, name, dataset)

    def clear_caches(self) -> None:
        """Delete the cached arrays and bins."""
        shutil.rmtree(self._settings.data_dir / "cache", ignore_errors=True)

    def train(self, spec: Mapping[str, Any]) -> JobTimes:
        """Run a training job.

        Raises:
            RuntimeError: The job did not succeed.
        """
        with self._store.begin() as tx:
            job_id = tx.jobs.add("train", {"kind": "train", **spec}).id
        run = _TimedRun.claim_next(self._store, self._settings, {"train"}, "benchmark")
        if not isinstance(run, _TimedRun):
            raise RuntimeError("there is no job to claim")
        ending = run_job(run, self._settings, StopFlag())
        ended_at = time.perf_counter()
        with self._store.read() as tx:
            job, iterations = tx.jobs.get(job_id), tx.jobs.iterations(job_id)
        if ending != "succeeded":
            raise RuntimeError(f"the job {ending}: {job.problem}")
        return run.times(ended_at, iterations)


class _TimedRun(JobRun):
    """A job run that records the times of its reports."""

    def __init__(self, job: Job, store: Store, settings: WorkerSettings, spent_seconds: float = 0.0) -> None:
        super().__init__(job, store, settings, spent_seconds)
        self._claimed_at = time.perf_counter()
        self._iterated_at: list[float] = []
        self._ranks: list[list[dict[str, Any]]] = []
        self._found_at = 0.0
        self._report = self.reporter.report
        self.reporter.report = self._report_timed  # type: ignore[method-assign]

    def _report_timed(self, *, progress: dict[str, Any] | None = None, **news: Any) -> None:
        self._report(progress=progress, **news)
        if progress is not None and progress["phase"] == "training":
            self._iterated_at.append(time.perf_counter())
            self._ranks.append(self.reporter.progress_details.get("ranks", []))
        elif self._found_at == 0.0 and "findings" in news:
            self._found_at = time.perf_counter()

    def times(self, ended_at: float, iterations: list[JobIteration]) -> JobTimes:
        """Return the times of the job after it has ended."""
        first, *others = self._iterated_at
        recorded = [row.milliseconds or {} for row in iterations]
        return JobTimes(
            first - self._claimed_at,
            self._found_at - first,
            (1e3 * np.diff([self._found_at, *others])).tolist(),
            ended_at - others[-1],
            {part: statistics.median(one[part] for one in recorded) for part in recorded[0]},
            self._iterated_at,
            self._ranks,
        )
