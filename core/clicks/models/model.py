"""An estimated click model."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.clicks.models.browsing import examination_indices
from core.clicks.models.layout import PairSums
from core.clicks.models.specification import ClickModelSpec
from core.types import Float64Array


@dataclass(frozen=True)
class Parameters:
    """The parameters of a click model.

    Attributes:
        attractiveness: (n_pairs,) probability of a click on an examined document; for `coec`, clicks over
            expected clicks.
        satisfaction: (n_pairs,) probability that a clicked document ends the search, or None.
        examination: (n_examinations,) probability of examination by index, see `examination_indices`, or the
            click-through rate of each rank for `coec`; None for other models.
        continuation: (max_rank + 1,) probability to continue after a click by rank, 0 at index 0, or None.
        persistence: Probability to continue after an unsatisfying document, or None.
    """

    attractiveness: Float64Array
    satisfaction: Float64Array | None = None
    examination: Float64Array | None = None
    continuation: Float64Array | None = None
    persistence: float | None = None

    def shared(self) -> dict[str, Float64Array]:
        """Return the parameters that pairs share, by name."""
        values = {
            "examination": self.examination,
            "continuation": None if self.continuation is None else self.continuation[1:],
            "persistence": None if self.persistence is None else np.array([self.persistence]),
        }
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Interval:
    """95% intervals of some values."""

    lower: Float64Array
    upper: Float64Array


@dataclass(frozen=True)
class ClickModel:
    """A click model, estimated from a log.

    Attributes:
        max_rank: Greatest rank of the log that was used.
        sums: Sums by pair from which the parameters were computed, without prior.
        impressions: (n_pairs,) impressions of each pair down to `max_rank`, times the weights of the lists.
        clicks: (n_pairs,) clicks of each pair, counted in the same way.
        changes: Largest change of any parameter in each EM iteration; empty for counted models.
        relevance_variance: (n_pairs,) variance of each relevance over the resamples of a bootstrap, or None.
        intervals: 95% intervals of the shared parameters by bootstrap over users or lists, by name.
    """

    spec: ClickModelSpec
    max_rank: int
    parameters: Parameters
    sums: PairSums
    impressions: Float64Array
    clicks: Float64Array
    changes: tuple[float, ...] = ()
    relevance_variance: Float64Array | None = None
    intervals: dict[str, Interval] = field(default_factory=dict)
    findings: tuple[str, ...] = ()

    @property
    def relevance(self) -> Float64Array:
        """Return the relevance of each pair, (n_pairs,).

        The relevance is ασ with satisfaction, αθ₁ for `pbm` and `ubm`, else α. Attractiveness and examination
        are identified up to a common factor; αθ₁ is α scaled such that θ₁ = 1.
        """
        parameters = self.parameters
        if parameters.satisfaction is not None:
            return parameters.attractiveness * parameters.satisfaction
        return parameters.attractiveness * self.first_examination

    @property
    def first_examination(self) -> float:
        """Return the examination probability of rank 1, 1 for models without examination by rank."""
        examination = self.parameters.examination
        if not self.spec.kind.needs_movement or examination is None or not len(examination):
            return 1.0
        return float(examination[0])

    def shared(self) -> dict[str, Float64Array]:
        """Return the parameters that pairs share, by name, with `relative_examination`, θ / θ₁.

        Where θ₁ is 0, which needs pseudo-counts of 0, `relative_examination` is 0.
        """
        values = self.parameters.shared()
        if self.spec.kind.needs_movement and (examination := values.get("examination")) is not None:
            first = self.first_examination
            values["relative_examination"] = (
                examination / first if first > 0.0 else np.zeros_like(examination)
            )
        return values

    def to_json(self) -> dict[str, Any]:
        """Return the shared parameters with their intervals, and the findings."""
        shared = {name: self._rows(name, values) for name, values in self.shared().items()}
        return {
            "model": self.spec.model,
            "label": self.spec.kind.label,
            "parameters": shared,
            "changes": [float(change) for change in self.changes],
            "findings": list(self.findings),
        }

    def _rows(self, name: str, values: Float64Array) -> list[dict[str, Any]]:
        interval = self.intervals.get(name)
        rows = []
        for index, value in enumerate(values):
            row: dict[str, Any] = self._rank_of_parameter(name, index) | {"value": float(value)}
            if interval is not None:
                row |= {"lower": float(interval.lower[index]), "upper": float(interval.upper[index])}
            rows.append(row)
        return rows

    def _rank_of_parameter(self, name: str, index: int) -> dict[str, int]:
        """Return the rank that a value of a shared parameter belongs to, for `ubm` also the last click."""
        if name == "persistence":
            return {}
        if self.spec.model != "ubm":
            return {"rank": index + 1}
        rank, previous = np.argwhere(examination_indices("ubm", self.max_rank) == index)[0]
        return {"rank": int(rank), "last_click": int(previous)}
