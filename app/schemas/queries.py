"""Queries of a dataset and their documents, for looking at data."""

from typing import Literal

from pydantic import Field

from app.schemas.base import NextCursor, ResponseModel

Value = float | Literal["Infinity", "-Infinity"] | None


class QueryEntry(ResponseModel):
    """One query of a dataset in a list."""

    query_id: str = Field(examples=["10032"])
    documents: int = Field(description="How many it has", examples=[120])
    relevant: int = Field(description="Documents with a label above 0", examples=[14])
    min_label: float | None = Field(description="Null where no document has a label", examples=[0.0])
    max_label: float | None = Field(examples=[4.0])
    columns: dict[str, str] = Field(description="What else is known of it", examples=[{"market": "de"}])


class QueryPage(ResponseModel):
    """A page of queries, in the dataset's order."""

    items: list[QueryEntry]
    next_cursor: NextCursor


class JudgedDocument(ResponseModel):
    """A document as it was judged."""

    document_id: str = Field(examples=["GX029-35-5894638"])
    label: float | None = Field(description="Null where it was not judged", examples=[2.0])
    weight: float | None = Field(None, description="Its weight, where documents have weights", examples=[1.0])
    columns: dict[str, str] = Field(
        default_factory=dict,
        description="What else is known of it, from the comments of LETOR text",
        examples=[{"inc": "1", "prob": "0.0246906"}],
    )
    features: list[Value] = Field(
        description="In the order of `feature_names`; null is missing, infinities are text",
        examples=[[12.5, 0.3, None]],
    )


class JudgedQuery(ResponseModel):
    """A query with some of its documents."""

    query_id: str = Field(examples=["10032"])
    weight: float | None = Field(description="Its weight, where queries have weights", examples=[None])
    columns: dict[str, str] = Field(description="What else is known of it", examples=[{"market": "de"}])
    total: int = Field(description="How many documents it has", examples=[120])
    offset: int = Field(description="Documents before the first one shown", examples=[0])
    feature_names: list[str] = Field(examples=[["bm25", "pagerank", "clicks"]])
    documents: list[JudgedDocument]
