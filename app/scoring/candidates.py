"""The interface of scoring requests: read, score and answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from starlette.responses import Response

from app.scoring.served_models import ServedModel
from app.settings import ApiSettings
from core.types import Float64Array, FloatArray


@dataclass(frozen=True)
class CandidateIds:
    """The ids of candidates.

    Attributes:
        queries: Of each query, None where the request names none.
        documents: Of the documents of each query, in their order; None where the request names none.
    """

    queries: Sequence[str | None]
    documents: Sequence[Sequence[str | None]]


class Candidates(Protocol):
    """Documents to score, as they came in a request."""

    @property
    def n_documents(self) -> int:
        """Documents of all queries."""

    def matrix(self, model: ServedModel) -> FloatArray:
        """Return the features, (n_documents, n_features), NaN where missing.

        Raises:
            InvalidInput: A form whose numbers are read only now has wrong ones.
        """

    def ids(self) -> CandidateIds:
        """Return the ids of the queries and documents."""

    def answer(self, model: ServedModel, scores: Float64Array) -> Response:
        """Return the response in the form of the request; scores are (n_documents,)."""


Form = TypeVar("Form", bound=Candidates | None, covariant=True)


class CandidateReader(Protocol[Form]):
    """The body of a scoring request and the form it is read in."""

    @property
    def is_brief(self) -> bool:
        """Whether it may be read on the event loop."""

    def read(self, model: ServedModel, settings: ApiSettings) -> Form:
        """Return the candidates.

        A quick reader returns None for requests that another has to read or refuse.

        Raises:
            InvalidInput: The request is wrong, or holds more than is scored in one request.
        """
