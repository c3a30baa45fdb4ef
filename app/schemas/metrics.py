"""Metrics as catalogue entries."""

from typing import Any

from pydantic import Field

from app.schemas.base import ResponseModel


class MetricDescription(ResponseModel):
    """A metric in the catalogue."""

    name: str = Field(description="Spelling without a cutoff", examples=["ndcg"])
    summary: str = Field(description="One line", examples=["Normalised discounted cumulative gain"])
    formula: str = Field(description="As in its source", examples=["DCG@k / maxDCG@k"])
    source: str = Field(description="Where it comes from", examples=["Järvelin and Kekäläinen 2002"])
    higher_is_better: bool = Field(description="Whether more is better", examples=[True])
    examples: list[str] = Field(description="Spellings that jobs accept", examples=[["ndcg", "ndcg@10"]])
    contract: dict[str, Any] = Field(description="Conventions behind its numbers")


class MetricCatalogue(ResponseModel):
    """All metrics that jobs may name."""

    items: list[MetricDescription]
