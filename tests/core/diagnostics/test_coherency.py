"""Gradient coherency on the 2023 paper's own examples."""

import numpy as np

from core.diagnostics import incoherent_queries, strictly_incoherent_queries
from core.losses import make_loss


def test_the_papers_figure_1a_is_incoherent_and_1b_is_not() -> None:
    """Figure 1(a): the missed document right below the cut is pushed less than the document above the cut.

    In 1(b) the same document is last, where its larger swap makes the gradient coherent.
    """
    scores = np.tile([0.04, 0.03, 0.02, 0.01, 0.00], 2)
    labels = np.array([1, 2, 0, 0, 0, 1, 0, 0, 0, 2], float)
    boundaries = np.array([0, 5, 10])
    gradient = make_loss("lambdarank", truncation_level=1)(scores, labels, boundaries).gradient
    assert incoherent_queries(gradient, scores, labels, boundaries).tolist() == [True, False]
    assert strictly_incoherent_queries(gradient, scores, labels, boundaries, 1).tolist() == [True, False]


def test_coherency_is_that_of_definition_31_over_all_pairs() -> None:
    """Random queries follow the paper's definition; equal gradients are coherent."""
    generator = np.random.default_rng(5)
    for _ in range(300):
        n = int(generator.integers(1, 9))
        scores, labels = generator.standard_normal(n), generator.integers(0, 3, n).astype(float)
        push = np.round(generator.standard_normal(n), 1)
        expected = any(
            labels[i] > labels[j] and scores[i] < scores[j] and push[i] < push[j]
            for i in range(n)
            for j in range(n)
        )
        found = incoherent_queries(-push, scores, labels, np.array([0, n]))
        assert found.tolist() == [expected]


def test_the_stricter_form_needs_a_false_and_a_missed_document() -> None:
    """False and missed documents are found by the counts of labels in the present and the ideal top k."""
    scores = np.array([4.0, 3.0, 2.0, 1.0])
    boundaries = np.array([0, 4])

    def strictly(labels: list[float], push: list[float], cutoff: int) -> bool:
        return bool(
            strictly_incoherent_queries(-np.array(push), scores, np.array(labels), boundaries, cutoff)[0]
        )

    # The top 2 hold labels 1 and 0, the ideal ones 2 and 1: the 0 is false, the 2 is missed.
    assert strictly([1, 0, 2, 0], [0.0, 0.5, 0.1, 0.0], 2)
    # Document 1 is pushed hardest, but it belongs to the ideal top 2.
    assert not strictly([1, 0, 2, 0], [0.9, 0.0, 0.1, 0.0], 2)
    assert incoherent_queries(-np.array([0.9, 0, 0.1, 0]), scores, np.array([1.0, 0, 2, 0]), boundaries)[0]
    # Within the top k nothing is missed.
    assert not strictly([0, 2, 0, 0], [0.9, 0.1, 0.0, 0.0], 2)
    assert strictly([0, 2, 0, 0], [0.9, 0.1, 0.0, 0.0], 1)
