"""Settings of a worker process."""

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from core.data.options import MAX_BYTES, MAX_DOCUMENTS, MAX_FEATURES, MAX_RATIO, Limits
from core.jobs import Lane, lane_of
from core.machine import available_cpus, available_memory_bytes
from core.store import StoreSettings
from core.store.settings import GIBIBYTE, MEBIBYTE
from worker.dask.settings import DaskSettings

MEMORY_SHARE = 0.85  # of the machine's memory; the rest is for the system and other processes


class WorkerSettings(DaskSettings, StoreSettings):
    """Settings of a worker, read from environment variables.

    Every field is also an environment variable: `lease_seconds` is `RANKERY_LEASE_SECONDS`.
    """

    storage_patience_seconds: float = Field(
        30.0, ge=0, description="Seconds of retries when a remote artifact storage fails"
    )
    worker_concurrency: int = Field(1, ge=1, le=256, description="Concurrent jobs in the lane `training`")
    quick_concurrency: int = Field(
        1,
        ge=1,
        le=256,
        description="Concurrent jobs in the lane `quick`, which has all short jobs",
    )
    threads: int | None = Field(
        None,
        ge=1,
        description="Threads of a job; unset: the cores of the machine or container, divided among trainings",
    )
    compile_ahead: bool = Field(
        True, description="Compile kernels at the start; false: when a job or request needs them"
    )
    lease_seconds: float = Field(
        8.0, gt=0, le=86_400, description="Seconds until the lease of a silent worker expires"
    )
    heartbeat_seconds: float = Field(
        2.0,
        gt=0,
        validate_default=True,
        description="Interval at which the lease of a running job is renewed",
    )
    sweep_seconds: float = Field(
        2.0, gt=0, description="Interval at which a worker searches for jobs of lost workers"
    )
    wake_seconds: float = Field(
        15.0, gt=0, description="Seconds until workers are notified again of a waiting job"
    )
    events_days: float = Field(30.0, gt=0, le=36_500, description="Days that events are kept")
    attempts: int = Field(3, ge=1, description="Maximum number of attempts of a job whose workers are lost")
    retry_seconds: float = Field(
        5.0,
        ge=0,
        description="First retry interval when the store is full or unavailable; doubled with each attempt",
    )
    checkpoint_seconds: float = Field(30.0, ge=0, description="Interval of a training's checkpoints")
    cancel_grace_seconds: float = Field(
        0.6, ge=0, description="Seconds for a job to end before its process is killed"
    )
    stop_grace_seconds: float = Field(
        4.0, ge=0, description="Seconds for a job to save a checkpoint when the worker stops"
    )
    rank_silence_seconds: float = Field(
        6.0,
        gt=0,
        description="Seconds of silence after which a process of a distributed training counts as lost",
    )
    job_seconds: float | None = Field(None, gt=0, description="Time limit of a job; unset: none")
    job_memory_bytes: int | None = Field(
        None,
        ge=1,
        description="Memory limit of a job; unset: 85% of the machine's or container's, divided by the"
        " concurrency of the job's lane",
    )
    report_seconds: float = Field(0.5, ge=0, description="Minimum interval between progress reports")
    array_cache_bytes: int = Field(
        16 * GIBIBYTE, ge=0, description="Disk space for datasets cached as arrays; 0 for no cache"
    )
    binned_cache_bytes: int = Field(
        8 * GIBIBYTE, ge=0, description="Disk space for datasets cached in LightGBM's bins; 0 for no cache"
    )
    source_bytes: int = Field(
        32 * GIBIBYTE,
        ge=1,
        description="Maximum total size of the files of an imported dataset or click log",
    )
    source_seconds: float = Field(
        21_600.0, gt=0, description="Time limit for downloading the files of a dataset or click log"
    )
    source_credentials: Path | None = Field(
        None,
        description="JSON or TOML file with named credentials for imports; see the guide on imports",
    )
    min_free_bytes: int = Field(256 * MEBIBYTE, ge=0, description="Disk space that uploads keep free")
    max_unpacked_bytes: int = Field(
        MAX_BYTES, ge=1, description="Largest unpacked size of a compressed dataset file"
    )
    max_unpacked_ratio: int = Field(
        MAX_RATIO,
        ge=1,
        description="Maximum ratio of unpacked to compressed size, above 64 MiB unpacked; also of arrays to"
        " file, for arrays above 1 GiB",
    )
    max_documents: int = Field(MAX_DOCUMENTS, ge=1, description="Maximum number of documents in a dataset")
    max_features: int = Field(MAX_FEATURES, ge=1, description="Maximum number of features in a dataset")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest severity of logged messages"
    )
    log_format: Literal["console", "json"] = Field("console", description="Format of log lines")

    @field_validator("heartbeat_seconds")
    @classmethod
    def _renews_in_time(cls, seconds: float, values: ValidationInfo) -> float:
        """Refuse an interval in which leases expire, as all jobs that last longer would be lost."""
        lease_seconds = values.data.get("lease_seconds", seconds + 1)  # absent if it is invalid itself
        if seconds >= lease_seconds:
            raise ValueError(f"must be less than RANKERY_LEASE_SECONDS, {lease_seconds:g}; found {seconds:g}")
        return seconds

    @property
    def threads_per_job(self) -> int:
        """Threads that numba and LightGBM use for one job."""
        return self.threads or max(1, available_cpus() // self.worker_concurrency)

    @property
    def reading_limits(self) -> Limits:
        """Limits of the files and datasets that jobs read."""
        return Limits(
            unpacked_bytes=self.max_unpacked_bytes,
            unpacked_ratio=self.max_unpacked_ratio,
            documents=self.max_documents,
            features=self.max_features,
        )

    def memory_per_job(self, kind: str) -> int | None:
        """Return the memory limit of a job of a kind, or None if unknown."""
        available = available_memory_bytes()
        if self.job_memory_bytes is not None or available is None:
            return self.job_memory_bytes
        return int(MEMORY_SHARE * available) // self.concurrency_of(lane_of(kind))

    def concurrency_of(self, lane: str) -> int:
        """Return the number of jobs of a lane that run at the same time."""
        return self.worker_concurrency if lane == Lane.TRAINING else self.quick_concurrency
