"""Responses of evaluations: summaries and values per query."""

from datetime import datetime
from typing import Any

from pydantic import Field, field_validator

from app.datasets.schemas import DatasetName, ModelFindings
from app.http.labels import ShownProject
from app.http.schemas import Json, PageModel, ResponseModel, example, optional_text
from app.jobs.contract_schemas import NamedConventions
from core.evaluation import MIN_QUERIES
from core.store import Evaluation as EvaluationRow


class Interval(ResponseModel):
    """A mean with its confidence interval."""

    mean: float | None = Field(description="Mean over the queries where the metric is defined")
    lower: float | None = Field(description="Lower end of the 95 % interval of the mean")
    upper: float | None = Field(description="Upper end of the interval")


class MetricSummary(Interval):
    """One metric over all queries of a dataset."""

    quantiles: dict[str, float] | None = Field(
        None, description="Percentiles of the values over queries, `p05` to `p95`"
    )
    queries: int = Field(description="Number of queries where the metric is defined")
    skipped: int = Field(description="Number of queries where the metric is undefined")
    higher_is_better: bool = Field(True, description="Whether higher values are better")
    contract: dict[str, Any] = Field(description="Conventions that affect the metric")


class Baseline(ResponseModel):
    """A baseline without training, on the same data."""

    name: str = Field(examples=["best single feature"])
    detail: str = Field(examples=["bm25, highest first"])
    metrics: dict[str, Interval]


class Slice(ResponseModel):
    """A segment of the queries, in the list `slices`."""

    by: str = Field(description="Property that defines the segment", examples=["documents a query"])
    value: str = Field(description="Value of the property", examples=["11 to 20"])
    queries: int
    metrics: dict[str, Interval]


class LossDiagnostics(ResponseModel):
    """Diagnostics of a loss at the scores of the model."""

    loss: Json
    cutoff: int
    values: dict[str, float | None] = Field(
        description="Values by diagnostic, as described in `diagnostics` of `GET /v1/metrics`"
    )


_SUMMARY: Json = {"mean": 0.4512, "lower": 0.4467, "upper": 0.4559}
SUMMARY_EXAMPLE: Json = {
    **_SUMMARY,
    "quantiles": {"p05": 0.0, "p25": 0.2241, "p50": 0.4488, "p75": 0.6713, "p95": 0.9216},
    "queries": 6099,
    "skipped": 207,
    "higher_is_better": True,
    "contract": {"gain": "exp2", "discount": "log2", "queries_without_relevant": "skip", "ties": "stable"},
}
CONTRACT_EXAMPLE: Json = {
    "preset": "default",
    "gain": "exp2",
    "discount": "log2",
    "relevance_threshold": 0.0,
    "ties": "stable",
    "queries_without_relevant": "skip",
    "short_lists": "as_is",
    "precision_sum_over": "relevant",
    "max_label": 4,
}


class Evaluation(ResponseModel):
    """A model or a ranking measured on a dataset."""

    model_config = example(
        {
            "id": "evl_01k9x3b1d5f8g2h4j6k9",
            "job_id": "job_01k9x2z4q7c8v5n3b6r1",
            "system": "web:3",
            "model_id": "mdl_01k9x3a7d5f8g2h4j6k9",
            "ranking_id": None,
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r7",
            "contract": CONTRACT_EXAMPLE,
            "metrics": {"ndcg@10": SUMMARY_EXAMPLE},
            "baselines": [
                {
                    "name": "best single feature",
                    "detail": "bm25, highest first",
                    "metrics": {"ndcg@10": {"mean": 0.3102, "lower": 0.3051, "upper": 0.3155}},
                }
            ],
            "slices": [
                {
                    "by": "documents a query",
                    "value": "11 to 20",
                    "queries": 412,
                    "metrics": {"ndcg@10": _SUMMARY},
                }
            ],
            "diagnostics": None,
            "findings": None,
            "project": "web",
            "created_at": "2026-01-05T10:02:12Z",
        }
    )

    id: str
    job_id: str | None
    system: str = Field(
        description="Name of the system: `name:version` of the model, or the name of the ranking"
    )
    model_id: str | None = Field(description="Evaluated model; null for a ranking")
    ranking_id: str | None = Field(description="Evaluated ranking; null for a model")
    dataset_id: str
    contract: NamedConventions | None = Field(
        description="Requested conventions; null for evaluations created before conventions were stored"
    )
    metrics: dict[str, MetricSummary] = Field(validation_alias="summaries")
    baselines: list[Baseline] | None
    slices: list[Slice] | None = Field(description="Segments of at least 5 queries, grouped by property")
    diagnostics: LossDiagnostics | None
    findings: ModelFindings = None
    project: ShownProject
    created_at: datetime

    @field_validator("slices")
    @classmethod
    def _large_enough(cls, slices: list[Slice] | None) -> list[Slice] | None:
        """Leave out the smaller segments that evaluations of earlier releases stored."""
        return slices and [part for part in slices if part.queries >= MIN_QUERIES]


