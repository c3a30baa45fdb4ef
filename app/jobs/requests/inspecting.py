"""Requests to inspect a model, and to look for drift in its score samples."""

from typing import Literal

from pydantic import Field

from app.datasets.hold_out_schemas import LabelMap
from app.http.schemas import Id, ModelReference, RequestModel
from app.jobs.contract_schemas import Contract
from app.jobs.parameter_schemas import FeatureName
from app.jobs.requests.fields import AllowAbsentFeatures, MetricName, QueuedRequest, Seed


class PartialDependenceRequest(RequestModel):
    """Partial dependence of a model's scores on single features."""

    features: list[FeatureName] | None = Field(
        None,
        max_length=100,
        description="Names; the ten that are most important by permutation when null",
        examples=[["bm25", "pagerank"]],
    )
    grid: int = Field(32, ge=2, le=256, description="Values of each feature, its quantiles")
    sample: int = Field(2_000, ge=1, le=100_000, description="Documents that the mean is taken over")


class InspectRequest(QueuedRequest):
    """Measure permutation importance and partial dependence of a model on a dataset."""

    kind: Literal["inspect"]
    model: ModelReference
    dataset_id: Id = Field(description="A ready dataset")
    metric: MetricName = Field("ndcg@10", description="What is lost when a feature is shuffled")
    contract: Contract = "default"
    label_map: LabelMap = Field(default_factory=dict)
    repeats: int = Field(5, ge=1, le=100, description="How often each feature is shuffled")
    within: Literal["dataset", "query"] = Field(
        "dataset",
        description="Over the `dataset` a document gets the value of any other, so that features of the query"
        " are judged, too; within the `query` what does not tell its documents apart counts for nothing",
    )
    partial_dependence: PartialDependenceRequest = Field(default_factory=PartialDependenceRequest)
    seed: Seed = 42
    allow_absent_features: AllowAbsentFeatures = False


class DriftThresholdsRequest(RequestModel):
    """Differences of a feature or of the scores that count as drift: significance and size."""

    p: float = Field(
        0.01, gt=0, le=0.5, description="Greatest probability that a report without drift finds any"
    )
    psi: float = Field(0.2, gt=0, le=10, description="Least population stability index")
    missing: float = Field(
        0.1, gt=0, le=1, description="Least difference of the shares of documents without a value"
    )


class DriftRequest(QueuedRequest):
    """Compare the score samples of a model with its training data, and with earlier samples."""

    kind: Literal["drift"]
    model: ModelReference
    days: float = Field(7, gt=0, le=366, description="Samples of the last so many days are looked at")
    compare_with_previous: bool = Field(
        True, description="Whether they are compared with those of as many days before, too"
    )
    dataset_id: Id | None = Field(
        None, description="Compare with this dataset instead of the training data of the model"
    )
    queries_by: Literal["id", "request"] = Field(
        "id",
        description="What makes two samples the same query: its `id`, or nothing (`request`) where ids do not"
        " name queries. Of a query the latest sample counts",
    )
    thresholds: DriftThresholdsRequest = Field(default_factory=DriftThresholdsRequest)
    seed: Seed = 42
