"""Distillation: labels from a teacher's scores instead of judgments (Hinton, Vinyals and Dean, 2015)."""

import numpy as np

from core.doctor.report import Finding
from core.errors import InvalidInput
from core.evaluation.paired import PairedDifference
from core.losses import Loss
from core.names import query_count
from core.types import Float32Array, Float64Array, Int64Array

PREFIX = "model:"
_DEFAULT_MAX_LABEL = 4.0  # largest label of most collections, used for data without judgments


def teacher_reference(labels_from: str) -> str:
    """Return the model reference in `labels_from`: `web:3` for `model:web:3`.

    Raises:
        InvalidInput: `labels_from` has no model reference.

    Example:
        >>> teacher_reference("model:web@champion")
        'web@champion'
    """
    reference = labels_from.removeprefix(PREFIX)
    if reference == labels_from or not reference:
        raise InvalidInput.at("", f'must name a model, as "{PREFIX}web:3" does')
    return reference


def labels_of_scores(
    scores: Float64Array, query_boundaries: Int64Array, judged: Float32Array, loss: Loss
) -> Float32Array:
    """Convert a teacher's scores to labels of the same order.

    The label of a document of query q is `L (s - min_q s) / max_q' (max_q' s - min_q' s)`: the lowest
    document of each query has 0, and the largest difference within any query becomes L. Score differences
    keep their proportions across queries, so that queries with close scores weigh less.

    For a loss that is not shift-invariant, `mse`, the label is `L (s - min s) / (max s - min s)` over all
    queries: the loss fits the labels themselves, and no function of a document's features gives the lowest
    score of its query.

    Args:
        scores: (n_documents,) scores of the teacher.
        query_boundaries: (n_queries + 1,) offsets.
        judged: (n_documents,) labels that are replaced. L is the largest of them, 4 where none is above 0.
        loss: Loss that the student minimises.

    Returns:
        float32 (n_documents,), all 0 where the teacher gives equal scores to all documents of each query.

    Example:
        >>> from core.losses import make_loss
        >>> scores, queries = np.array([1.0, 3.0, 8.0, 9.0]), np.array([0, 2, 4])
        >>> unjudged = np.zeros(4, np.float32)
        >>> labels_of_scores(scores, queries, unjudged, make_loss("lambdarank"))
        array([0., 4., 0., 2.], dtype=float32)
        >>> labels_of_scores(scores, queries, unjudged, make_loss("mse"))
        array([0. , 1. , 3.5, 4. ], dtype=float32)
    """
    lowest = np.minimum.reduceat(scores, query_boundaries[:-1])
    differences = scores - np.repeat(lowest, np.diff(query_boundaries))
    if not loss.is_shift_invariant and differences.any():
        differences = scores - scores.min()
    widest = float(differences.max(initial=0.0))
    finite = judged[np.isfinite(judged)]
    largest = float(finite.max(initial=0.0)) or _DEFAULT_MAX_LABEL
    scale = largest / widest if widest > 0.0 else 0.0
    labels: Float32Array = (differences * scale).astype(np.float32)
    return labels


def student_finding(
    student: str, teacher: str, metric: str, difference: PairedDifference, *, is_worse: bool, is_seen: bool
) -> Finding:
    """Report the difference of a student from its teacher on test queries.

    Args:
        student: Name of the model that was trained.
        teacher: Reference of the model whose scores the student learned.
        difference: The student's values less the teacher's.
        is_worse: Whether the interval shows that the student is worse.
        is_seen: Whether the teacher may have been trained on the test queries.
    """
    caution = (
        f"{teacher} may have been trained on these queries: its value may be too high. " if is_seen else ""
    )
    queries = query_count(difference.queries, "test")
    return Finding(
        code="distilled",
        severity="warning" if is_worse else "info",
        title=f"{student} has {metric} {difference.mean_b:.4f} on {queries}, its teacher {teacher}"
        f" {difference.mean_a:.4f}: the difference is {difference.difference:+.4f}"
        f" ({difference.interval})",
        advice=f"{caution}More training documents, which need no judgments, or more"
        " trees bring a student closer to its teacher.",
        count=difference.queries,
        total=difference.queries + difference.skipped,
        unit="queries",
    )
