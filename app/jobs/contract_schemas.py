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


_GAIN = "Gain of a label y: 2^y − 1, y, or a list of gains by label"
_DISCOUNT = (
    "Divisor of the gain at rank r. `log2`: log2(1 + r); `reciprocal`: r; `letor`: 1 at ranks 1 and 2, then"
    " log2(r)."
)
_EMPTY_QUERIES = "`skip` omits these queries from means; otherwise the value that they are counted with"
_PRECISION_SUM_OVER = (
    "Divisor of average precision@k: `relevant`, the number of relevant documents; `reachable`, the smaller"
    " of that number and k"
)


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
    ) = Field(None, description=_GAIN)
    discount: Discount | None = Field(
        None,
        description=_DISCOUNT,
    )
    relevance_threshold: float | None = Field(None, description="Labels above this value are relevant")
    ties: Ties | None = Field(
        None, description="Equal scores: input order, larger document id first, or the mean over their orders"
    )
    queries_without_relevant: EmptyQueries | None = Field(
        None,
        description=_EMPTY_QUERIES,
    )
    short_lists: ShortLists | None = Field(
        None, description="NDCG@k of queries with fewer than k documents: as it is, or 0"
    )
    precision_sum_over: PrecisionSumOver | None = Field(
        None,
        description=_PRECISION_SUM_OVER,
    )
    max_label: int | None = Field(None, ge=1, le=1000, description="Label of a perfect document, for ERR")
    max_documents: int | None = Field(
        None,
        ge=1,
        le=2**31 - 1,
        description="Top documents of each query to evaluate; null keeps the preset's value, which is all"
        " documents (trec_eval's -M)",
    )
    judged_only: bool | None = Field(
        None,
        description="Omit documents without a label, or with a label below 0, from rankings (trec_eval's -J)",
    )


def _contract_form(value: Any) -> str:
    return "preset" if isinstance(value, str) else "conventions"


Contract = Annotated[
    Annotated[Preset, Tag("preset")] | Annotated[ContractRequest, Tag("conventions")],
    Discriminator(_contract_form),
    Field(
        description="Conventions of the metrics: a preset that reproduces a tool, or a preset with changes",
        examples=["trec_eval", {"preset": "lightgbm", "gain": [0, 1, 3, 7]}],
    ),
]


class Conventions(ResponseModel):
    """The conventions in which two tools may differ on the same metric."""

    gain: Gain = Field(description=_GAIN)
    discount: Discount = Field(description=_DISCOUNT)
    relevance_threshold: float = Field(description="Labels above this value are relevant")
    ties: Ties = Field(description="Order of equal scores")
    queries_without_relevant: EmptyQueries = Field(description=_EMPTY_QUERIES)
    short_lists: ShortLists = Field(description="NDCG@k of queries with fewer than k documents")
    precision_sum_over: PrecisionSumOver = Field(description=_PRECISION_SUM_OVER)
    max_label: int = Field(description="Label of a perfect document, for ERR")
    max_documents: int | None = Field(
        None, description="Number of top documents of each query to evaluate; all when null"
    )
    judged_only: bool = Field(
        False,
        description="Whether documents without a label, or with a label below 0, are omitted from rankings",
    )


class NamedConventions(Conventions):
    """Conventions, with the name of the preset that has exactly these conventions."""

    preset: Preset | None = Field(
        description="Name of the preset with these conventions; null if there is none"
    )
