"""Labels that a teacher gives: its scores in place of judgments (Hinton, Vinyals and Dean, 2015)."""

import numpy as np

from core.errors import InvalidInput
from core.types import Float32Array, Float64Array, Int64Array

PREFIX = "model:"
_LARGEST = 4.0  # of judgments as most collections have them, where none are at hand


def teacher_reference(labels_from: str) -> str:
    """Return the reference of the model that `labels_from` names, `web:3` of `model:web:3`.

    Raises:
        InvalidInput: It names none.

    Example:
        >>> teacher_reference("model:web@champion")
        'web@champion'
    """
    reference = labels_from.removeprefix(PREFIX)
    if reference == labels_from or not reference:
        raise InvalidInput.at("", f'must name a model, as "{PREFIX}web:3" does')
    return reference


def labels_of_scores(
    scores: Float64Array, query_boundaries: Int64Array, judged: Float32Array
) -> Float32Array:
    """Return labels that order documents as a teacher's scores do.

    Of a document of query q the label is `L (s - min_q s) / max_q' (max_q' s - min_q' s)`: the lowest
    document of each query has 0, and the largest difference within any query becomes L. Differences keep
    their proportions over all queries, so that queries of which the teacher is unsure count for less.

    Args:
        scores: (n_documents,) of the teacher.
        query_boundaries: (n_queries + 1,) offsets.
        judged: (n_documents,) labels that are replaced. L is the largest of them, 4 where none is above 0.

    Returns:
        float32 (n_documents,), all 0 where the teacher gives each query one score.

    Example:
        >>> labels_of_scores(np.array([1.0, 3.0, 8.0, 9.0]), np.array([0, 2, 4]), np.zeros(4, np.float32))
        array([0., 4., 0., 2.], dtype=float32)
    """
    starts = query_boundaries[:-1]
    lowest = np.minimum.reduceat(scores, starts)
    differences = scores - np.repeat(lowest, np.diff(query_boundaries))
    widest = float(differences.max(initial=0.0))
    known = judged[np.isfinite(judged)]
    largest = float(known.max(initial=0.0)) or _LARGEST
    scale = largest / widest if widest > 0.0 else 0.0
    labels: Float32Array = (differences * scale).astype(np.float32)
    return labels
