"""Parity of decisions at the float neighbours of every threshold, where engines may differ."""

import numpy as np

from core.export.nodes import Nodes
from core.export.parity_kernel import decide
from core.export.parity_report import Difference, NeighbourParity
from core.export.thresholds import LARGEST, ZERO, floor32
from core.export.tree_target import Arithmetic, Missing, TreeSource
from core.types import Float64Array

MAX_EXAMPLES = 10  # differences that are listed
_SPLITS_PER_BATCH = 65_536  # about 20 MB of values


def compare_neighbours(source: TreeSource, loaded: Nodes, arithmetic: Arithmetic) -> NeighbourParity:
    """Compare the decisions of an engine with LightGBM's at every split.

    Args:
        loaded: The same nodes with the engine's numbers.
    """
    nodes, splits = source.nodes, source.nodes.splits
    decisions, differing_decisions, differing_splits = 0, 0, 0
    examples: list[Difference] = []
    for first in range(0, len(splits), _SPLITS_PER_BATCH):
        batch = splits[first : first + _SPLITS_PER_BATCH]
        values = _test_values(
            nodes.thresholds[batch], loaded.thresholds[batch], float64=arithmetic.float64_exact
        )
        if arithmetic.finite_only:
            values = np.where(np.isinf(values), 0.0, values)
        if not source.options.never_missing or arithmetic.missing is Missing.AS_WRITTEN:
            values = np.column_stack([values, np.full(len(batch), np.nan)])
        model_left, engine_left = np.empty(values.shape, np.bool_), np.empty(values.shape, np.bool_)
        decide(values, nodes.thresholds[batch], nodes.missing_side[batch], False, True, model_left)
        decide(
            values,
            loaded.thresholds[batch],
            loaded.missing_side[batch],
            arithmetic.strict,
            arithmetic.tiny_is_zero,
            engine_left,
        )
        differing = model_left != engine_left
        decisions += values.size
        differing_decisions += int(np.count_nonzero(differing))
        differing_splits += int(np.count_nonzero(differing.any(axis=1)))
        for row, column in np.argwhere(differing)[: MAX_EXAMPLES - len(examples)].tolist():
            node, value = int(batch[row]), float(values[row, column])
            examples.append(_difference(source, loaded, node, value, goes_left=bool(model_left[row, column])))
    return NeighbourParity(len(splits), decisions, differing_decisions, differing_splits, tuple(examples))


def _test_values(thresholds: Float64Array, loaded: Float64Array, *, float64: bool) -> Float64Array:
    """Return (n_splits, n_values) values next to the thresholds of each split, zeros and extremes."""
    around = [
        neighbour.astype(np.float64)
        for centre in (floor32(thresholds), floor32(loaded))
        for neighbour in _around(centre, np.float32)
    ]
    constants = [0.0, -0.0, np.inf, -np.inf, float(LARGEST), -float(LARGEST)]
    kinds: list[type[np.floating]] = [np.float32]
    if float64:
        around += [neighbour for centre in (thresholds, loaded) for neighbour in _around(centre, np.float64)]
        kinds.append(np.float64)
    for kind in kinds:
        smallest = float(np.finfo(kind).smallest_subnormal)
        zeros = np.concatenate(_around(np.array([ZERO], kind), kind)[:3]).tolist()
        constants += [sign * value for value in (smallest, *zeros) for sign in (1.0, -1.0)]
    return np.column_stack([*around, *(np.full(len(thresholds), value) for value in constants)])


def _around(centre: np.ndarray, kind: type[np.floating]) -> list[np.ndarray]:
    """Return a threshold, the value below it, and the two above it."""
    with np.errstate(over="ignore", under="ignore"):
        above = np.nextafter(centre, kind(np.inf))
        return [centre, np.nextafter(centre, kind(-np.inf)), above, np.nextafter(above, kind(np.inf))]


def _difference(source: TreeSource, loaded: Nodes, node: int, value: float, *, goes_left: bool) -> Difference:
    nodes = source.nodes
    return Difference(
        int(np.searchsorted(nodes.roots, node, side="right")) - 1,
        source.features[nodes.features[node]],
        _finite(nodes.thresholds[node]),
        _finite(loaded.thresholds[node]),
        "missing" if np.isnan(value) else repr(float(value)),
        "left" if goes_left else "right",
    )


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
