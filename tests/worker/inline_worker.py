"""A worker in the test process, and its store with datasets."""

from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from app.datasets.schemas import Finding
from core.data import RankingDataset, write_parquet
from core.store import Dataset, Job, Store
from core.store.artifacts.keys import model_key
from worker import WorkerSettings
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs

SMALL = {"num_iterations": 5, "num_leaves": 7, "min_data_in_leaf": 5}


@dataclass(frozen=True)
class InlineWorker:
    """A worker that runs jobs in this process, and its store with datasets."""

    store: Store
    settings: WorkerSettings

    def add(self, dataset: RankingDataset, digest: str) -> str:
        """Add a dataset with the status ready."""
        key = f"data/{digest}/data.parquet"
        with self.store.artifacts.writing(key) as file:
            write_parquet(dataset, file)
        with self.store.begin() as tx:
            row = tx.datasets.add(digest, {"kind": "upload"})
            tx.datasets.mark_ready(row.id, statistics={}, digest=digest, data_key=key)
        return row.id

    def run(self, kind: str, dataset_id: str, **spec: Any) -> Job:
        """Add a job, run it and return it after its end."""
        with self.store.begin() as tx:
            job = tx.jobs.add(kind, {"kind": kind, "dataset_id": dataset_id, **spec})
        return self.run_queued(job.id)

    def run_queued(self, job_id: str) -> Job:
        """Run all queued jobs, and return the given one after its end."""
        run_jobs(self.store, self.settings, StopFlag(), "w1", RUNNERS)
        job = self.job(job_id)
        for finding in job.findings or ():
            Finding.model_validate(finding)  # the API returns only valid findings
        return job

    def job(self, job_id: str) -> Job:
        """Return the current state of a job."""
        with self.store.read() as tx:
            return tx.jobs.get(job_id)

    def dataset(self, dataset_id: str) -> Dataset:
        """Return the current state of a dataset."""
        with self.store.read() as tx:
            return tx.datasets.get(dataset_id)

    def train(self, dataset_id: str, **spec: Any) -> Job:
        """Run a small training and return its job."""
        defaults = {"model_name": "web", "loss": {"name": "lambdarank"}, "hyperparameters": SMALL}
        return self.run("train", dataset_id, **{**defaults, "metrics": ["ndcg@5"], **spec})

    def training_result(self, dataset_id: str, **spec: Any) -> dict[str, Any]:
        """Run a small training, which must succeed, and return its result."""
        job = self.train(dataset_id, **spec)
        assert job.status == "succeeded", job.problem
        assert job.result is not None
        return job.result

    def model_bytes(self, job: Job) -> bytes:
        """Return the model of a job, which must have succeeded."""
        assert job.status == "succeeded", job.problem
        assert job.result is not None
        return self.store.artifacts.read_bytes(model_key(job.result["model_id"]))

    def model_text(self, result: dict[str, Any]) -> str:
        """Return the model text of a result."""
        return self.store.artifacts.read_bytes(model_key(result["model_id"])).decode()

    def tested_queries(self, result: dict[str, Any]) -> tuple[str, ...]:
        """Return the queries of the evaluation in a result."""
        with self.store.artifacts.open(f"evaluations/{result['evaluation_id']}/queries.parquet") as file:
            return tuple(map(str, pq.read_table(file)["query_id"].to_pylist()))

    def cache_use_times(self) -> dict[str, int]:
        """Return the time of last use of each cache entry."""
        folders = (self.settings.data_dir / "cache").glob("*/[!.]*")
        return {folder.name: folder.stat().st_mtime_ns for folder in folders}
