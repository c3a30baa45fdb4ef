"""What any training makes, whatever it trains."""

from collections.abc import Sequence
from typing import Protocol

from core.training.findings import Growth
from core.training.report import IterationReport


class TrainedModel(Protocol):
    """A trained model: trees, a linear scorer or a network."""

    @property
    def content(self) -> bytes:
        """Return the model as it is stored; `core.scorers.read_model` reads it."""

    @property
    def best_iteration(self) -> int:
        """Return the iteration that the model is of: trees kept, or the epoch of its weights."""

    @property
    def kept_iterations(self) -> int:
        """Return the same with the trees of the model that the training went on from."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the names of the features in column order."""

    @property
    def history(self) -> Sequence[IterationReport]:
        """Return one report an iteration."""

    @property
    def growth(self) -> Growth | None:
        """Return how far the training came, where that is suspiciously near."""


class TrainingCheckpoint(Protocol):
    """The state of a training after an iteration."""

    @property
    def history(self) -> Sequence[IterationReport]:
        """Return one report an iteration."""

    @property
    def iteration(self) -> int:
        """Return the iterations done."""

    def to_bytes(self) -> bytes:
        """Return the checkpoint as the content of a file."""
