"""Reports of iterations, and interfaces of trained models and checkpoints, for trees and networks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.training.findings import Growth

Values = Mapping[str, Mapping[str, float | None]]


class EndTraining(Exception):
    """Raised by a callback of a training to end it; the model is that of the best iteration so far."""


@dataclass(frozen=True)
class IterationReport:
    """The report of an iteration.

    Attributes:
        iteration: 1-based number of the iteration.
        values: Mean metrics by dataset ("train", "validation") and spelling, None where undefined; "train"
            also has "loss", the mean loss of the training queries. Empty where the iteration is not measured.
            "diagnostics" has diagnostics of the loss before the iteration, see `core.diagnostics`.
        best_iteration: Best iteration so far on validation, 1 before the first value; the current one where
            validation data do not select.
        milliseconds: Wall time by part: "objective", "tree", "network", "exchange", "metrics" and
            "diagnostics". "objective" is our gradient and loss, and "tree" the rest of LightGBM's update.
            "network" is scores and steps of a network, and "exchange" messages between ranks. Where the loss
            is measured, the gradient of the next tree is computed together with the loss. Comparisons of
            reports ignore times.
    """

    iteration: int
    total: int
    values: Values
    best_iteration: int
    milliseconds: Mapping[str, float] = field(default_factory=dict, compare=False)


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
        """Return `best_iteration` plus the number of trees of the initial model."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the names of the features in column order."""

    @property
    def history(self) -> Sequence[IterationReport]:
        """Return one report for each iteration."""

    @property
    def growth(self) -> Growth | None:
        """Return the growth of a training that ended suspiciously early or has one-leaf trees, else None."""

    @property
    def propensities(self) -> tuple[float, ...] | None:
        """Return the propensity of each rank where they were learnt with the model, else None."""


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
