"""Partial dependence of a model's scores on one feature, with all other features unchanged."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from core.data import RankingDataset
from core.data.categories import Categories
from core.inspection.permutation import shuffle
from core.scorers import ScoringModel
from core.types import Float32Array, Int64Array, OnProgress

BAND = (0.1, 0.9)
PERCENTILES = 101  # number of percentiles from 0 to 100


@dataclass(frozen=True)
class Grid:
    """Grid and sample of a partial dependence.

    Attributes:
        values: Maximum number of values of a feature, which are its quantiles.
        sample: Maximum number of documents.
    """

    values: int = 32
    sample: int = 2_000
    seed: int = 0


@dataclass(frozen=True)
class Response:
    """The scores of the sample with the feature set to one value.

    Attributes:
        lower: 10% quantile of the scores.
        upper: 90% quantile of the scores.
    """

    mean: float
    lower: float
    upper: float


@dataclass(frozen=True)
class PartialDependence:
    """The partial dependence on one feature.

    Attributes:
        feature: Index of the feature in the model's order.
        values: Values that the feature was set to, ascending.
        shares: For each value, the share of documents at or below it, among those with a finite value.
        missing: The scores with the feature missing; None if the feature is never missing.
        percentiles: Percentiles 0 to 100 of the finite values; empty without finite values.
    """

    feature: int
    values: list[float]
    shares: list[float]
    responses: list[Response]
    missing: Response | None
    missing_share: float
    percentiles: list[float]

    def to_json(
        self, feature_names: tuple[str, ...], categories: Mapping[int, Categories] = MappingProxyType({})
    ) -> dict[str, Any]:
        """Return the JSON to store: the feature's name and its points, with texts for categories."""
        points: list[dict[str, Any]] = [
            {"value": value, "share": share, **asdict(response)}
            for value, share, response in zip(self.values, self.shares, self.responses, strict=True)
        ]
        if self.feature in categories:
            texts = categories[self.feature].texts(np.array(self.values))
            points = [{**point, "text": text} for point, text in zip(points, texts, strict=True)]
        missing = self.missing and {"share": self.missing_share, **asdict(self.missing)}
        return {
            "feature": feature_names[self.feature],
            "points": points,
            "missing": missing,
            "percentiles": self.percentiles,
        }


def partial_dependence(
    model: ScoringModel,
    features: Sequence[int],
    dataset: RankingDataset,
    grid: Grid = Grid(),
    *,
    threads: int = 1,
    on_step: OnProgress | None = None,
) -> list[PartialDependence]:
    """Compute the partial dependence on each feature: set it to each of its quantiles in a sample.

    After Friedman, "Greedy function approximation", 2001, section 8.2. At each value, the band contains
    80% of the documents' scores (curves of Goldstein et al., "Peeking inside the black box", 2015).

    Args:
        threads: Threads to use; the result does not depend on them.
        on_step: Called with the finished and the total number of features; may raise to stop.
    """
    buffer = dataset.features[_sample(dataset.n_documents, grid)]
    dependences = []
    for done, feature in enumerate(features, start=1):
        column = np.sort(dataset.features[:, feature])  # missing values come last
        column_of_sample = buffer[:, feature].copy()
        dependences.append(_dependence_on_feature(model, feature, column, buffer, grid.values, threads))
        buffer[:, feature] = column_of_sample
        if on_step:
            on_step(done, len(features))
    return dependences


def _sample(n_documents: int, grid: Grid) -> Int64Array:
    rows = np.arange(n_documents)
    if n_documents > grid.sample:
        shuffle(rows, np.array([0, n_documents]), np.uint64(grid.seed), 0)
        rows = np.sort(rows[: grid.sample])
    return rows


def _dependence_on_feature(
    model: ScoringModel, feature: int, column: Float32Array, buffer: Float32Array, n_values: int, threads: int
) -> PartialDependence:
    finite = column[np.isfinite(column)]
    values = np.unique(_quantiles(finite, n_values))

    def response(value: float) -> Response:
        buffer[:, feature] = value
        scores = model.score(buffer, threads)
        lower, upper = np.quantile(scores, BAND)
        return Response(float(scores.mean()), float(lower), float(upper))

    missing = int(np.isnan(column).sum())
    return PartialDependence(
        feature=feature,
        values=values.tolist(),
        shares=(np.searchsorted(finite, values, side="right") / max(len(finite), 1)).tolist(),
        responses=[response(value) for value in values],
        missing=response(np.nan) if missing else None,
        missing_share=missing / len(column),
        percentiles=_quantiles(finite, PERCENTILES).tolist(),
    )


def _quantiles(ascending: Float32Array, number: int) -> Float32Array:
    """Return values at evenly spaced positions, without interpolation."""
    if not len(ascending):
        return ascending
    positions = np.linspace(0, len(ascending) - 1, number)
    return ascending[np.round(positions).astype(np.int64)]
