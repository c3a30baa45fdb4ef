"""Scoring requests and their answers."""

from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import Discriminator, Field, GetCoreSchemaHandler, Tag
from pydantic_core import CoreSchema

from app.http.schemas import RequestModel, ResponseModel

LONGEST_ID = 1024
MOST_RANKED = 2**31 - 1

CallerId = Annotated[str, Field(max_length=LONGEST_ID)]


def _features_form(value: Any) -> str | None:
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else None


@dataclass(frozen=True)
class _OneProblem:
    """Report one error for a value of the wrong type, not one for each accepted type.

    Attributes:
        message: Description of the accepted types.
    """

    message: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: Any = handler(source)
        schema["schema"]["custom_error_type"] = "feature_value"
        schema["schema"]["custom_error_message"] = self.message
        return cast("CoreSchema", schema)


FeatureValue = Annotated[
    float | str | None, _OneProblem("must be a finite number, the text of a category, or null")
]
BlockValues = Annotated[list[float | None], Field(fail_fast=True)]
NamedValue = Annotated[
    float | str | BlockValues | None,
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
        description="An object by feature name, where features left out are missing; or an array in the "
        "model's feature order. null is a missing value. A category is given by its text. In an object the"
        " name of an embedding column has the list of all its features.",
        examples=[{"bm25": 12.5, "pagerank": 0.3}],
    ),
]


class CandidateDocument(RequestModel):
    """A candidate document."""

    id: CallerId = Field(description="Unique within its query", examples=["d1"])
    features: Features


class CandidateQuery(RequestModel):
    """A query with its candidate documents."""

    id: CallerId = Field(description="Returned unchanged", examples=["q1"])
    documents: list[CandidateDocument] = Field(description="In the order that equal scores keep")


class RankRequest(RequestModel):
    """Candidate documents of one or more queries."""

    queries: list[CandidateQuery] = Field(min_length=1)
    top_k: int | None = Field(
        None, ge=1, le=MOST_RANKED, description="Documents returned a query; all when null"
    )
    explain: bool = Field(
        False,
        description="Whether to add each feature's contribution to the score of each returned document",
    )
    keep: bool = Field(
        False,
        description="Whether users see the rankings, so that the service keeps its share of them,"
        " `RANKERY_RANKING_LOG_SHARE`; a kept one has a `ranking_id`",
    )
    user: CallerId | None = Field(
        None, description="Any text that tells users apart; only its keyed hash is stored", examples=["u-17"]
    )
    session: CallerId | None = Field(
        None, description="Any text that tells their visits apart; only its keyed hash is stored"
    )
    interleaving: CallerId | None = Field(
        None,
        description="An interleaving of models: its list is returned, with the scores of this model. The same"
        " user and query keep their list",
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
        description="The document's, null where missing; the text of a category", examples=[12.5]
    )
    contribution: float = Field(
        description="Its Shapley value of trees, its integrated gradient of a network", examples=[0.82]
    )


class Explanation(ResponseModel):
    """The explanation of a score, which is the sum of base and contributions.

    The sum is exact except for rounding for trees and linear scorers. For networks it is within 0.01 % of the
    difference between score and base.
    """

    base: float = Field(description="Score without the document's features", examples=[-0.11])
    contributions: list[Contribution] = Field(description="But for those of 0, the greatest first")


class ScoredDocument(ResponseModel):
    """A ranked document with its score."""

    id: str = Field(examples=["d7"])
    rank: int = Field(description="1-based", examples=[1])
    score: float = Field(
        description="Raw score; only differences within a query mean anything", examples=[2.31]
    )
    explanation: Explanation | None = Field(None, description="Only with `explain`")


class RankedQuery(ResponseModel):
    """A query's documents, best first."""

    id: str = Field(examples=["q1"])
    ranking: list[ScoredDocument]
    ranking_id: str | None = Field(
        None,
        description="Of a kept ranking, for `POST /v1/served-rankings/events`, or of an interleaved list",
        examples=["srv_01k9x2m4q7c8v5n3b6r2"],
        exclude_if=lambda ranking_id: ranking_id is None,
    )


class RankResponse(ResponseModel):
    """The ranked documents of each query."""

    model: RankingModel
    queries: list[RankedQuery]
