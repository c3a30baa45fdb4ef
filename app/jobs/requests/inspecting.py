"""Requests to inspect a model, and to detect drift in its score samples."""

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
        description="Names of features; the ten with the highest permutation importance when null",
        examples=[["bm25", "pagerank"]],
    )
    grid: int = Field(32, ge=2, le=256, description="Number of values per feature, at its quantiles")
    sample: int = Field(2_000, ge=1, le=100_000, description="Number of documents to average over")


class InspectRequest(QueuedRequest):
    """Measure permutation importance and partial dependence of a model on a dataset."""

    kind: Literal["inspect"]
    model: ModelReference
    dataset_id: Id = Field(description="A ready dataset")
    metric: MetricName = Field(
        "ndcg@10", description="Metric whose decrease is the importance of a shuffled feature"
    )
    contract: Contract = "default"
    label_map: LabelMap = Field(default_factory=dict)
    repeats: int = Field(5, ge=1, le=100, description="Number of shuffles per feature")
    within: Literal["dataset", "query"] = Field(
        "dataset",
        description="Shuffle values within the whole `dataset`, or within each `query`. The latter gives no"
        " importance to features that are constant within queries",
    )
    partial_dependence: PartialDependenceRequest = Field(default_factory=PartialDependenceRequest)
    seed: Seed = 42
    allow_absent_features: AllowAbsentFeatures = False


class DriftThresholdsRequest(RequestModel):
    """Differences of a feature or of the scores that count as drift: significance and size."""

    p: float = Field(
        0.01,
        gt=0,
        le=0.5,
        description="Significance level: maximum probability that a report finds drift where there is none",
    )
    psi: float = Field(0.2, gt=0, le=10, description="Minimum population stability index")
    missing: float = Field(
        0.1, gt=0, le=1, description="Minimum difference between the shares of documents without a value"
    )


class DriftRequest(QueuedRequest):
    """Compare the score samples of a model with its training data, and with earlier samples."""

    kind: Literal["drift"]
    model: ModelReference
    days: float = Field(7, gt=0, le=366, description="Number of most recent days whose samples are checked")
    compare_with_previous: bool = Field(
        True, description="Whether to compare them also with samples of the equally long period before"
    )
    dataset_id: Id | None = Field(
        None, description="Compare with this dataset instead of the training data of the model"
    )
    queries_by: Literal["id", "request"] = Field(
        "id",
        description="`id`: samples with the same id are one query, of which the latest counts; `request`:"
        " each sample is a separate query",
    )
    thresholds: DriftThresholdsRequest = Field(default_factory=DriftThresholdsRequest)
    seed: Seed = 42
