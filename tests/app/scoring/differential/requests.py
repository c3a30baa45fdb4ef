"""Parts of a scoring request, for the comparison of its readers."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from app.scoring.served_models import ServedModel
from app.settings import ApiSettings
from core.types import Float64Array

NAMES = ("bm25", "page rank", 'a "quoted" one', "größe", "age/days", "emb.0", "emb.1")
BLOCK = "emb"
BLOCK_FEATURES = ("emb.0", "emb.1")
WEB, IMPORTED = "web", "imported"  # one text, stored as trained here (float32) and as imported (float64)
GRID = 0.5  # step of the training data; thresholds lie between its multiples
_ZERO = float(np.float32(1e-35))  # LightGBM treats values up to this one as 0


@dataclass(frozen=True)
class Sent:
    """A scoring request to send.

    Attributes:
        path: Path of the request.
        content: Body of the request.
        headers: Headers of the request.
    """

    path: str
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """Answer of the application."""

    status: int
    content: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class ExpectedScores:
    """A request as the reference reads it.

    Attributes:
        features: (n_documents, n_features) as they were sent, NaN where missing.
        expected: Function of the scores that returns the expected result of `Form.answered`.
    """

    features: Float64Array
    expected: Callable[[Float64Array], Any]


class Refused(Exception):
    """The reference refuses a request."""


class Form(Protocol):
    """A form of scoring request."""

    name: str

    def make(self, seed: int) -> Sent:
        """Make the mutated request of a seed, to the model `WEB`."""

    def read(self, sent: Sent, settings: ApiSettings) -> ExpectedScores:
        """Read a request as the reference does.

        Raises:
            Refused: The request is wrong.
        """

    def is_stricter(self, answer: Answer) -> bool:
        """Return whether a refusal is by a rule that the reference does not have."""

    def answered_scores(self, answer: Answer) -> Any:
        """Return the scores of an answer, in the structure that `ExpectedScores.expected` returns."""

    def compare_readers(self, sent: Sent, model: ServedModel, settings: ApiSettings) -> tuple[bool, str]:
        """Compare the fast path with the slow one; return whether the fast one read it, and a difference."""


def cell(generator: random.Random) -> float:
    """Draw a value: a normal one, or one within a step of float64 or float32 of a threshold."""
    if generator.random() < 0.5:
        return generator.gauss(0, 1)
    middle = generator.choice((*np.arange(-2, 2, GRID) + GRID / 2, -_ZERO, _ZERO))
    towards = generator.choice((-np.inf, middle, np.inf))
    if generator.random() < 0.3:
        return float(np.nextafter(np.float32(middle), np.float32(towards)))
    # LightGBM puts a threshold a step above the middle, except for that beside 0.
    threshold = middle if abs(middle) == _ZERO else np.nextafter(middle, np.inf)
    return float(np.nextafter(threshold, towards))


def require(holds: object) -> None:
    """Refuse a request that does not meet a condition.

    Raises:
        Refused: The condition does not hold.
    """
    if not holds:
        raise Refused
