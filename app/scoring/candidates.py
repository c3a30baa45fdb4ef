"""Interfaces that every format of scoring requests implements; scores of candidates in any format."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from starlette.responses import Response

from app.scoring.served_models import ServedModel
from app.settings import ApiSettings
from core.errors import ScoreNotFinite
from core.types import Float64Array, FloatArray


@dataclass(frozen=True)
class CandidateIds:
    """The ids of candidates.

    Attributes:
        queries: Id of each query, None where the request names none.
        documents: Ids of the documents of each query, in their order; None where the request names
            none.
    """

    queries: Sequence[str | None]
    documents: Sequence[Sequence[str | None]]


class Candidates(Protocol):
    """Documents to score, in the format of the request."""

    @property
    def n_documents(self) -> int:
        """The number of documents of all queries."""

    def matrix(self, model: ServedModel) -> FloatArray:
        """Return the features, (n_documents, n_features), NaN where missing.

        Raises:
            InvalidInput: A value is invalid; some formats parse their numbers only here.
        """

    def ids(self) -> CandidateIds:
        """Return the ids of the queries and documents."""

    def answer(self, model: ServedModel, scores: Float64Array) -> Response:
        """Return the response in the format of the request; scores are (n_documents,)."""


class CandidateReader(ABC):
    """Reader of one scoring request's body in one format; each instance reads one body."""

    @abstractmethod
    async def read(self, model: ServedModel, settings: ApiSettings) -> Candidates:
        """Return the candidates, read on the event loop or in a thread.

        Raises:
            InvalidInput: The request is wrong or too large.
        """

    async def check(self, settings: ApiSettings) -> None:  # noqa: B027 - most forms have nothing to check
        """Refuse a body that is invalid for every model; its errors take precedence over `NotFound`."""


def scores_of(model: ServedModel, candidates: Candidates, features: FloatArray) -> Float64Array:
    """Return the scores, (n_documents,), of the features of candidates.

    Raises:
        ScoreNotFinite: A score is NaN or infinite; the error names the model and the document.
    """
    try:
        return model.score(features)
    except ScoreNotFinite as error:
        raise error.of(f"{model.name}:{model.version}", _document_phrase(candidates, error.row)) from error


def _document_phrase(candidates: Candidates, row: int) -> str | None:
    """Return a phrase with the ids of a document, None where the request has none."""
    ids = candidates.ids()
    for query, documents in zip(ids.queries, ids.documents, strict=True):
        if row < len(documents):
            document = documents[row]
            of_query = "" if query is None else f" of query {query!r}"
            return None if document is None else f"document {document!r}{of_query}"
        row -= len(documents)
    return None
