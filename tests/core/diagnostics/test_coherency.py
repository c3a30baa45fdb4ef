"""Gradient coherency on the 2023 paper's own examples."""

import numpy as np

from core.diagnostics import incoherent_queries
from core.losses import make_loss


def test_the_papers_figure_1a_is_incoherent_and_1b_is_not() -> None:
    """Figure 1(a): the missed document right below the cut is pushed less than the one above it.

    In 1(b) the same document stands last, where its larger swap makes the gradient coherent.
    """
    scores = np.tile([0.04, 0.03, 0.02, 0.01, 0.00], 2)
    labels = np.array([1, 2, 0, 0, 0, 1, 0, 0, 0, 2], float)
    boundaries = np.array([0, 5, 10])
    terms = make_loss("lambdarank", truncation_level=1)(scores, labels, boundaries)
    assert incoherent_queries(terms.gradient, scores, labels, boundaries, 1).tolist() == [True, False]
