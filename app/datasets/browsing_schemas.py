"""Responses to browse a dataset: features, queries, documents, corpus."""

from typing import Literal

from pydantic import Field

from app.datasets.schemas import PartName
from app.http.schemas import PageModel, ResponseModel, example, optional_text

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
        description="Order of the values that ranks better, `descending` or `ascending`",
        examples=["descending"],
    )


class FeatureProfiles(ResponseModel):
    """All features of a dataset, in their order."""

    items: list[FeatureProfile]


class Corpus(ResponseModel):
    """The public corpus that a dataset is recognised as, by comparison with published counts."""

    model_config = example(
        {
            "corpus": "MSLR-WEB30K",
            "fold": 1,
            "part": None,
            "as_printed": True,
            "sentence": "This is MSLR-WEB30K Fold1 as printed (Wang et al. 2018, table 1).",
            "sources": ["Wang et al. 2018, table 1"],
        }
    )

    corpus: str | None = Field(description="Name of the corpus; null if the counts match no known corpus")
    fold: int | None = Field(
        description="Number of the fold, from 1; null if the corpus has no folds or the fold is unknown"
    )
    part: PartName | None = Field(
        description="Part of the corpus, if only this part is stored as a dataset; null otherwise"
    )
    as_printed: bool = Field(
        description="Whether the counts equal the published counts; otherwise published results are only a"
        " rough guide"
    )
    sentence: str = Field(description="Description of the result as a sentence")
    sources: list[str] = Field(description="Publications that contain the counts")


class QueryEntry(ResponseModel):
    """One query of a dataset in a list."""

    query_id: str = Field(examples=["10032"])
    documents: int = Field(description="Number of documents of the query", examples=[120])
    relevant: int = Field(description="Documents with a label above 0", examples=[14])
    min_label: float | None = Field(
        description="Smallest label; null if no document has a label", examples=[0.0]
    )
    max_label: float | None = Field(examples=[4.0])
    query_text: str | None = optional_text("Text that the user searched for", "red shoes")
    columns: dict[str, str] = Field(description="Other columns of the query", examples=[{"market": "de"}])


class QueryPage(PageModel):
    """A page of queries, in the dataset's order."""

    items: list[QueryEntry]


class JudgedDocument(ResponseModel):
    """A judged document."""

    document_id: str = Field(examples=["GX029-35-5894638"])
    document_title: str | None = optional_text("Title of the document", "Red running shoe")
    document_url: str | None = optional_text(
        "URL of the document as uploaded, with any scheme", "https://shop.example/sku-1"
    )
    label: float | None = Field(
        description="Judged label; null if the document was not judged", examples=[2.0]
    )
    weight: float | None = Field(
        None, description="Weight of the document, if documents have weights", examples=[1.0]
    )
    columns: dict[str, str] = Field(
        default_factory=dict,
        description="Other columns of the document, such as those from comments of LETOR text",
        examples=[{"inc": "1", "prob": "0.0246906"}],
    )
    features: list[Value] = Field(
        description="Values in the order of `feature_names`; null is a missing value, infinities are strings",
        examples=[[12.5, 0.3, None]],
    )


class JudgedQuery(ResponseModel):
    """A query with some of its documents."""

    query_id: str = Field(examples=["10032"])
    query_text: str | None = optional_text("Text that the user searched for", "red shoes")
    weight: float | None = Field(description="Weight of the query, if queries have weights", examples=[None])
    columns: dict[str, str] = Field(description="Other columns of the query", examples=[{"market": "de"}])
    total: int = Field(description="Number of documents of the query", examples=[120])
    offset: int = Field(description="Documents before the first one shown", examples=[0])
    feature_names: list[str] = Field(examples=[["bm25", "pagerank", "clicks"]])
    documents: list[JudgedDocument]
    categories: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="Texts of the categories of the documents, by feature and code, the value in `features`",
        examples=[{"brand": {"0": "acme", "7": "zenith"}}],
        exclude_if=lambda categories: not categories,
    )
