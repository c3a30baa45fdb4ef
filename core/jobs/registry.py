"""The registry of job kinds."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Self

from core.jobs.auto_train import AutoTrainJob, TryCandidatesJob
from core.jobs.base import JobSpec, Lane, MainMetric, UnfinishedJob
from core.jobs.clicks import ClickModelJob, CounterfactualJob, JudgeJob, PropensityJob, SimulateClicksJob
from core.jobs.drift import DriftJob
from core.jobs.ingest import ImportModelJob, ImportRunJob, IngestClicksJob, IngestJob
from core.jobs.measuring import CompareJob, EvaluateJob, InspectJob, RankJob
from core.jobs.promote import PromoteJob
from core.jobs.study import ConcludeJob, ReportJob, TrialJob
from core.jobs.train import ReproduceJob, TrainJob
from core.stored import Stored

MAX_TITLE = 255


# The only list of all job kinds, each with the class of its specification.
class JobKind(StrEnum):
    """Kind of a job."""

    specification: type[JobSpec]

    def __new__(cls, name: str, specification: type[JobSpec] = JobSpec) -> Self:
        """Create a member with its specification class."""
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.specification = specification
        return kind

    TRAIN = TrainJob.kind, TrainJob
    REPRODUCE = ReproduceJob.kind, ReproduceJob
    AUTO_TRAIN = AutoTrainJob.kind, AutoTrainJob
    TRY_CANDIDATES = TryCandidatesJob.kind, TryCandidatesJob
    TRIAL = TrialJob.kind, TrialJob
    CONCLUDE = ConcludeJob.kind, ConcludeJob
    EVALUATE = EvaluateJob.kind, EvaluateJob
    COMPARE = CompareJob.kind, CompareJob
    PROMOTE = PromoteJob.kind, PromoteJob
    INSPECT = InspectJob.kind, InspectJob
    COUNTERFACTUAL = CounterfactualJob.kind, CounterfactualJob
    DRIFT = DriftJob.kind, DriftJob
    RANK = RankJob.kind, RankJob
    REPORT = ReportJob.kind, ReportJob
    INGEST = IngestJob.kind, IngestJob
    INGEST_CLICKS = IngestClicksJob.kind, IngestClicksJob
    CLICK_MODEL = ClickModelJob.kind, ClickModelJob
    JUDGE = JudgeJob.kind, JudgeJob
    PROPENSITY = PropensityJob.kind, PropensityJob
    SIMULATE_CLICKS = SimulateClicksJob.kind, SimulateClicksJob
    IMPORT = ImportRunJob.kind, ImportRunJob
    IMPORT_MODEL = ImportModelJob.kind, ImportModelJob


LANES: Mapping[str, tuple[JobKind, ...]] = MappingProxyType(
    {lane: tuple(kind for kind in JobKind if kind.specification.lane is lane) for lane in Lane}
)
_KINDS = frozenset(JobKind)


def is_known(kind: str) -> bool:
    """Return whether this release has a kind; later releases may have stored jobs of others."""
    return kind in _KINDS


def specification_of(kind: str) -> type[JobSpec]:
    """Return the class of a kind; `JobSpec` for an unknown kind of a later release."""
    return JobKind(kind).specification if is_known(kind) else JobSpec


def parse(kind: str, stored: Stored) -> JobSpec:
    """Parse the stored specification of a job.

    Raises:
        InvalidInput: With a pointer to a missing or invalid entry.
        ValueError: The kind is unknown, such as one of a later release.
    """
    return JobKind(kind).specification.from_json(stored)


def lane_of(kind: str) -> Lane:
    """Return the lane of a kind of job; that of `JobSpec` for an unknown kind of a later release."""
    return specification_of(kind).lane


def title_of(kind: str, stored: Stored) -> str | None:
    """Return the title of a job, None if its specification has no name for it."""
    title = specification_of(kind).title_of(stored)
    return None if title is None else title[:MAX_TITLE]


def main_metric_of(kind: str, stored: Stored, metrics: Stored | None) -> MainMetric | None:
    """Return the main metric of a job with its latest value, None before it is measured."""
    return specification_of(kind).main_metric_of(stored, metrics)


def orphaned_artifacts(job: UnfinishedJob) -> list[str]:
    """Return the folders of artifacts to remove after an unsuccessful job, such as its uploads."""
    return specification_of(job.kind).orphaned_artifacts(job)
