"""The report of an iteration."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Values = Mapping[str, Mapping[str, float | None]]


@dataclass(frozen=True)
class IterationReport:
    """The report of an iteration.

    Attributes:
        iteration: 1-based number of the iteration.
        total: Requested iterations.
        values: Mean metrics, by dataset ("train", "validation") and spelling, None where undefined; with
            "loss", the mean loss of the training queries. Nothing where the iteration is not measured.
            "diagnostics" are diagnostics of the gradient that the iteration's tree follows.
        best_iteration: Best iteration so far on validation, the present one without validation data.
        milliseconds: Wall time by part: "objective" is our gradient and loss, "tree" the rest of LightGBM's
            update, "metrics" the measuring, "diagnostics" where they were computed. Where the loss is
            measured, the gradient of the next tree is computed with it. Times do not make reports differ.
    """

    iteration: int
    total: int
    values: Values
    best_iteration: int
    milliseconds: Mapping[str, float] = field(default_factory=dict, compare=False)
