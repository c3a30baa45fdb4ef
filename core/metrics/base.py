"""Base class of all metrics."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from core.errors import InvalidInput
from core.metrics.conventions import DEFAULT, Conventions
from core.metrics.ranked import Ideal, RankedLabels, Ranking, ideal_labels, label_gains, rank_labels
from core.types import Float64Array, FloatArray, Int64Array

# (n_queries,) values, and the (n_queries,) mask of queries without a value, or None.
Measured = tuple[Float64Array, npt.NDArray[np.bool_] | None]


@dataclass(frozen=True)
class Metric(ABC):
    """A metric of ranking quality; a frozen dataclass of its cutoff, parameters and conventions.

    Where the metric is undefined, a query has NaN and is skipped by means, or has the value that the
    conventions define.

    Attributes:
        cutoff: Number of top ranks that count, None for all. Shorter lists are measured as they are, unless
            the convention `short_lists` differs.
        conventions: Conventions that values must share to be comparable.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    uses: ClassVar[tuple[str, ...]] = ()  # names of the conventions that the values depend on
    takes_cutoff: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True
    geometric_mean: ClassVar[bool] = False  # if True, values must be above 0
    averages_ties: ClassVar[bool] = False  # whether the convention `ties` may be `average`, else `stable`
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)  # lowest and highest possible value of a query

    cutoff: int | None = None
    conventions: Conventions = DEFAULT

    @classmethod
    def examples(cls) -> tuple[str, ...]:
        """Return example spellings of the metric."""
        return (cls.name, f"{cls.name}@10") if cls.takes_cutoff else (cls.name,)

    @property
    def depth(self) -> int | None:
        """Number of top ranks that the value depends on, all when None."""
        if self.conventions.ties == "average" or self.conventions.judged_only:
            # Documents below the cutoff may be tied with documents above it, or replace removed documents.
            return None
        limits = [limit for limit in (self.cutoff, self.conventions.max_documents) if limit is not None]
        return min(limits, default=None)

    @property
    def last_rank(self) -> int:
        """Return the last rank that counts, by the cutoff and the convention `max_documents`."""
        return min(finite_cutoff(self.cutoff), finite_cutoff(self.conventions.max_documents))

    def __call__(
        self,
        scores: FloatArray,
        labels: FloatArray,
        query_boundaries: Int64Array,
        document_ids: Sequence[str] | None = None,
    ) -> Float64Array:
        """Return the metric of each query, (n_queries,).

        Args:
            scores: (n_documents,) scores; NaN where the document was judged but not retrieved.
            labels: (n_documents,) graded relevance; NaN where it was retrieved but not judged.
            query_boundaries: (n_queries + 1,) offsets.
            document_ids: (n_documents,) ids, for conventions that break ties by id.
        """
        ideal = ideal_labels(labels, query_boundaries)
        return measure_all({"": self}, scores, ideal, document_ids)[""]

    def of_ranked(self, ranked: RankedLabels) -> Float64Array:
        """Return the metric of each query from labels that are already ranked by its conventions."""
        conventions = self.conventions
        if conventions.judged_only:
            ranked = _only_judged(ranked)
        # `measure` then counts a tie across `max_documents` by its share above.
        is_averaged = self.averages_ties and conventions.ties == "average"
        values, undefined = self.measure(ranked if is_averaged else ranked.first(conventions.max_documents))
        if undefined is not None:
            substitute = conventions.queries_without_relevant
            values[undefined] = np.nan if substitute == "skip" else float(substitute)
        return values

    @abstractmethod
    def measure(self, ranked: RankedLabels) -> Measured:
        """Return a new array of the metric of each query, and the mask of undefined queries or None."""

    def mean(self, values: Float64Array, weights: Float64Array | None = None) -> float | None:
        """Return the mean over queries with a defined value, None if there is no such query.

        Args:
            weights: (n_queries,) weights, at least 0; None for equal weights. Weight 0 leaves a query out.
        """
        counts = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0.0)
        if not counts.any():
            return None
        averaged = np.log(values[counts]) if self.geometric_mean else values[counts]
        mean = np.average(averaged, weights=None if weights is None else weights[counts])
        return float(np.exp(mean) if self.geometric_mean else mean)

    def check_labels(self, labels: FloatArray) -> None:
        """Refuse labels that the metric cannot measure.

        Args:
            labels: Labels >= 0; the caller has refused others.

        Raises:
            InvalidInput: A label, or the largest possible label, has no gain. Also if a label is above the
                largest possible label.
        """
        gain, largest = self.conventions.gain, self.conventions.max_label
        if "gain" in self.uses:
            label_gains(gain, labels)
        if "max_label" not in self.uses:
            return
        if labels.max(initial=0.0) > largest:
            raise InvalidInput.at(
                "/contract/max_label",
                f"is {largest}, but the data has the label {labels.max():g}; increase max_label",
            )
        if not isinstance(gain, str) and len(gain) <= largest:
            raise InvalidInput.at(
                "/contract/max_label",
                f"is {largest}, which has no gain in the list; set max_label to {len(gain) - 1}, the last"
                " label with a gain, or add gains",
            )

    def contract(self) -> dict[str, Any]:
        """Return the conventions that the metric uses, to be stored with its values."""
        conventions = self.conventions
        limited = () if conventions.max_documents is None else ("max_documents",)
        judged = ("judged_only",) if conventions.judged_only else ()
        return {name: getattr(conventions, name) for name in (*self.uses, "ties", *limited, *judged)}


def measure_all(
    metrics: Mapping[str, Metric],
    scores: FloatArray,
    ideal: Ideal,
    document_ids: Sequence[str] | None = None,
) -> dict[str, Float64Array]:
    """Return the (n_queries,) values of each metric; documents are ranked once per tie convention.

    Args:
        metrics: Metrics by their keys in the result.
        scores: As for `rank_labels`.
        ideal: As for `rank_labels`.
        document_ids: As for `rank_labels`.
    """
    depths: dict[str, list[int | None]] = {}
    for metric in metrics.values():
        depths.setdefault(metric.conventions.ties, []).append(metric.depth)
    ranked = {
        ties: rank_labels(scores, ideal, ties=ties, document_ids=document_ids, depth=_deepest(limits))
        for ties, limits in depths.items()
    }
    return {name: metric.of_ranked(ranked[metric.conventions.ties]) for name, metric in metrics.items()}


def _only_judged(ranked: RankedLabels) -> RankedLabels:
    """Remove unjudged documents from the rankings, including documents with a label below 0."""
    ranking = ranked.ranking
    judged = ranking.labels >= 0.0
    if judged.all():
        return ranked
    boundaries = np.concatenate(([0], np.cumsum(judged)))[ranking.boundaries]
    judged_ranking = Ranking(ranking.rows[judged], boundaries, ranking.documents)
    return RankedLabels(judged_ranking, ranked.document_scores, ranked.ideal)


def _deepest(depths: Sequence[int | None]) -> int | None:
    limits = [depth for depth in depths if depth is not None]
    return max(limits) if len(limits) == len(depths) else None


def finite_cutoff(cutoff: int | None) -> int:
    """Return the cutoff, or a number larger than any list if there is no cutoff."""
    return int(np.iinfo(np.int32).max) if cutoff is None else cutoff
