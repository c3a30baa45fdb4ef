"""Kernel for the evaluation of exported networks: sums in a fixed order, without fused operations."""

from typing import Any

import numpy as np
import numpy.typing as npt

from core.jit import exact_bare


@exact_bare
def add_products(
    units: npt.NDArray[np.floating[Any]],
    weights: npt.NDArray[np.floating[Any]],
    totals: npt.NDArray[np.floating[Any]],
) -> None:
    """Add `units @ weights` to the totals in the order of the inputs, as Java and C do.

    Args:
        units: (n_documents, n_inputs), float32 or float64.
        weights: (n_inputs, n_outputs), of the same dtype.
        totals: (n_documents, n_outputs), of the same dtype, to which each sum is rounded.
    """
    for row in range(units.shape[0]):
        for i in range(units.shape[1]):
            unit = units[row, i]
            for j in range(weights.shape[1]):
                totals[row, j] += unit * weights[i, j]
