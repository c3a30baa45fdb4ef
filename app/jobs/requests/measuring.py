"""Requests to evaluate, rank and compare."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from app.datasets.hold_out_schemas import LabelMap
from app.http.schemas import Id, ModelReference, RequestModel
from app.jobs.contract_schemas import Contract
from app.jobs.parameter_schemas import LossRequest
from app.jobs.requests.fields import (
    DEFAULT_METRICS,
    AllowAbsentFeatures,
    MetricNames,
    Permutations,
    QueuedRequest,
    Seed,
)


class LossDiagnosticsRequest(RequestModel):
    """Compute diagnostics of a loss at the scores of a model."""

    loss: LossRequest
    cutoff: int = Field(10, ge=1, le=10_000, description="Number of top documents to examine, k")


class EvaluateRequest(QueuedRequest):
    """Evaluate a model or a stored ranking on a dataset."""

    kind: Literal["evaluate"]
    model: ModelReference | None = Field(None, description="Model to evaluate, instead of `ranking_id`")
    ranking_id: Id | None = Field(
        None, description="A stored ranking, joined with the dataset by query and document ids"
    )
    dataset_id: Id = Field(description="A ready dataset")
    metrics: MetricNames = Field(default_factory=lambda: list(DEFAULT_METRICS))
    contract: Contract = "default"
    diagnostics: LossDiagnosticsRequest | None = Field(
        None, description="Diagnostics of a loss; requires `model`"
    )
    label_map: LabelMap = Field(default_factory=dict)
    seed: Seed = 42
    allow_absent_features: AllowAbsentFeatures = False


class RankDatasetRequest(QueuedRequest):
    """Order a dataset's documents by a model."""

    kind: Literal["rank"]
    model: ModelReference
    dataset_id: Id = Field(description="A ready dataset")
    allow_absent_features: AllowAbsentFeatures = False


class ModelSystem(RequestModel):
    """A model to compare."""

    model: ModelReference


class RankingSystem(RequestModel):
    """A ranking to compare: an uploaded run, or one that an earlier job stored."""

    ranking_id: Id = Field(examples=["rnk_01k9x3b1d5f8g2h4j6m2"])


def _system_form(value: Any) -> str | None:
    for name in ("model", "ranking_id"):
        if (isinstance(value, dict) and name in value) or hasattr(value, name):
            return name
    return None


SystemRequest = Annotated[
    Annotated[ModelSystem, Tag("model")] | Annotated[RankingSystem, Tag("ranking_id")],
    Discriminator(
        _system_form,
        custom_error_type="system_form",
        custom_error_message='must be {"model": "web:3"} or {"ranking_id": "rnk_…"}',
    ),
]


class CompareRequest(QueuedRequest):
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
    metrics: MetricNames = Field(
        default_factory=lambda: list(DEFAULT_METRICS),
        description="Metrics to compare by; the first one decides",
    )
    contract: Contract = "default"
    permutations: Permutations = 100_000
    label_map: LabelMap = Field(default_factory=dict)
    seed: Seed = 42
    allow_absent_features: AllowAbsentFeatures = False
