"""What a form of scoring request consists of, for the comparison of its readers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.scoring.served_models import ServedModel
from app.settings import ApiSettings
from core.types import Float64Array

NAMES = ("bm25", "page rank", 'a "quoted" one', "größe", "age/days", "emb.0", "emb.1")
BLOCK = "emb"
OF_BLOCK = ("emb.0", "emb.1")


@dataclass(frozen=True)
class Sent:
    """A request.

    Attributes:
        path: Where it goes.
        content: Its body.
        headers: Its headers.
    """

    path: str
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What the application answered."""

    status: int
    content: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class ExpectedScores:
    """A request as the reference reads it.

    Attributes:
        features: (n_documents, n_features) to be scored, NaN where missing.
        expected: Makes what `Form.answered` is to find of the scores.
    """

    features: Float64Array
    expected: Callable[[Float64Array], Any]


class Refused(Exception):
    """The reference takes a request for a wrong one."""


class Form(Protocol):
    """A form of scoring request."""

    name: str

    def make(self, seed: int) -> Sent:
        """Make the mutated request of a seed."""

    def read(self, sent: Sent, settings: ApiSettings) -> ExpectedScores:
        """Read a request as the reference does.

        Raises:
            Refused: It is wrong.
        """

    def is_stricter(self, answer: Answer) -> bool:
        """Tell whether a refusal is by a rule that the reference does not have."""

    def answered(self, answer: Answer) -> Any:
        """Read an answer."""

    def compare_readers(self, sent: Sent, model: ServedModel, settings: ApiSettings) -> tuple[bool, str]:
        """Compare our quick reader with our general one: whether the quick one read it, and a difference."""


def require(holds: object) -> None:
    """Refuse a request of which something does not hold.

    Raises:
        Refused: It does not.
    """
    if not holds:
        raise Refused
