"""Requests for automatic trainings."""

from typing import Annotated, Literal

from pydantic import Field

from app.datasets.hold_out_schemas import LabelMap
from app.http.labels import Tags
from app.http.schemas import Id, ModelName
from app.jobs.contract_schemas import Contract
from app.jobs.requests.fields import AllowAbsentFeatures, MetricName, QueuedRequest, Seed
from core.jobs.auto_train import AutoTrainJob, Preference

CandidateName = Annotated[str, Field(max_length=100)]


class AutomaticTrainingRequest(QueuedRequest):
    """Fields of all requests for automatic trainings, except for their datasets."""

    kind: Literal["auto-train"]
    model_name: ModelName
    tags: Tags = Field(
        default_factory=dict,
        description="Tags of the job and of the model that it makes",
        examples=[{"team": "search"}],
    )
    metric: MetricName = Field("ndcg@10", description="Metric to select candidates by")
    contract: Contract = "default"
    label_map: LabelMap = Field(default_factory=dict)
    budget_seconds: float = Field(
        AutoTrainJob.budget_seconds,
        ge=10,
        le=86_400,
        description="Planned running time of the search; use `limits` to stop the job",
        examples=[300],
    )
    prefer: Preference = Field(
        AutoTrainJob.prefer,
        description="`best`: the weighted sum of candidates that is selected on held-out queries;"
        " `simple`: the simplest candidate that is not significantly worse than the best, or the sum if that"
        " is significantly better",
    )
    candidates: list[CandidateName] | None = Field(
        None,
        min_length=1,
        max_length=100,
        description="Names of the candidates to try, as the leaderboard of a job lists them; all when null",
        examples=[["trees by lambdarank", "linear by ranknet"]],
    )
    seed: Seed = 42
    allow_absent_features: AllowAbsentFeatures = False


class AutoTrainRequest(AutomaticTrainingRequest):
    """Find the best model for a dataset automatically, and train it as a new version."""

    dataset_id: Id = Field(description="A ready dataset to train on, with at least two queries")
    test_dataset_id: Id | None = Field(
        None,
        description="Another ready dataset, on which the final model is evaluated once, and whose documents"
        " it ranks",
    )
