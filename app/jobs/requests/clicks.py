"""Requests about click logs: propensities and simulations."""

from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from app.http.schemas import Id, ModelReference, VisibleText
from app.jobs.parameter_schemas import FeatureName, declared_fields, request_model
from app.jobs.requests.fields import QueuedRequest
from core.clicks.propensities import PropensityPlan
from core.clicks.simulation import SimulationPlan
from core.clicks.users import PRESETS, UserModel

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
