"""Responses to browse a dataset: features, queries, documents, corpus."""

from typing import Literal

from pydantic import ConfigDict, Field

from app.datasets.schemas import PartName
from app.http.schemas import NextCursor, ResponseModel, optional_text

Value = float | Literal["Infinity", "-Infinity"] | None


class FeatureProfile(ResponseModel):
    """The distribution of a feature's values."""

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


class Corpus(ResponseModel):
    """The public corpus that a dataset is recognised as, by comparison with published counts."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "corpus": "MSLR-WEB30K",
                    "fold": 1,
                    "part": None,
                    "as_printed": True,
                    "sentence": "This is MSLR-WEB30K Fold1 as printed (Wang et al. 2018, table 1).",
                    "sources": ["Wang et al. 2018, table 1"],
                }
            ]
        },
    )

    corpus: str | None = Field(description="Its name; null where the counts are those of none")
    fold: int | None = Field(description="The fold, from 1; null where there are none or it is not known")
    part: PartName | None = Field(
        description="Of a dataset that is one part, and whose other parts are not datasets here"
    )
    as_printed: bool = Field(
        description="Whether the counts are printed; numbers printed for other data are for orientation only"
    )
    sentence: str = Field(description="The answer for people")
    sources: list[str] = Field(description="Where the counts are printed")


class QueryEntry(ResponseModel):
    """One query of a dataset in a list."""

    query_id: str = Field(examples=["10032"])
    documents: int = Field(description="How many it has", examples=[120])
    relevant: int = Field(description="Documents with a label above 0", examples=[14])
    min_label: float | None = Field(description="Null where no document has a label", examples=[0.0])
    max_label: float | None = Field(examples=[4.0])
    query_text: str | None = optional_text("What the user searched for", "red shoes")
    columns: dict[str, str] = Field(description="What else is known of it", examples=[{"market": "de"}])


class QueryPage(ResponseModel):
    """A page of queries, in the dataset's order."""

    items: list[QueryEntry]
    next_cursor: NextCursor


class JudgedDocument(ResponseModel):
    """A judged document."""

    document_id: str = Field(examples=["GX029-35-5894638"])
    document_title: str | None = optional_text("Its title", "Red running shoe")
    document_url: str | None = optional_text(
        "Its address as uploaded; it may be of any scheme", "https://shop.example/sku-1"
    )
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
    query_text: str | None = optional_text("What the user searched for", "red shoes")
    weight: float | None = Field(description="Its weight, where queries have weights", examples=[None])
    columns: dict[str, str] = Field(description="What else is known of it", examples=[{"market": "de"}])
    total: int = Field(description="How many documents it has", examples=[120])
    offset: int = Field(description="Documents before the first one shown", examples=[0])
    feature_names: list[str] = Field(examples=[["bm25", "pagerank", "clicks"]])
    documents: list[JudgedDocument]
