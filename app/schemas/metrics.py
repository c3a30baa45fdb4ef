"""Metrics as catalogue entries."""

from typing import Any

from pydantic import Field

from app.schemas.base import ResponseModel


class MetricDescription(ResponseModel):
    """A metric in the catalogue."""

    name: str = Field(description="Spelling without a cutoff", examples=["ndcg"])
    summary: str = Field(description="One line", examples=["Normalised discounted cumulative gain"])
    examples: list[str] = Field(description="Spellings that jobs accept", examples=[["ndcg", "ndcg@10"]])
    contract: dict[str, Any] = Field(description="Conventions behind its numbers")


class MetricCatalogue(ResponseModel):
    """All metrics that jobs may name."""

    items: list[MetricDescription]
