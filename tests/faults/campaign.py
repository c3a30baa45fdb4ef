"""Batches of jobs, each under one fault, compared with an undisturbed batch."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.client import Document, RetryingClient
from tests.faults.faults import Fault
from tests.faults.installation import Installation
from tests.faults.job_batch import ENDED, JobBatch
from tests.faults.outcomes import Outcome
from tests.faults.records import Records
from tests.faults.verdict import Row, judge
from tests.faults.work import Materials

ITERATIONS = 120
_WAIT_SECONDS = 300.0


@dataclass
class Campaign:
    """Batches of jobs on one installation.

    Attributes:
        installation: A started installation.
        client: Client of the installation.
        records: Database of the installation.
        materials: Datasets, models and files that jobs use.
        seed: Seed of random moments and victims.
        reference: Outcomes of undisturbed jobs, by request.
    """

    installation: Installation
    client: RetryingClient
    records: Records
    materials: Materials
    seed: int
    reference: dict[str, Outcome] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def on(cls, installation: Installation, seed: int) -> Iterator["Campaign"]:
        """Create the datasets and models that jobs use."""

        def wait(job_id: str) -> Document:
            return wait_for_success(installation, client, job_id)

        with RetryingClient(installation.url) as client:
            records = Records(installation.database_url)
            try:
                materials = Materials.make(client, wait, Path(installation.folder))
                yield cls(installation, client, records, materials, seed)
            finally:
                records.close()

    def job_batch(self, name: str) -> JobBatch:
        """Return an empty batch; its random moments depend on the name."""
        generator = random.Random(f"{self.seed} {name}")
        return JobBatch(self.installation, self.client, self.materials, generator)

    def run_batch(self, fault: Fault, jobs: int, iterations: int = ITERATIONS) -> Row:
        """Run a batch of jobs under a fault.

        The outcomes of later batches are compared with those of the first batch.
        """
        began_at = time.monotonic()
        earlier_ids = self.records.job_ids()
        recoveries: list[float] = []
        self.installation.wait_until_ready()
        with self.job_batch(fault.name) as batch:
            batch.submit(self.materials.submissions(jobs, iterations), fault.pause_seconds)
            try:
                for _ in range(fault.injections):
                    recoveries += fault.inject(batch)
            except TimeoutError as error:
                batch.problems.append(str(error))
            batch.finish()
        batch.problems += fault.check(batch)
        row, outcomes = judge(batch, fault, self.records, self.reference, earlier_ids, recoveries)
        row.seconds = time.monotonic() - began_at
        self.reference = self.reference or outcomes
        self._forget_datasets(batch)
        return row

    def _forget_datasets(self, batch: JobBatch) -> None:
        """Delete the ingested datasets, so that the next batch reads the same files again."""
        for job in batch.jobs():
            if job["kind"] == "ingest" and job["result"]:
                self.client.delete(f"/v1/datasets/{job['result']['dataset_id']}")


def wait_for_success(installation: Installation, client: RetryingClient, job_id: str) -> Document:
    """Wait for a job that must succeed.

    Raises:
        RuntimeError: The job did not succeed.
    """
    path = f"/v1/jobs/{job_id}"
    installation.wait_until(lambda: client.get(path)["status"] in ENDED, _WAIT_SECONDS, f"{job_id} has ended")
    job = client.get(path)
    if job["status"] != "succeeded":
        raise RuntimeError(f"{job_id} ended {job['status']}: {job['problem']}")
    return job
