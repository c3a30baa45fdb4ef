"""What the doctor says, as shown."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from app.schemas.base import ResponseModel

_EXAMPLE: dict[str, Any] = {
    "code": "one-label-queries",
    "severity": "info",
    "title": "1,204 of 18,919 queries have documents of one label only",
    "advice": "They teach a ranker nothing and may be left out.",
    "count": 1204,
    "total": 18_919,
    "unit": "queries",
    "examples": ["10032", "10047"],
    "example_kind": "query",
}


class Finding(ResponseModel):
    """One thing to know about a dataset, about two beside each other, or about a training."""

    model_config = ConfigDict(from_attributes=True, json_schema_extra={"examples": [_EXAMPLE]})

    code: str = Field(description="What it is, in a word that stays the same")
    severity: Literal["error", "warning", "info"] = Field(
        description="`error`: nothing can be learnt; `warning`: look before training; `info`: good to know"
    )
    title: str = Field(description="One sentence with the numbers")
    advice: str = Field(description="What to do")
    count: int = Field(description="How many are concerned")
    total: int = Field(description="Of how many")
    unit: str = Field(description="What is counted, such as queries, documents or features")
    examples: list[str] = Field(description="Up to ten of those concerned")
    example_kind: Literal["query", "feature", "document"] = Field(description="What the examples name")
    role: Literal["validation", "test"] | None = Field(
        None,
        description="Of a job's data, what was looked at beside the training data; queries named are its",
    )


class FeatureProfile(ResponseModel):
    """What the values of a feature are like."""

    name: str = Field(examples=["bm25"])
    minimum: float | None = Field(description="The smallest finite value", examples=[0.0])
    maximum: float | None = Field(description="The largest finite value", examples=[31.4])
    mean: float | None = Field(description="Mean of the finite values", examples=[7.9])
    missing: int = Field(description="Documents without a value", examples=[12])
    infinite: int = Field(description="Documents whose value is infinite", examples=[0])
    zeros: float = Field(description="Share of documents whose value is 0", examples=[0.25])
    constant: bool = Field(description="All documents have the same value", examples=[False])
    constant_in_queries: bool = Field(
        description="In every query all documents have the same value: useless to rank by", examples=[False]
    )
    ndcg_at_10: float | None = Field(
        description="NDCG@10 of ranking by this feature alone, on a sample of queries", examples=[0.41]
    )
    direction: str = Field(
        description="Whether it ranks better `descending` or `ascending`", examples=["descending"]
    )


class FeatureProfiles(ResponseModel):
    """All features of a dataset, in their order."""

    items: list[FeatureProfile]
