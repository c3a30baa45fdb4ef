"""Requests for counterfactual evaluations."""

from typing import Annotated, Literal

from pydantic import Field

from app.http.schemas import Id, RequestModel
from app.jobs.requests.fields import AllowAbsentFeatures, QueuedRequest, Seed
from app.jobs.requests.measuring import SystemRequest

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
