"""Refusal of scores that are no numbers."""

import numpy as np

from core.errors import ScoreNotFinite
from core.types import Float64Array


def finite(scores: Float64Array) -> Float64Array:
    """Return scores, (n_documents,), all of which are finite.

    Raises:
        ScoreNotFinite: With the first that is not: legal features can be too large for a model's weights.
    """
    is_finite = np.isfinite(scores)
    if not is_finite.all():
        row = int(np.argmin(is_finite))
        raise ScoreNotFinite(row, float(scores[row]))
    return scores
