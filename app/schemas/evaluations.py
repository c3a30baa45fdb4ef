"""Evaluations as shown: summaries, and values of single queries."""

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from app.schemas.base import NextCursor, ResponseModel


class MetricSummary(ResponseModel):
    """One metric over all queries of a dataset."""

    mean: float | None = Field(description="Mean over the queries where the metric is defined")
    lower: float | None = Field(description="Lower end of the 95 % bootstrap interval of the mean")
    upper: float | None = Field(description="Upper end of the interval")
    queries: int = Field(description="Queries counted")
    skipped: int = Field(description="Queries where the metric is undefined")
    contract: dict[str, Any] = Field(
        description="Gain, discount, ties and empty-query policy behind the number"
    )


class Evaluation(ResponseModel):
    """A model measured on a dataset."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "id": "evl_01k9x3b1d5f8g2h4j6k9",
                    "job_id": "job_01k9x2z4q7c8v5n3b6r1",
                    "model_id": "mdl_01k9x3a7d5f8g2h4j6k9",
                    "dataset_id": "ds_01k9x2m4q7c8v5n3b6r7",
                    "metrics": {
                        "ndcg@10": {
                            "mean": 0.4512,
                            "lower": 0.4467,
                            "upper": 0.4559,
                            "queries": 6099,
                            "skipped": 207,
                            "contract": {
                                "gain": "exp2",
                                "discount": "log2",
                                "ties": "stable",
                                "queries_without_relevant": "skip",
                            },
                        }
                    },
                    "created_at": "2026-01-05T10:02:12Z",
                }
            ]
        },
    )

    id: str
    job_id: str | None
    model_id: str
    dataset_id: str
    metrics: dict[str, MetricSummary] = Field(validation_alias="summaries")
    created_at: datetime


class QueryValues(ResponseModel):
    """The metrics of one query; null where a metric is undefined for it."""

    query_id: str = Field(examples=["10032"])
    values: dict[str, float | None] = Field(examples=[{"ndcg@10": 0.3126, "map": None}])


class QueryValuesPage(ResponseModel):
    """A page of queries, in the dataset's order."""

    items: list[QueryValues]
    next_cursor: NextCursor
