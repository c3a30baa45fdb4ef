"""The job kinds on clicks: models, judgments, propensities, counterfactual evaluation and simulation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from core.clicks.judgment_options import JudgmentSpec
from core.clicks.models.specification import ClickModelSpec
from core.errors import InvalidInput
from core.jobs.base import ClickLogJob, Lane, UnfinishedJob
from core.jobs.folders import claims_folders, log_claims_folders
from core.jobs.measuring import SystemsJob
from core.parameters import build, parameters_of, stored_values, values_of
from core.stored import Stored, entry

if TYPE_CHECKING:
    from core.clicks.propensities import PropensityPlan
    from core.clicks.simulation import SimulationPlan
    from core.clicks.users import UserModel


_Options = TypeVar("_Options")


def options_at(pointer: str, cls: type[_Options]) -> Callable[[Stored], _Options]:
    """Return a function that parses stored or requested options; its errors have pointers below `pointer`."""

    def options(stored: Stored) -> _Options:
        try:
            return build(cls, stored_values(cls, stored))
        except InvalidInput as invalid:
            raise invalid.below(pointer) from invalid

    return options


model_options = options_at("/options", ClickModelSpec)


@dataclass(frozen=True, kw_only=True)
class ClickModelJob(ClickLogJob):
    """Compare click models of a log on held-out lists, and estimate the best one on all lists.

    Attributes:
        options: Options of all models; the field `model` is ignored.
        held_out: Share of users, or of lists where the log has no users, to compare on.
    """

    kind: ClassVar[str] = "click-model"
    label: ClassVar[str] = "Click model"
    titled_by: ClassVar[tuple[str, ...]] = ("log_name",)
    lane: ClassVar[Lane] = Lane.TRAINING

    log_name: str
    models: tuple[str, ...]
    options: ClickModelSpec = entry(read=model_options, write=values_of)
    held_out: float = 0.2


judgment_options = options_at("/judgments", JudgmentSpec)


@dataclass(frozen=True, kw_only=True)
class JudgeJob(ClickLogJob):
    """Make a dataset of the grades that a click model gives, joined with features.

    Attributes:
        dataset_id: The dataset that the job makes.
        unjudged: Whether to drop documents without a grade, or to label them 0.
    """

    kind: ClassVar[str] = "judge"
    label: ClassVar[str] = "Judgments"
    titled_by: ClassVar[tuple[str, ...]] = ("name",)
    lane: ClassVar[Lane] = Lane.TRAINING
    makes_dataset: ClassVar[bool] = True

    dataset_id: str
    name: str
    features_dataset_id: str
    judged_dataset_id: str | None = None
    options: ClickModelSpec = entry(read=model_options, write=values_of)
    judgments: JudgmentSpec = entry(read=judgment_options, write=values_of)
    unjudged: Literal["drop", "zero"] = "drop"

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets that the job reads and makes."""
        judged = {"judged": self.judged_dataset_id} if self.judged_dataset_id else {}
        return {"data": self.dataset_id, "features": self.features_dataset_id, **judged}

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the folders of the outputs of each claim."""
        return claims_folders(job.id, job.token)


def _declared(cls: type[_Options], stored: Stored) -> _Options:
    """Build the options of a class from the entries with their names."""
    names = [declared.name for declared in parameters_of(cls)]
    return build(cls, {name: stored[name] for name in names if name in stored})


def _propensity_plan(stored: Stored) -> "PropensityPlan":
    from core.clicks.propensities import PropensityPlan

    return _declared(PropensityPlan, stored)


@dataclass(frozen=True, kw_only=True)
class PropensityJob(ClickLogJob):
    """Estimate the propensities of the ranks of a click log.

    Attributes:
        dataset_id: Features of the documents, for `regression-em` and `trust-em`, or None.
    """

    kind: ClassVar[str] = "propensity"
    label: ClassVar[str] = "Propensities"
    titled_by: ClassVar[tuple[str, ...]] = ("method",)

    dataset_id: str | None = None
    plan: "PropensityPlan" = entry(read=_propensity_plan, write=values_of, flat=True)

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the dataset of the features."""
        return {} if self.dataset_id is None else {"data": self.dataset_id}


@dataclass(frozen=True, kw_only=True)
class CounterfactualJob(SystemsJob):
    """Estimate a metric of models and rankings from the clicks on other rankings.

    Attributes:
        dataset_id: The dataset with the documents that the systems rank.
        metric: Spelling of the metric, a sum over clicks.
        normalised: Whether to divide the estimate by the mean weight.
        clip: Largest weight, or None.
        examination: Probability of examination of each rank from 1; None except for the estimator
            `examination`.
        examination_errors: Standard error of ln `examination` of each rank; None where it is exact.
    """

    kind: ClassVar[str] = "counterfactual"
    label: ClassVar[str] = "Counterfactual evaluation"

    click_log_id: str
    metric: str
    estimator: str
    normalised: bool
    clip: float | None = None
    examination: tuple[float, ...] | None = None
    examination_errors: tuple[float, ...] | None = entry(None, omit_default=True)
    seed: int

    @property
    def click_log_ids(self) -> Mapping[str, str]:
        """Return the click log that the job reads."""
        return {"log": self.click_log_id}


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

    return build(UserModel, stored)


def _simulation_plan(stored: Stored) -> "SimulationPlan":
    from core.clicks.simulation import SimulationPlan

    return _declared(SimulationPlan, stored)


@dataclass(frozen=True, kw_only=True)
class SimulateClicksJob(ClickLogJob):
    """Draw a click log on judged documents.

    Attributes:
        click_log_id: The log that the job makes.
        rankers: Production rankers; each list is ranked by one of them.
    """

    kind: ClassVar[str] = "simulate-clicks"
    label: ClassVar[str] = "Simulated clicks"
    titled_by: ClassVar[tuple[str, ...]] = ("log_name",)
    makes_click_log: ClassVar[bool] = True

    log_name: str
    dataset_id: str
    rankers: tuple[Ranker, ...]
    user_model: "UserModel" = entry(read=_users, write=values_of)
    plan: "SimulationPlan" = entry(read=_simulation_plan, write=values_of, flat=True)

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the dataset of the judged documents."""
        return {"data": self.dataset_id}

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the folders of the outputs of each claim."""
        log_id = job.spec.get("click_log_id")
        return log_claims_folders(log_id, job.id, job.token) if log_id else []
