"""Settings of a worker process."""

from typing import Literal

from pydantic import Field

from core.data.options import MAX_BYTES, MAX_DOCUMENTS, MAX_FEATURES, MAX_RATIO
from core.jobs import Lane, lane_of
from core.machine import available_cpus, available_memory_bytes
from core.store import StoreSettings

GIBIBYTE = 2**30
_MEMORY_SHARE = 0.85  # the rest is for the processes themselves and the system


class WorkerSettings(StoreSettings):
    """Settings of a worker, read from environment variables.

    Every field is also an environment variable: `lease_seconds` is `RANKERY_LEASE_SECONDS`.
    """

    storage_patience_seconds: float = Field(
        30.0, ge=0, description="How long an artifact storage on the network that fails is asked again"
    )
    worker_concurrency: int = Field(1, ge=1, le=256, description="Trainings that run at the same time")
    quick_concurrency: int = Field(
        1, ge=1, le=256, description="Jobs of other kinds, which do not wait for trainings, at the same time"
    )
    threads: int | None = Field(
        None,
        ge=1,
        description="Threads of a job; the machine's or container's cores shared among trainings where unset",
    )
    lease_seconds: float = Field(
        8.0, gt=0, description="How long a job stays with a worker that has stopped answering"
    )
    heartbeat_seconds: float = Field(2.0, gt=0, description="How often a running job's lease is renewed")
    sweep_seconds: float = Field(
        2.0, gt=0, description="How often jobs of lost workers are returned to the queue"
    )
    wake_seconds: float = Field(
        15.0, gt=0, description="After how long a job that still waits is announced to the workers again"
    )
    attempts: int = Field(3, ge=1, description="How often a job is started before a lost worker fails it")
    retry_seconds: float = Field(
        5.0,
        ge=0,
        description="How long a worker waits while its store is full or away; doubled with each attempt",
    )
    checkpoint_seconds: float = Field(
        30.0, ge=0, description="Time from one checkpoint of a training to the next"
    )
    cancel_grace_seconds: float = Field(
        0.6, ge=0, description="How long a job that is to end may take to do so before its process is ended"
    )
    stop_grace_seconds: float = Field(
        4.0, ge=0, description="How long a job may take to keep a checkpoint when the worker shuts down"
    )
    job_seconds: float | None = Field(
        None, gt=0, description="Longest time that a job may run; without a bound where unset"
    )
    job_memory_bytes: int | None = Field(
        None,
        ge=1,
        description="Most memory of a job; 85% of the machine's or container's where unset, shared by lane",
    )
    report_seconds: float = Field(0.5, ge=0, description="Shortest time between two reports of progress")
    array_cache_bytes: int = Field(
        16 * GIBIBYTE, ge=0, description="Disk for datasets kept at hand as arrays; 0 keeps none"
    )
    binned_cache_bytes: int = Field(
        8 * GIBIBYTE, ge=0, description="Disk for datasets kept at hand in LightGBM's bins; 0 keeps none"
    )
    max_unpacked_bytes: int = Field(
        MAX_BYTES, ge=1, description="Largest size that a compressed dataset file may unpack to"
    )
    max_unpacked_ratio: int = Field(
        MAX_RATIO,
        ge=1,
        description="Times its size that a file may unpack to beyond 64 MiB, or take in memory beyond 1 GiB",
    )
    max_documents: int = Field(MAX_DOCUMENTS, ge=1, description="Most documents of a dataset")
    max_features: int = Field(MAX_FEATURES, ge=1, description="Most features of a dataset")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe message that is logged"
    )
    log_format: Literal["console", "json"] = Field("console", description="How log lines are written")

    @property
    def threads_per_job(self) -> int:
        """The threads that numba and LightGBM both use for one job."""
        return self.threads or max(1, available_cpus() // self.worker_concurrency)

    def memory_per_job(self, kind: str) -> int | None:
        """Return the memory limit of a job of a kind, or None if unknown."""
        available = available_memory_bytes()
        if self.job_memory_bytes is not None or available is None:
            return self.job_memory_bytes
        return int(_MEMORY_SHARE * available) // self.concurrency_of(lane_of(kind))

    def concurrency_of(self, lane: str) -> int:
        """Return how many jobs of a lane run at the same time."""
        return self.worker_concurrency if lane == Lane.TRAINING else self.quick_concurrency
