"""Kernels that traverse the trees of a model and of its export in parallel."""

import numpy as np

from core.export.nodes import Nodes
from core.export.thresholds import ZERO
from core.jit import exact, exact_inlined
from core.scoring.descent import MissingDirection
from core.types import BoolArray, Float32Array, Float64Array, Int64Array

BLOCK = 256  # number of documents that fit in the cache together with a tree
_LEFT_IF_ZERO, _RIGHT_IF_ZERO = int(MissingDirection.LEFT_IF_ZERO), int(MissingDirection.RIGHT_IF_ZERO)
_LEFT_IF_NAN = int(MissingDirection.LEFT_IF_NAN)


@exact_inlined
def goes_left(value: float, threshold: float, missing_side: int, strict: bool, zeros: bool) -> bool:
    """Return whether a value goes left at a split; with `zeros`, values near 0 are 0 as in LightGBM."""
    if value != value:
        if missing_side >= _LEFT_IF_NAN:
            return missing_side == _LEFT_IF_NAN
        value = 0.0
    if zeros and -ZERO <= value <= ZERO:
        if _LEFT_IF_ZERO <= missing_side <= _RIGHT_IF_ZERO:
            return missing_side == _LEFT_IF_ZERO
        value = 0.0
    return value < threshold if strict else value <= threshold


@exact_inlined
def _leaf(row: Float32Array, node: int, nodes: Nodes, strict: bool, zeros: bool) -> int:
    while nodes.features[node] >= 0:
        value = np.float64(row[nodes.features[node]])
        left = goes_left(value, nodes.thresholds[node], nodes.missing_side[node], strict, zeros)
        node = node + 1 if left else nodes.right[node]
    return node


@exact_inlined
def _last_common_node(
    row: Float32Array, node: int, model: Nodes, loaded: Nodes, strict: bool, zeros: bool
) -> int:
    """Return the leaf that model and export both reach, or the first split where they differ."""
    while model.features[node] >= 0:
        value = np.float64(row[model.features[node]])
        left = goes_left(value, model.thresholds[node], model.missing_side[node], False, True)
        if left != goes_left(value, loaded.thresholds[node], loaded.missing_side[node], strict, zeros):
            break
        node = node + 1 if left else model.right[node]
    return node


@exact
def score_by_both(
    features: Float32Array,
    model: Nodes,
    loaded: Nodes,
    strict: bool,
    zeros: bool,
    single_sum: bool,
    scores: Float64Array,
    engine_scores: Float64Array,
) -> tuple[int, int]:
    """Score documents by LightGBM and by the engine.

    Args:
        features: (n_documents, n_features) of float32 values.
        loaded: The same nodes with the engine's numbers.
        strict: Whether the engine goes left where `x < threshold`.
        zeros: Whether the engine treats values near 0 as 0, as LightGBM does.
        single_sum: Whether the engine sums leaves in float32.
        scores: (n_documents,) output, LightGBM's scores.
        engine_scores: (n_documents,) output, the engine's scores.

    Returns:
        Number of differing leaves, and of documents with a differing leaf.
    """
    differing = np.zeros(len(features), np.int64)
    scores[:] = 0.0
    engine_scores[:] = 0.0
    for first in range(0, len(features), BLOCK):
        for root in model.roots:
            for document in range(first, min(first + BLOCK, len(features))):
                row = features[document]
                node = engine_node = _last_common_node(row, root, model, loaded, strict, zeros)
                if model.features[node] >= 0:
                    node, engine_node = (
                        _leaf(row, node, model, False, True),
                        _leaf(row, node, loaded, strict, zeros),
                    )
                    differing[document] += node != engine_node
                scores[document] += model.values[node]
                total = engine_scores[document] + loaded.values[engine_node]
                # The sum of two float32 values, rounded once more, is their sum in float32.
                engine_scores[document] = np.float64(np.float32(total)) if single_sum else total
    return int(differing.sum()), int(np.count_nonzero(differing))


@exact
def decide(
    values: Float64Array,
    thresholds: Float64Array,
    missing_side: Int64Array,
    strict: bool,
    zeros: bool,
    left: BoolArray,
) -> None:
    """Decide at each split whether each value goes left.

    Args:
        values: (n_splits, n_values).
        thresholds: (n_splits,).
        missing_side: (n_splits,) child of missing values (`MissingDirection`).
        strict: Whether `x < threshold` goes left.
        zeros: Whether values near 0 are 0 as in LightGBM.
        left: (n_splits, n_values) output, whether each value goes left.
    """
    for split in range(values.shape[0]):
        for column in range(values.shape[1]):
            value = values[split, column]
            left[split, column] = goes_left(value, thresholds[split], missing_side[split], strict, zeros)
