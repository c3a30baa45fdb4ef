"""The job kind `propensity`: estimate the propensities of the ranks of a click log."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from core.jobs.base import ClickLogJob
from core.stored import Json, Stored, entry

if TYPE_CHECKING:
    from core.clicks.propensities import PropensityPlan


def _plan(stored: Stored) -> "PropensityPlan":
    from core.clicks.propensities import PropensityPlan
    from core.parameters import build, parameters_of

    names = [declared.name for declared in parameters_of(PropensityPlan)]
    return build(PropensityPlan, {name: stored[name] for name in names if name in stored})


def _plan_json(plan: "PropensityPlan") -> Json:
    from core.parameters import values_of

    return values_of(plan)


@dataclass(frozen=True, kw_only=True)
class PropensityJob(ClickLogJob):
    """Estimate the propensities of the ranks of a click log.

    Attributes:
        dataset_id: Features of the documents, for `regression-em` and `trust-em`, or None.
        plan: Method and its options.
    """

    kind: ClassVar[str] = "propensity"
    label: ClassVar[str] = "Propensities"
    titled_by: ClassVar[tuple[str, ...]] = ("method",)

    dataset_id: str | None = None
    plan: "PropensityPlan" = entry(read=_plan, write=_plan_json, flat=True)

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the dataset of the features."""
        return {} if self.dataset_id is None else {"data": self.dataset_id}
