"""The base classes of job kinds, and the statuses of jobs."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self

from core.stored import Json, Stored, first_named, read_entries, write_entries


class JobStatus(StrEnum):
    """The status of a job.

    `refused` is a decision: the job did all of its work, and the promotion gate of an alias refused the
    version.
    """

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"


QUEUED = JobStatus.QUEUED
RUNNING = JobStatus.RUNNING
SUCCEEDED = JobStatus.SUCCEEDED
REFUSED = JobStatus.REFUSED
FAILED = JobStatus.FAILED
CANCELLED = JobStatus.CANCELLED

TRANSITIONS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        QUEUED: frozenset({RUNNING, CANCELLED}),
        RUNNING: frozenset({SUCCEEDED, REFUSED, FAILED, CANCELLED, QUEUED}),
        SUCCEEDED: frozenset(),
        REFUSED: frozenset(),
        FAILED: frozenset(),
        CANCELLED: frozenset(),
    }
)
STATUSES = tuple(TRANSITIONS)
ACTIVE = frozenset(status for status, targets in TRANSITIONS.items() if targets)
TERMINAL = frozenset(TRANSITIONS) - ACTIVE


def allows(source: str, target: str) -> bool:
    """Return whether a job may move from status `source` to `target`."""
    return target in TRANSITIONS[source]


# The mean training loss, an entry among the metrics of the training data.
_LOSS = "loss"
# Numbers of the named priorities; jobs with higher numbers start first.
PRIORITIES: Mapping[str, int] = MappingProxyType({"low": -1, "normal": 0, "high": 1})


class Lane(StrEnum):
    """A queue of jobs with its own workers, so that short jobs do not wait for long trainings."""

    TRAINING = "training"
    QUICK = "quick"


@dataclass(frozen=True)
class MainMetric:
    """The metric that a list shows for a job.

    Attributes:
        name: Spelling of the metric, `ndcg@10`.
        data: Measured data: `test`, `validation`, `train`, or `held-out` of an automatic training.
        value: Its latest mean over queries.
    """

    name: str
    data: str
    value: float


class UnfinishedJob(Protocol):
    """The columns of a job that determine its possibly orphaned artifacts."""

    @property
    def id(self) -> str:
        """Id of the job."""

    @property
    def kind(self) -> str:
        """Kind of the job."""

    @property
    def token(self) -> int:
        """Number of times that workers have claimed the job."""

    @property
    def spec(self) -> dict[str, Any]:
        """Stored specification of the job."""


@dataclass(frozen=True)
class JobLimits:
    """Limits of a job, in addition to those of the worker.

    Attributes:
        seconds: Running time over all attempts, or None.
    """

    seconds: float | None = None
    memory_bytes: int | None = None

    @classmethod
    def of(cls, stored: Stored) -> "JobLimits | None":
        """Return the limits in a stored specification, or None."""
        limits = stored.get("limits")
        return None if limits is None else cls(limits.get("seconds"), limits.get("memory_bytes"))


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """The complete, resolved specification of a job.

    `title_of` and `main_metric_of` take the stored JSON, and `orphaned_artifacts` the job's row. A job with
    an unparsable specification can thus be listed and cleaned up.

    Attributes:
        kind: Name of the kind in the database and in the API.
        label: Display name of the kind; for unknown kinds of a later release, "Job".
        titled_by: Entries of the specification that may be the title, in order of preference.
        ignored_entries: Entries that are neither read nor stored.
        stores_kind: Whether the kind is also an entry of the stored JSON, in addition to the column.
        makes_dataset: Whether its dataset becomes invalid when it fails.
        makes_click_log: Whether its click log becomes invalid when it fails.
        main_data: Data that its main metric may be measured on, in order of preference; the first with a
            value is used.
    """

    kind: ClassVar[str]
    label: ClassVar[str] = "Job"
    titled_by: ClassVar[tuple[str, ...]] = ()
    lane: ClassVar[Lane] = Lane.QUICK
    ignored_entries: ClassVar[frozenset[str]] = frozenset()
    stores_kind: ClassVar[bool] = True
    makes_dataset: ClassVar[bool] = False
    makes_click_log: ClassVar[bool] = False
    main_data: ClassVar[tuple[str, ...]] = ("test", "validation", "train")

    @classmethod
    def from_json(cls, stored: Stored) -> Self:
        """Parse the JSON that this or an earlier release stored.

        Raises:
            InvalidInput: With a pointer to a missing or invalid entry.
        """
        return read_entries(cls, cls._without_ignored_entries(stored))

    def to_json(self) -> Json:
        """Return the JSON to store; `from_json` reads it back to an equal specification."""
        return ({"kind": self.kind} if self.stores_kind else {}) | self._without_ignored_entries(
            write_entries(self)
        )

    @classmethod
    def _without_ignored_entries(cls, stored: Stored) -> Json:
        return {name: value for name, value in stored.items() if name not in cls.ignored_entries}

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets that the job reads or makes, by role."""
        return {}

    @property
    def click_log_ids(self) -> Mapping[str, str]:
        """Return the click logs that the job reads or makes, by role."""
        return {}

    @property
    def made_model_name(self) -> str | None:
        """Return the name of the model that gets a version, or None."""
        return None

    @property
    def allows_absent_features(self) -> bool:
        """Return whether to accept a dataset that lacks most features of a model."""
        return False

    @property
    def queue_priority(self) -> int:
        """Return the priority of the job in the queue, by the field `priority` of kinds that have one."""
        return PRIORITIES[getattr(self, "priority", "normal")]

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the title of the job, the name of its main object, or None."""
        return first_named(stored, cls.titled_by)

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:  # noqa: ARG003 - overriding kinds use it
        """Return the folders of artifacts to remove when the job ends without success."""
        return []

    @classmethod
    def metrics_by_importance(cls, stored: Stored) -> list[str]:
        """Return the requested metrics, the most important first."""
        return list(stored.get("metrics") or ())

    @classmethod
    def main_metric_of(cls, stored: Stored, metrics: Stored | None) -> MainMetric | None:
        """Return the most important metric with its latest value.

        Args:
            metrics: Latest means by data and metric, `{"validation": {"ndcg@10": 0.4}}`.
        """
        measured = {data: values for data in cls.main_data if (values := (metrics or {}).get(data))}
        metric_names = [name for values in measured.values() for name in values if name != _LOSS]
        name = next(
            (name for name in (*cls.metrics_by_importance(stored), *metric_names) if name in metric_names),
            None,
        )
        return next(
            (
                MainMetric(name, data, values[name])
                for data, values in measured.items()
                if name is not None and values.get(name) is not None
            ),
            None,
        )


@dataclass(frozen=True, kw_only=True)
class DatasetJob(JobSpec):
    """A job on one dataset."""

    dataset_id: str

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the dataset that the job reads or makes."""
        return {"data": self.dataset_id}


@dataclass(frozen=True, kw_only=True)
class SubmittedJob(DatasetJob):
    """A job that clients submit to `POST /v1/jobs`, or the reproduction of a model.

    Attributes:
        priority: `low`, `normal` or `high`.
        allow_absent_features: Whether to accept a dataset that lacks most features of a model.
    """

    priority: str = "normal"
    limits: JobLimits | None = None
    allow_absent_features: bool = False

    @property
    def allows_absent_features(self) -> bool:
        """Return whether to accept a dataset that lacks most features of a model."""
        return self.allow_absent_features


@dataclass(frozen=True, kw_only=True)
class ClickLogJob(JobSpec):
    """A job on one click log.

    Attributes:
        click_log_id: The click log that it reads or makes.
        priority: `low`, `normal` or `high`.
    """

    click_log_id: str
    priority: str = "normal"
    limits: JobLimits | None = None

    @property
    def click_log_ids(self) -> Mapping[str, str]:
        """Return the click log that the job reads or makes."""
        return {"log": self.click_log_id}
