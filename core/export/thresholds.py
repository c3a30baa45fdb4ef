"""Thresholds and directions of missing values in the arithmetic of other engines.

LightGBM compares `x <= t` in float64. An engine with float32 features needs a threshold that divides the
float32 values in the same way: the largest value that goes left, or its successor for comparisons by `<`.
"""

import numpy as np

from core.scoring.descent import MissingDirection
from core.types import Float32Array, Float64Array, Int64Array

ZERO = float(np.float32(1e-35))  # LightGBM treats values up to this magnitude as 0
SLACK = np.float32(1e-6)  # Solr's NODE_SPLIT_SLACK
LARGEST = np.finfo(np.float32).max
# Becomes infinity as a float32, and can be written as JSON.
BEYOND_FLOAT32 = 3.5e38


def floor32(thresholds: Float64Array) -> Float32Array:
    """Return the largest float32 values not above the thresholds, equivalent in `x <= t` for float32 x."""
    with np.errstate(over="ignore"):
        nearest = thresholds.astype(np.float32)
    return np.asarray(np.where(nearest > thresholds, _below(nearest), nearest))


def ceiling32(thresholds: Float64Array) -> Float32Array:
    """Return the float32 successors u of `floor32`; `x < u` equals `x <= t` for every float32 x.

    The successor of the largest value is infinity, above every finite x.
    """
    return _above(floor32(thresholds))


def strict_thresholds(thresholds: Float64Array) -> Float64Array:
    """Return thresholds u that JSON can represent; `x < u` equals `x <= t` for every finite float32 x.

    An engine may compare them in float32 or in float64.
    """
    return np.where(thresholds >= LARGEST, BEYOND_FLOAT32, ceiling32(thresholds).astype(np.float64))


def before_slack(thresholds: Float64Array) -> Float32Array:
    """Return float32 values s for which s + 1e-6, added in float32, is `floor32` or the closest possible.

    The sum is inexact for thresholds under about 1e-6, since float32 near 1e-6 is coarser, and for some
    negative powers of two. Thresholds stay on their side of 0, because 0 is the commonest value.
    """
    target = floor32(thresholds)
    with np.errstate(over="ignore"):
        subtracted = target - SLACK
        steps = [subtracted, _above(subtracted), _below(subtracted), target, _below(target)]
        candidates = np.stack([*steps, _above(steps[1]), _below(steps[2])])
        sums = candidates + SLACK
    with np.errstate(invalid="ignore"):  # infinity - infinity counts as an exact match
        distances = np.abs(sums.astype(np.float64) - target)
    distances[sums == target] = 0.0
    is_excluded = np.isnan(distances) | ((sums < 0.0) != (target < 0.0))
    best = np.argmin(np.where(is_excluded, np.inf, distances), axis=0)
    return np.asarray(np.take_along_axis(candidates, best[np.newaxis], axis=0)[0])


def numeric_splits(thresholds: Float64Array, missing_side: Int64Array) -> tuple[Float64Array, Int64Array]:
    """Express splits by `x <= t` and the child of NaN only, which is all that most engines support.

    LightGBM treats values around 0 as 0, so thresholds are moved to send these values the same way as 0.
    This is impossible at the splits that `splits_that_separate_zeros` returns.

    Args:
        thresholds: LightGBM's thresholds.
        missing_side: `MissingDirection` of each split.

    Returns:
        Thresholds, and 1 where NaN goes left, else 0.
    """
    zero_left = thresholds >= 0.0
    goes_left = np.isin(missing_side, (MissingDirection.LEFT_IF_ZERO, MissingDirection.LEFT_IF_NAN))
    # Without a missing type, LightGBM reads NaN as 0.
    nan_left = np.where(missing_side == MissingDirection.NOWHERE, zero_left, goes_left)
    below_zero = np.nextafter(-ZERO, -np.inf)
    moved = np.where(zero_left, np.maximum(thresholds, ZERO), np.minimum(thresholds, below_zero))
    return moved, nan_left.astype(np.int64)


def splits_that_separate_zeros(thresholds: Float64Array, missing_side: Int64Array) -> Int64Array:
    """Return the indices of splits that send 0, as a missing value, to the other child than `x <= t` does."""
    left = missing_side == MissingDirection.LEFT_IF_ZERO
    right = missing_side == MissingDirection.RIGHT_IF_ZERO
    return np.flatnonzero((left & (thresholds < 0.0)) | (right & (thresholds >= 0.0)))


def _above(values: Float32Array) -> Float32Array:
    with np.errstate(over="ignore", under="ignore"):
        return np.nextafter(values, np.float32(np.inf))


def _below(values: Float32Array) -> Float32Array:
    with np.errstate(over="ignore", under="ignore"):
        return np.nextafter(values, np.float32(-np.inf))
