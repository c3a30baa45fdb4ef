"""The job kind `simulate-clicks`: draw a click log on judged documents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from core.jobs.base import ClickLogJob, UnfinishedJob
from core.jobs.folders import log_claims_folders
from core.stored import Json, Stored, entry

if TYPE_CHECKING:
    from core.clicks.simulation import SimulationPlan
    from core.clicks.users import UserModel


@dataclass(frozen=True)
class Ranker:
    """A production ranker of a simulation: a model, or one feature.

    Attributes:
        system: Model reference, `web:3`, or the name of the feature.
        model_id: The model, None for a feature.
    """

    system: str
    model_id: str | None = None


def _users(stored: Stored) -> "UserModel":
    from core.clicks.users import UserModel
    from core.parameters import build

    return build(UserModel, stored)


def _plan(stored: Stored) -> "SimulationPlan":
    from core.clicks.simulation import SimulationPlan
    from core.parameters import build, parameters_of

    names = [declared.name for declared in parameters_of(SimulationPlan)]
    return build(SimulationPlan, {name: stored[name] for name in names if name in stored})


def _values(declared: Any) -> Json:
    from core.parameters import values_of

    return values_of(declared)


@dataclass(frozen=True, kw_only=True)
class SimulateClicksJob(ClickLogJob):
    """Draw a click log on judged documents.

    Attributes:
        click_log_id: The log that the job makes.
        log_name: Name of this log.
        dataset_id: The judged documents.
        rankers: Production rankers; each list is ranked by one of them.
        user_model: Model of the simulated users.
        plan: Options of the simulated lists.
    """

    kind: ClassVar[str] = "simulate-clicks"
    label: ClassVar[str] = "Simulated clicks"
    titled_by: ClassVar[tuple[str, ...]] = ("log_name",)
    makes_click_log: ClassVar[bool] = True

    log_name: str
    dataset_id: str
    rankers: tuple[Ranker, ...]
    user_model: "UserModel" = entry(read=_users, write=_values)
    plan: "SimulationPlan" = entry(read=_plan, write=_values, flat=True)

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the dataset of the judged documents."""
        return {"data": self.dataset_id}

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the folders of the outputs of each claim."""
        log_id = job.spec.get("click_log_id")
        return log_claims_folders(log_id, job.id, job.token) if log_id else []
