"""Scoring requests and their answers."""

from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import Discriminator, Field, GetCoreSchemaHandler, Tag, WithJsonSchema
from pydantic_core import CoreSchema

from app.http.schemas import RequestModel, ResponseModel
from app.served.routes import MAX_ID_LENGTH

MAX_TOP_K = 2**31 - 1

CallerId = Annotated[str, Field(max_length=MAX_ID_LENGTH)]


def _features_form(value: Any) -> str | None:
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else None


@dataclass(frozen=True)
class _OneProblem:
    """Report one error for a value of the wrong type, not one for each accepted type."""

    message: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: Any = handler(source)
        schema["schema"]["custom_error_type"] = "feature_value"
        schema["schema"]["custom_error_message"] = self.message
        return cast("CoreSchema", schema)


# Whole numbers stay exact: categories may be ids of more digits than float64 represents.
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
FeatureValue = Annotated[
    Number | str | None, _OneProblem("must be a finite number, the text of a category, or null")
]
BlockValues = Annotated[list[float | None], Field(fail_fast=True)]
NamedValue = Annotated[
    Number | str | BlockValues | None,
    _OneProblem("must be a finite number, the text of a category, a list of finite numbers, or null"),
]
Features = Annotated[
    # Report one error per document: each of a million values may be invalid.
    Annotated[dict[str, NamedValue], Field(fail_fast=True), Tag("object")]
    | Annotated[list[FeatureValue], Field(fail_fast=True), Tag("array")],
    Discriminator(
        _features_form,
        custom_error_type="features_form",
        custom_error_message="must be an object by feature name or an array in the model's feature order",
    ),
    Field(
        description="An object by feature name, where omitted features are missing; or an array in the "
        "model's feature order. null is a missing value. A category is given by its text. In an object the"
        " name of an embedding column has the list of all its features.",
        examples=[{"bm25": 12.5, "pagerank": 0.3}],
    ),
]


class CandidateDocument(RequestModel):
    """A candidate document."""

    id: CallerId = Field(description="Id of the document, unique within the query", examples=["d1"])
    features: Features


class CandidateQuery(RequestModel):
    """A query with its candidate documents."""

    id: CallerId = Field(description="Id of the query, returned unchanged", examples=["q1"])
    documents: list[CandidateDocument] = Field(
        description="Candidate documents; documents with equal scores keep this order"
    )


class RankRequest(RequestModel):
    """Candidate documents of one or more queries."""

    queries: list[CandidateQuery] = Field(min_length=1)
    top_k: int | None = Field(
        None, ge=1, le=MAX_TOP_K, description="Number of documents to return per query; all when null"
    )
    explain: bool = Field(
        False,
        description="Whether to add each feature's contribution to the score of each returned document",
    )
    keep: bool = Field(
        False,
        description="Whether users see the rankings; if so, the service stores the share"
        " `RANKERY_RANKING_LOG_SHARE` of them, and each stored ranking has a `ranking_id`",
    )
    user: CallerId | None = Field(
        None,
        description="Any text that identifies the user; only its keyed hash is stored",
        examples=["u-17"],
    )
    session: CallerId | None = Field(
        None, description="Any text that identifies the user's visit; only its keyed hash is stored"
    )
    interleaving: CallerId | None = Field(
        None,
        description="Id of an interleaving of models, whose list is returned with the scores of this model."
        " The same user and query get the same list while it is stored",
        examples=["itl_01k9x2m4q7c8v5n3b6r1"],
    )


class RankingModel(ResponseModel):
    """The model version that scored."""

    id: str = Field(examples=["mdl_01k9x3a7d5f8g2h4j6k9"])
    name: str = Field(examples=["web"])
    version: int = Field(examples=[3])


class Contribution(ResponseModel):
    """The contribution of a feature to a document's score."""

    feature: str = Field(examples=["bm25"])
    value: float | str | None = Field(
        description="Value of the feature, or text of its category; null if missing", examples=[12.5]
    )
    contribution: float = Field(
        description="Shapley value for trees, integrated gradient for linear scorers and networks, weighted"
        " sum of both for sums",
        examples=[0.82],
    )


class Explanation(ResponseModel):
    """The explanation of a score, which is the sum of base and contributions.

    The sum is exact except for rounding for trees and linear scorers. For networks it is approximate:
    integration aims at an error of at most 0.01 % of the total change of the score along its path.
    """

    base: float = Field(
        description="Score before the contributions of the document's features", examples=[-0.11]
    )
    contributions: list[Contribution] = Field(
        description="Contributions other than 0, the largest absolute value first"
    )


class ScoredDocument(ResponseModel):
    """A ranked document with its score."""

    id: str = Field(examples=["d7"])
    rank: int = Field(description="Rank, from 1", examples=[1])
    score: float | None = Field(
        description="Raw score; comparable only within the query. Null for a document of an earlier"
        " interleaved list that is not among the candidates",
        examples=[2.31],
    )
    explanation: Explanation | None = Field(None, description="Explanation of the score; only with `explain`")


class RankedQuery(ResponseModel):
    """A query's documents, best first."""

    id: str = Field(examples=["q1"])
    ranking: list[ScoredDocument]
    ranking_id: str | None = Field(
        None,
        description="Id of a stored ranking, for `POST /v1/served-rankings/events`, or of an interleaved"
        " list",
        examples=["srv_01k9x2m4q7c8v5n3b6r2"],
        exclude_if=lambda ranking_id: ranking_id is None,
    )


class RankResponse(ResponseModel):
    """The ranked documents of each query."""

    model: RankingModel
    queries: list[RankedQuery]
