"""Stored rankings."""

from datetime import datetime

from pydantic import Field

from app.datasets.schemas import Finding
from app.http.schemas import NextCursor, ResponseModel


class RankingEntry(ResponseModel):
    """A stored ranking in a list."""

    id: str = Field(examples=["rnk_01k9x3b1d5f8g2h4j6m2"])
    job_id: str = Field(examples=["job_01k9x2z4q7c8v5n3b6r1"])
    system: str = Field(description="What ranks", examples=["web:3"])
    model_id: str | None = Field(
        description="Null for a run from elsewhere", examples=["mdl_01k9x3a7d5f8g2h4j6k9"]
    )
    dataset_id: str = Field(examples=["ds_01k9x2m4q7c8v5n3b6r7"])
    queries: int = Field(examples=[6099])
    documents: int = Field(description="Over all queries", examples=[731880])
    created_at: datetime


class RankingPage(ResponseModel):
    """A page of rankings, newest first."""

    items: list[RankingEntry]
    next_cursor: NextCursor


class RankedDocument(ResponseModel):
    """A document of a stored ranking."""

    document_id: str = Field(examples=["GX029-35-5894638"])
    rank: int = Field(examples=[1])
    score: float = Field(examples=[2.31])
    label: float | None = Field(description="Its judged relevance", examples=[2.0])


class RankingItem(ResponseModel):
    """A query of a stored ranking."""

    query_id: str = Field(examples=["10032"])
    documents: list[RankedDocument]


class Ranking(ResponseModel):
    """A page of a stored ranking, by queries in the dataset's order."""

    id: str = Field(examples=["rnk_01k9x3b1d5f8g2h4j6m2"])
    system: str = Field(description="What ranks", examples=["web:3"])
    model_id: str | None = Field(
        description="Null for a run from elsewhere", examples=["mdl_01k9x3a7d5f8g2h4j6k9"]
    )
    dataset_id: str = Field(examples=["ds_01k9x2m4q7c8v5n3b6r7"])
    findings: list[Finding] | None = Field(
        None, description="What to know of the model on this dataset; null where there is nothing"
    )
    items: list[RankingItem]
    next_cursor: NextCursor
