"""Transformation of a document's features to a network's inputs.

For each feature, in float64: a value that is not finite is missing; `sign(x) ln(1 + |x|)` is applied on
request; the value is scaled; a missing value becomes 0, the centre of the scaled values. The scaled features
are followed by an indicator, 0 or 1, for each feature with missing values in the training data.

`standard` scales to `(x - mean) / deviation`. `rank-gauss` interpolates between up to `KNOTS` quantiles of
the training data and the same quantiles of a normal distribution; values beyond the outermost quantiles are
clipped. Equal quantiles are merged into one, at the mean of their normal quantiles.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.data.features import Features, row_blocks
from core.ranges import read_only
from core.scorers.kernels import scale
from core.types import Float32Array, Float64Array, FloatArray, Int64Array

KNOTS = 64
_SAMPLE_ROWS = 200_000  # sampled rows for quantiles, as many as LightGBM samples for its bins


def do_nothing() -> None:
    """Do nothing, as a callback."""


@dataclass(frozen=True, eq=False)
class InputTransform:
    """Scaling of features, fitted to training data.

    Attributes:
        kind: `standard`, `rank-gauss` or `none`.
        log1p: Whether `sign(x) ln(1 + |x|)` is applied before scaling.
        means: float64 (n_features,) for `standard`; empty otherwise.
        deviations: float64 (n_features,) for `standard`, 1 where a feature does not vary; empty otherwise.
        knots: float64 (n_features, KNOTS), ascending quantiles, for `rank-gauss`; (0, 0) otherwise. The last
            quantile is repeated where a feature has fewer quantiles.
        targets: float64 (n_features, KNOTS), inputs that the knots are mapped to.
        indicators: int64 (n_indicators,) features with an indicator.
    """

    kind: str
    log1p: bool
    means: Float64Array
    deviations: Float64Array
    knots: Float64Array
    targets: Float64Array
    indicators: Int64Array
    n_features: int

    @property
    def n_inputs(self) -> int:
        """Return the number of inputs: features and indicators."""
        return self.n_features + len(self.indicators)

    def __call__(self, features: FloatArray) -> Float64Array:
        """Return the inputs, (n_documents, n_inputs), of features, (n_documents, n_features).

        Features are rounded to float32 first, as training data is.
        """
        single = as_float32(features)
        inputs = np.empty((len(single), self.n_inputs))
        scale(single, *self.parameters, inputs.reshape(-1), self.n_inputs)
        return inputs

    @cached_property
    def parameters(self) -> tuple[Any, ...]:
        """Return the arguments of the kernels for the transform, in their order."""
        arrays = (self.means, self.deviations, self.knots, self.targets)
        # Kernels are compiled for writable arrays.
        return self.log1p, *(np.array(each, np.float64) for each in arrays), np.array(self.indicators)

    @classmethod
    def fit(
        cls,
        features: Features,
        *,
        kind: str,
        log1p: bool,
        missing_indicators: bool,
        on_block: Callable[[], None] = do_nothing,
    ) -> "InputTransform":
        """Fit a transform to the features of training data.

        Args:
            features: (n_documents, n_features); blocks of rows are read one after the other.
            kind: One of `INPUTS`.
            log1p: Whether `sign(x) ln(1 + |x|)` is applied before scaling.
            missing_indicators: Whether features with missing values get an indicator.
            on_block: Called between blocks of rows; may raise to stop.
        """
        n_rows, n_features = features.shape
        sums, squares, counts = (np.zeros(n_features) for _ in range(3))
        for _, block in row_blocks(features):
            on_block()
            values = _finite_or_nan(block, log1p=log1p)
            counts += np.isfinite(values).sum(axis=0)
            sums += np.nansum(values, axis=0)
        indicators = np.flatnonzero(counts < n_rows) if missing_indicators else np.empty(0)
        arrays: dict[str, NDArray[Any]] = {"indicators": indicators.astype(np.int64)}
        if kind == "standard":
            means = sums / np.maximum(counts, 1)
            for _, block in row_blocks(features):
                on_block()
                squares += np.nansum((_finite_or_nan(block, log1p=log1p) - means) ** 2, axis=0)
            deviations = np.sqrt(squares / np.maximum(counts, 1))
            # A constant feature has no information; rounding must not add any.
            deviations[deviations <= 1e-12 * np.maximum(np.abs(means), 1e-300)] = 1.0
            arrays |= {"means": means, "deviations": deviations}
        elif kind == "rank-gauss":
            rows = np.arange(0, n_rows, max(1, -(-n_rows // _SAMPLE_ROWS)))
            knots, targets = _quantiles(_finite_or_nan(features[rows], log1p=log1p))
            arrays |= {"knots": knots, "targets": targets}
        return cls.restored({"kind": kind, "log1p": log1p, "n_features": n_features}, arrays)

    @classmethod
    def unscaled(cls, n_features: int) -> "InputTransform":
        """Return the identity transform."""
        description = {"kind": "none", "log1p": False, "n_features": n_features}
        return cls.restored(description, {"indicators": np.empty(0, np.int64)})

    def of_feature(self, feature: int) -> "InputTransform":
        """Return the transform of one feature, with the indicator of its missing values, if any."""
        column = slice(feature, feature + 1)
        return replace(
            self,
            means=self.means[column],
            deviations=self.deviations[column],
            knots=self.knots[column],
            targets=self.targets[column],
            indicators=np.zeros(np.count_nonzero(self.indicators == feature), np.int64),
            n_features=1,
        )

    def description(self) -> dict[str, Any]:
        """Return the fields that are not arrays, for storage."""
        return {"kind": self.kind, "log1p": self.log1p, "n_features": self.n_features}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that determine the transform, by name, for storage."""
        arrays: dict[str, NDArray[Any]] = {"indicators": self.indicators}
        if self.kind == "standard":
            arrays |= {"means": self.means, "deviations": self.deviations}
        elif self.kind == "rank-gauss":
            arrays |= {"knots": self.knots, "targets": self.targets}
        return arrays

    @classmethod
    def restored(cls, description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> "InputTransform":
        """Restore a transform from its `description` and `arrays`, which must be valid."""
        none: Float64Array = np.empty(0)
        return cls(
            description["kind"],
            description["log1p"],
            arrays.get("means", none),
            arrays.get("deviations", none),
            arrays.get("knots", np.empty((0, 0))),
            arrays.get("targets", np.empty((0, 0))),
            arrays["indicators"],
            description["n_features"],
        )


def as_float32(features: FloatArray) -> Float32Array:
    """Return features as a read-only contiguous float32 array; values beyond its range become infinite."""
    if features.dtype == np.float32 and features.flags.c_contiguous:
        return read_only(features)
    with np.errstate(over="ignore", invalid="ignore"):  # "invalid" for signalling NaN
        return read_only(np.ascontiguousarray(features, np.float32))


def _signed_log1p(values: Float64Array) -> Float64Array:
    """Return `sign(x) ln(1 + |x|)`."""
    transformed: Float64Array = np.copysign(np.log1p(np.abs(values)), values)
    return transformed


def _finite_or_nan(block: Float32Array, *, log1p: bool) -> Float64Array:
    """Return features in float64, NaN where not finite, transformed by log1p on request."""
    values = block.astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    return _signed_log1p(values) if log1p else values


def _quantiles(values: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return knots and targets, (n_features, KNOTS) each, of values with NaN where missing."""
    from scipy import special

    levels = (np.arange(KNOTS) + 0.5) / KNOTS
    normal = special.ndtri(levels)
    knots, targets = (np.zeros((values.shape[1], KNOTS)) for _ in range(2))
    for column in range(values.shape[1]):
        finite = values[np.isfinite(values[:, column]), column]
        if not len(finite):
            continue
        distinct, group, counts = np.unique(
            np.quantile(finite, levels), return_inverse=True, return_counts=True
        )
        means = np.bincount(group, normal) / counts
        knots[column, : len(distinct)], knots[column, len(distinct) :] = distinct, distinct[-1]
        targets[column, : len(distinct)], targets[column, len(distinct) :] = means, means[-1]
    return knots, targets