class EvaluationMetrics(ResponseModel):
    """The metrics of one of several evaluations."""

    id: str = Field(examples=["evl_01k9x3b1d5f8g2h4j6k9"])
    system: str = Field(description="Name of the system, as in the evaluation", examples=["web:3"])
    dataset_id: str = Field(examples=["ds_01k9x2m4q7c8v5n3b6r7"])
    metrics: dict[str, Interval] = Field(
        examples=[
            {
                "ndcg@1": {"mean": 0.4012, "lower": 0.3931, "upper": 0.4095},
                "ndcg@10": {"mean": 0.4512, "lower": 0.4467, "upper": 0.4559},
            }
        ]
    )


class EvaluationMetricsList(ResponseModel):
    """The metrics of several evaluations."""

    items: list[EvaluationMetrics] = Field(description="In the requested order")
    missing: list[str] = Field(description="Unknown ids", examples=[[]])


class EvaluationEntry(ResponseModel):
    """An evaluation in a list."""

    id: str = Field(examples=["evl_01k9x3b1d5f8g2h4j6k9"])
    job_id: str | None = Field(examples=["job_01k9x2z4q7c8v5n3b6r1"])
    system: str = Field(description="Name of the system", examples=["web:3"])
    model_id: str | None = Field(
        description="Evaluated model; null for a ranking", examples=["mdl_01k9x3a7d5f8g2h4j6k9"]
    )
    ranking_id: str | None = Field(description="Evaluated ranking; null for a model", examples=[None])
    dataset_id: str = Field(examples=["ds_01k9x2m4q7c8v5n3b6r7"])
    dataset_name: DatasetName = None
    metrics: dict[str, Interval] = Field(
        description="In the requested order",
        validation_alias="summaries",
        examples=[{"ndcg@10": _SUMMARY}],
    )
    project: ShownProject
    created_at: datetime

    @classmethod
    def of(cls, row: EvaluationRow, dataset_name: str | None) -> "EvaluationEntry":
        """Return the entry of a stored evaluation, with the name of its dataset."""
        return cls.model_validate(row).model_copy(update={"dataset_name": dataset_name})


class EvaluationPage(PageModel):
    """A page of evaluations, in the requested order."""

    items: list[EvaluationEntry]


class QuerySegment(ResponseModel):
    """A segment of the queries of a result, of at least 5 queries."""

    name: str = Field(
        description="Name of the segment, for the query parameter `segment`", examples=["market: de"]
    )
    by: str = Field(description="Property that defines the segment", examples=["market"])
    value: str = Field(description="Value of the property", examples=["de"])
    queries: int = Field(examples=[412])


class Histogram(ResponseModel):
    """Counts of queries by value."""

    of: str = Field(description="Name of the values", examples=["ndcg@10"])
    edges: list[float] = Field(
        description="Edges of the bins, one more than bins; only the last bin includes its upper edge",
        examples=[[0.0, 0.5, 1.0]],
    )
    counts: list[int] = Field(description="Queries in each bin", examples=[[3, 7]])
    undefined: int = Field(description="Queries without a value", examples=[1])


class QuerySummary(ResponseModel):
    """Statistics of the selected queries."""

    total: int = Field(description="Number of selected queries on all pages", examples=[6099])
    histogram: Histogram = Field(
        description="Values by which queries are sorted and filtered, for all queries of the segment"
    )
    segments: list[QuerySegment] = Field(
        description="Available segments; empty for results created before segments were stored"
    )


class QueryValues(ResponseModel):
    """The metrics of one query; null where a metric is undefined for it."""

    query_id: str = Field(examples=["10032"])
    query_text: str | None = optional_text("Text that the user searched for", "red shoes")
    values: dict[str, float | None] = Field(examples=[{"ndcg@10": 0.3126, "map": None}])


class QueryValuesPage(PageModel):
    """A page of queries, in the requested order."""

    items: list[QueryValues]
    summary: QuerySummary | None = Field(
        None, description="Summary of all selected queries; only on the first page"
    )
