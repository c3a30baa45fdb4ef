"""Gains of labels and discounts of ranks."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from core.errors import InvalidInput
from core.parameters import TextOrNumbers, parameter
from core.types import Float64Array, FloatArray

Gain = TextOrNumbers
GAINS = ("exp2", "linear")
DISCOUNTS: Mapping[str, str] = MappingProxyType({"log2": "D(r) = log2(1 + r)", "reciprocal": "D(r) = r"})

LARGEST_EXP2_LABEL = 30.0  # the last label in LightGBM's table of gains


def gain_parameter(*, aliases: str = "") -> Any:
    """Declare the gain of a loss."""
    description = "Gain g(y): exp2 for 2^y − 1, linear for y, or a list by label."
    return parameter("exp2", description, choices=GAINS, aliases=aliases)


def gains(gain: Gain | Sequence[float], labels: FloatArray, pointer: str = "/loss/gain") -> Float64Array:
    """Return the gain g(y) of each label: 2^y − 1, y itself, or a list's entry at y.

    Args:
        gain: "exp2", "linear", or a list by label.
        labels: (n,) labels, finite and at least 0; at most 30 for exp2.
        pointer: JSON pointer of the error about a label above 30.

    Raises:
        InvalidInput: A label has no gain: negative or not finite (at `/label_map`), too large (at
            `pointer`), or missing in the list (at `/loss/gain`).

    Example:
        >>> gains("exp2", np.array([0, 1, 4])).tolist(), gains((0, 1, 5), np.array([2])).tolist()
        ([0.0, 1.0, 15.0], [5.0])
    """
    values = np.asarray(labels, np.float64)
    if not np.isfinite(values).all() or values.min(initial=0.0) < 0.0:
        raise InvalidInput.at("/label_map", "labels must be finite and at least 0; map all other labels")
    if gain == "linear":
        return values.copy()
    if gain == "exp2":
        if values.max(initial=0.0) > LARGEST_EXP2_LABEL:
            raise InvalidInput.at(
                pointer,
                f"the gain 2^y − 1 is limited to labels up to {LARGEST_EXP2_LABEL:g}, as in LightGBM; the"
                f" largest label is {values.max():g}. Use a linear gain or a list of gains if the loss has"
                " them, or map the labels to grades",
            )
        return np.exp2(values) - 1.0
    return _gains_by_label(np.asarray(gain, np.float64), values)


def inverse_discounts(discount: str, n: int) -> Float64Array:
    """Return 1/D(r) for the ranks r = 1..n."""
    ranks = np.arange(1, n + 1, dtype=np.float64)
    return 1.0 / ranks if discount == "reciprocal" else 1.0 / np.log2(1.0 + ranks)


def distance_weights(inverse: Float64Array) -> Float64Array:
    """Return δ(d) = 1/D(d) − 1/D(d + 1) for d = 0..n − 1 from 1/D(1..n), with 0 at d = 0."""
    return np.concatenate(([0.0], inverse[:-1] - inverse[1:]))


def _gains_by_label(table: Float64Array, labels: Float64Array) -> Float64Array:
    if (labels != np.floor(labels)).any() or labels.max(initial=0.0) >= len(table):
        raise InvalidInput.at(
            "/loss/gain",
            f"a list of {len(table)} gains needs labels that are whole numbers from 0 to {len(table) - 1};"
            " add gains, or map the labels",
        )
    return table[labels.astype(np.int64)]
