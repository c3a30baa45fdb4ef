"""Interfaces of trained models and checkpoints, for trees and networks."""

from collections.abc import Sequence
from typing import Protocol

from core.training.findings import Growth
from core.training.report import IterationReport


class TrainedModel(Protocol):
    """A trained model: trees, a linear scorer or a network."""

    @property
    def content(self) -> bytes:
        """Return the model in its stored form; `core.scorers.read_model` reads it."""

    @property
    def best_iteration(self) -> int:
        """Return the iteration of the model: trees kept, or the epoch of its weights."""

    @property
    def kept_iterations(self) -> int:
        """Return the same including the trees of the initial model."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the names of the features in column order."""

    @property
    def history(self) -> Sequence[IterationReport]:
        """Return one report for each iteration."""

    @property
    def growth(self) -> Growth | None:
        """Return the growth of a training that ended suspiciously early, else None."""


class TrainingCheckpoint(Protocol):
    """The state of a training after an iteration."""

    @property
    def history(self) -> Sequence[IterationReport]:
        """Return one report for each iteration."""

    @property
    def iteration(self) -> int:
        """Return the iterations done."""

    def to_bytes(self) -> bytes:
        """Return the checkpoint as the content of a file."""
