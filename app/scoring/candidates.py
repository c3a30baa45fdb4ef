"""Interfaces that every format of scoring requests implements: reader, candidates and ids."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from starlette.responses import Response

from app.scoring.served_models import ServedModel
from app.settings import ApiSettings
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
        """Return the number of documents of all queries."""

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
