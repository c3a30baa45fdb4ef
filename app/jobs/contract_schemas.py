"""Metric conventions in requests and responses."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from app.http.schemas import RequestModel, ResponseModel

Preset = Literal["default", "lightgbm", "xgboost", "sklearn", "trec_eval", "letor"]
Gain = Literal["exp2", "linear"] | list[float]
Discount = Literal["log2", "letor", "reciprocal"]
Ties = Literal["stable", "docid", "average"]
EmptyQueries = Literal["skip", 0, 1]
ShortLists = Literal["as_is", "zero"]
PrecisionSumOver = Literal["relevant", "reachable"]


def _gain_form(value: Any) -> str:
    return "list" if isinstance(value, list) else "name"


class ContractRequest(RequestModel):
    """A preset with some conventions changed; a null convention keeps the value of the preset."""

    preset: Preset = "default"
    gain: (
        Annotated[
            Annotated[Literal["exp2", "linear"], Tag("name")]
            | Annotated[list[float], Field(min_length=1, max_length=1000), Tag("list")],
            Discriminator(_gain_form),
        ]
        | None
    ) = Field(None, description="What a label is worth: 2^y − 1, y, or a list by label")
    discount: Discount | None = Field(None, description="D(r): log2(1 + r), LETOR's, or r")
    relevance_threshold: float | None = Field(None, description="Relevant is a label above it")
    ties: Ties | None = Field(
        None, description="Equal scores: input order, larger document id first, or the mean over their orders"
    )
    queries_without_relevant: EmptyQueries | None = Field(
        None, description="Left out of means, or the value that they count with"
    )
    short_lists: ShortLists | None = Field(
        None, description="NDCG@k of queries with fewer than k documents: as it is, or 0"
    )
    precision_sum_over: PrecisionSumOver | None = Field(
        None, description="Average precision@k divides by the relevant documents, or by min(that, k)"
    )
    max_label: int | None = Field(None, ge=1, le=1000, description="Label of a perfect document, for ERR")
    max_documents: int | None = Field(
        None,
        ge=1,
        le=2**31 - 1,
        description="Only so many documents of each query's ranking count, all when null: trec_eval's -M",
    )
    judged_only: bool | None = Field(
        None, description="Leave documents that are not judged, or below 0, out of rankings: trec_eval's -J"
    )


def _contract_form(value: Any) -> str:
    return "preset" if isinstance(value, str) else "conventions"


Contract = Annotated[
    Annotated[Preset, Tag("preset")] | Annotated[ContractRequest, Tag("conventions")],
    Discriminator(_contract_form),
    Field(
        description="What the metrics agree on: a preset that reproduces a tool, or one with changes",
        examples=["trec_eval", {"preset": "lightgbm", "gain": [0, 1, 3, 7]}],
    ),
]


class Conventions(ResponseModel):
    """The conventions in which two tools may differ on the same metric."""

    gain: Gain = Field(description="What a label is worth: 2^y − 1, y, or a list by label")
    discount: Discount = Field(description="D(r): log2(1 + r), LETOR's, or r")
    relevance_threshold: float = Field(description="Relevant is a label above it")
    ties: Ties = Field(description="Order of equal scores")
    queries_without_relevant: EmptyQueries = Field(description="Left out of means, or what they count with")
    short_lists: ShortLists = Field(description="NDCG@k of queries with fewer than k documents")
    precision_sum_over: PrecisionSumOver = Field(description="What average precision@k is divided by")
    max_label: int = Field(description="Label of a perfect document, for ERR")
    max_documents: int | None = Field(
        None, description="So many documents of each query's ranking count, all when null"
    )
    judged_only: bool = Field(
        False, description="Whether documents that are not judged, or below 0, are left out of rankings"
    )


class NamedConventions(Conventions):
    """Conventions, with the name of the preset that has exactly these conventions."""

    preset: Preset | None = Field(description="Null where they are none")
