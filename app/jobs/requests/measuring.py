"""Requests to evaluate, rank, compare and inspect, and to detect drift."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from app.datasets.hold_out_schemas import LabelMap, tag_by_field
from app.http.schemas import Id, ModelReference, RequestModel
from app.jobs.contract_schemas import Contract
from app.jobs.parameter_schemas import FeatureName, LossRequest
from app.jobs.requests import fields


class LossDiagnosticsRequest(RequestModel):
    """Compute diagnostics of a loss at the scores of a model."""

    loss: LossRequest
    cutoff: int = Field(10, ge=1, le=10_000, description="Number of top documents to examine, k")


class EvaluateRequest(fields.QueuedRequest):
    """Evaluate a model or a stored ranking on a dataset."""

    kind: Literal["evaluate"]
    model: ModelReference | None = Field(None, description="Model to evaluate, instead of `ranking_id`")
    ranking_id: Id | None = Field(
        None, description="A stored ranking, joined with the dataset by query and document ids"
    )
    dataset_id: Id = Field(description="A ready dataset")
    metrics: fields.MetricNames = Field(default_factory=lambda: list(fields.DEFAULT_METRICS))
    contract: Contract = "default"
    diagnostics: LossDiagnosticsRequest | None = Field(
        None, description="Diagnostics of a loss; requires `model`"
    )
    label_map: LabelMap = Field(default_factory=dict)
    seed: fields.Seed = 42
    allow_absent_features: fields.AllowAbsentFeatures = False


class RankDatasetRequest(fields.QueuedRequest):
    """Order a dataset's documents by a model."""

    kind: Literal["rank"]
    model: ModelReference
    dataset_id: Id = Field(description="A ready dataset")
    allow_absent_features: fields.AllowAbsentFeatures = False


class ModelSystem(RequestModel):
    """A model to compare."""

    model: ModelReference


class RankingSystem(RequestModel):
    """A ranking to compare: an uploaded run, or one that an earlier job stored."""

    ranking_id: Id = Field(examples=["rnk_01k9x3b1d5f8g2h4j6m2"])


SystemRequest = Annotated[
    Annotated[ModelSystem, Tag("model")] | Annotated[RankingSystem, Tag("ranking_id")],
    Discriminator(
        tag_by_field({"model": "model", "ranking_id": "ranking_id"}),
        custom_error_type="system_form",
        custom_error_message='must be {"model": "web:3"} or {"ranking_id": "rnk_…"}',
    ),
]


class CompareRequest(fields.QueuedRequest):
    """Compare models and rankings, query by query, on one dataset."""

    kind: Literal["compare"]
    dataset_id: Id = Field(description="A ready dataset")
    systems: list[SystemRequest] = Field(
        min_length=2,
        max_length=20,
        description="Systems to compare; each is compared with all systems listed before it",
    )
    reference: int | None = Field(
        None,
        ge=0,
        le=19,
        description="Index of the baseline in `systems`, from 0: compare the other systems only with this"
        " one",
        examples=[0],
    )
    correction: Literal["holm", "none"] = Field(
        "holm",
        description="Multiple-comparison correction of the p-values; use `none` for a single planned test",
    )
    pool_folds: bool = Field(
        False,
        description="Rank each query by the fold model that was not trained on the query. Models must"
        " have been cross-validated on this dataset; rankings are compared as they are",
    )
    metrics: fields.MetricNames = Field(
        default_factory=lambda: list(fields.DEFAULT_METRICS),
        description="Metrics to compare by; the first one decides",
    )
    contract: Contract = "default"
    permutations: fields.Permutations = 100_000
    label_map: LabelMap = Field(default_factory=dict)
    seed: fields.Seed = 42
    allow_absent_features: fields.AllowAbsentFeatures = False


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


class InspectRequest(fields.QueuedRequest):
    """Measure permutation importance and partial dependence of a model on a dataset."""

    kind: Literal["inspect"]
    model: ModelReference
    dataset_id: Id = Field(description="A ready dataset")
    metric: fields.MetricName = Field(
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
    seed: fields.Seed = 42
    allow_absent_features: fields.AllowAbsentFeatures = False


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


class DriftRequest(fields.QueuedRequest):
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
    seed: fields.Seed = 42
