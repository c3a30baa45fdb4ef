"""Requests on clicks: click models, judgments, propensities, counterfactual evaluation and simulation."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, create_model
from typing_extensions import TypeAliasType

from app.http.schemas import DisplayName, Id, ModelReference, RequestModel, VisibleText
from app.jobs.parameter_schemas import FeatureName, ParametersRequest, declared_fields, request_model
from app.jobs.requests.fields import AllowAbsentFeatures, QueuedRequest, Seed
from app.jobs.requests.measuring import SystemRequest
from core.clicks.judgment_options import JudgmentSpec
from core.clicks.models.specification import MODELS, ClickModelSpec
from core.clicks.propensities import PropensityPlan
from core.clicks.simulation import SimulationPlan
from core.clicks.users import PRESETS, UserModel

# A named type: client generators would call this enumeration `Model`.
ClickModelName = TypeAliasType(
    "ClickModelName", Literal["ctr", "coec", "cascade", "dcm", "pbm", "ubm", "sdbn", "dbn"]
)
_DeclaredOptions = create_model(
    "_DeclaredOptions", __base__=ParametersRequest, **declared_fields(ClickModelSpec)
)
JudgmentOptions: Any = request_model("JudgmentOptions", JudgmentSpec, "The grading of documents.")
_ClickLogId = Annotated[Id, Field(description="A ready click log")]


class ClickModelOptions(_DeclaredOptions):
    """A click model and its options."""

    declared_by: ClassVar[type] = ClickModelSpec
    model: ClickModelName = Field("pbm", description="The click model")


class ClickModelRequest(QueuedRequest):
    """Estimate click models of a log and compare them on held-out lists."""

    kind: Literal["click-model"]
    click_log_id: _ClickLogId
    models: list[ClickModelName] = Field(
        ["pbm"],
        min_length=1,
        max_length=len(MODELS),
        description="Click models to compare; the best on held-out lists is then estimated from all lists",
        examples=[["pbm", "dbn"]],
    )
    options: ClickModelOptions = Field(
        default_factory=ClickModelOptions, description="Options that the models share; `model` has no effect"
    )
    held_out: float = Field(
        0.2,
        gt=0,
        lt=1,
        description="Share of users to hold out for the comparison; share of lists if the log has no users",
    )


class JudgeRequest(QueuedRequest):
    """Grade documents by a click model, and join the grades with features as a dataset."""

    kind: Literal["judge"]
    click_log_id: _ClickLogId
    features_dataset_id: Id = Field(
        description="A ready dataset with the features of the log's documents, joined by ids; its labels"
        " are replaced"
    )
    dataset_name: DisplayName | None = Field(
        None, description="Name of the new dataset; the name of the log when null"
    )
    judged_dataset_id: Id | None = Field(
        None, description="A judged dataset to compare the grades with: kappa and Kendall's tau"
    )
    options: ClickModelOptions = Field(default_factory=ClickModelOptions)
    judgments: JudgmentOptions = Field(default_factory=JudgmentOptions)
    unjudged: Literal["drop", "zero"] = Field(
        "drop",
        description="Documents without a grade: `drop` omits them, `zero` labels them 0 in queries with a"
        " grade",
    )


MAX_RANKERS = 8

UserModelRequest: Any = request_model(
    "UserModel", UserModel, "Behaviour of simulated users: which ranks they examine and when they click."
)
_PropensityRequest = create_model(
    "_PropensityRequest", __base__=QueuedRequest, **declared_fields(PropensityPlan)
)
_SimulationRequest = create_model(
    "_SimulationRequest", __base__=QueuedRequest, **declared_fields(SimulationPlan)
)


class PropensityRequest(_PropensityRequest):
    """Estimate how often each rank is examined, relative to rank 1."""

    kind: Literal["propensity"]
    click_log_id: Id = Field(description="A ready click log")
    dataset_id: Id | None = Field(
        None,
        description="A ready dataset with the features of the documents; required for regression-em and"
        " trust-em",
    )


class SimulateClicksRequest(_SimulationRequest):
    """Simulate a click log on judged documents, with known propensities."""

    kind: Literal["simulate-clicks"]
    dataset_id: Id = Field(description="A ready dataset, whose labels determine the clicks")
    log_name: VisibleText = Field(description="Name of the log", examples=["simulated"])
    models: list[ModelReference] = Field(
        default_factory=list, max_length=MAX_RANKERS, description="Models that rank the simulated lists"
    )
    features: list[FeatureName] = Field(
        default_factory=list,
        max_length=MAX_RANKERS,
        description="Features that rank simulated lists by descending value, besides or instead of `models`",
        examples=[["bm25"]],
    )
    user_model: Annotated[Literal[tuple(PRESETS)] | UserModelRequest, Field(union_mode="smart")] = Field(  # type: ignore[valid-type]
        "ultra-pbm", description="Simulated users: the name of a published setting, or parameters"
    )


EXAMPLE = {
    "summary": "Would users click more on the new version?",
    "value": {
        "kind": "counterfactual",
        "click_log_id": "clk_01k9x2m4q7c8v5n3b6r1",
        "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
        "systems": [{"model": "web:3"}, {"model": "web:4"}],
        "metric": "dcg@10",
        "estimator": "item_position",
        "normalised": True,
        "clip": 100.0,
    },
}


class EstimationRequest(RequestModel):
    """A metric of rankings, to be estimated from the clicks on other rankings."""

    click_log_id: Id = Field(description="A ready click log")
    dataset_id: Id = Field(
        description="A ready dataset with the documents that the systems rank, by the ids of the log"
    )
    metric: str = Field(
        "dcg@10",
        max_length=100,
        description="Metric that is a sum over clicks: `dcg@k`, `precision@k`, `rbp@k`, `clicks@k`",
    )
    estimator: Literal[
        "slate", "item_position", "reward_interaction", "cascade_doubly_robust", "examination"
    ] = Field(
        "item_position",
        description="Propensities by which clicks are weighted. `slate`: of whole lists. `item_position`: of"
        " documents at ranks. `reward_interaction`: of documents at a rank and all ranks above."
        " `cascade_doubly_robust`: the same, with predicted clicks. `examination`: of examining a"
        " rank, which needs no logged propensities",
    )
    normalised: bool = Field(
        False, description="Whether to divide by the mean weight of each rank (self-normalised)"
    )
    clip: float | None = Field(None, gt=0, le=1e12, description="Maximum weight; null for no limit")
    examination: list[Annotated[float, Field(gt=0, le=1)]] | None = Field(
        None,
        min_length=1,
        max_length=1_000,
        description="Examination probability of each rank from 1; only for the estimator `examination`",
        examples=[[1.0, 0.62, 0.48]],
    )
    examination_errors: list[Annotated[float, Field(ge=0, le=100)]] | None = Field(
        None,
        min_length=1,
        max_length=1_000,
        description="Standard error of ln `examination` of each rank, which widens the intervals; null if"
        " `examination` is exact",
        examples=[[0.0, 0.11, 0.19]],
    )
    propensity_job: Id | None = Field(
        None,
        description="Finished job `propensity` or `simulate-clicks` to take `examination` and its errors"
        " from, instead of sending them; propensities above 1 count as 1",
    )


class CounterfactualRequest(EstimationRequest, QueuedRequest):
    """Estimate a metric of models and rankings from the clicks on other rankings."""

    kind: Literal["counterfactual"]
    systems: list[SystemRequest] = Field(
        min_length=1,
        max_length=20,
        description="Systems to compare with each other and with the logged ranking",
    )
    seed: Seed = 42
    allow_absent_features: AllowAbsentFeatures = False
