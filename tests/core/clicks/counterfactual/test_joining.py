"""Ranks of the pairs of a log, from scores of a dataset."""

import numpy as np

from core.clicks.counterfactual import join_scores
from tests.core.clicks.counterfactual.logs import log_of


def test_scores_are_joined_by_ids() -> None:
    """Ranks count all ranked documents, those unknown to the log, too; ties keep their order."""
    queries = np.array([0, 1])
    documents = np.array([[0, 1, 2], [2, 1, 0]])
    log = log_of(queries, documents, np.zeros((2, 3)), None, n_documents=3)
    ranking = join_scores(
        "new",
        log,
        ["other", "q1", "q0"],
        ["d0", "d0", "new", "d2", "d1", "d1", "d0", "d2"],
        np.array([0, 1, 5, 8]),
        np.array([9.0, 1.0, 3.0, 2.0, np.nan, 5.0, 5.0, 7.0]),
    )
    # q0: d2, then d1 and d0 by order; q1: new, d2, d0, and d1 is not ranked
    assert ranking.ranks.reshape(2, 3).tolist() == [[3, 2, 1], [3, 0, 2]]
    assert ranking.lengths.tolist() == [3, 3]


def test_a_repeated_document_has_its_best_rank() -> None:
    """The order of its copies in the dataset does not matter."""
    log = log_of(np.array([0]), np.array([[0, 1]]), np.zeros((1, 2)), None, n_documents=2)
    for scores in ([3.0, 2.0, 1.0], [1.0, 2.0, 3.0]):
        ranking = join_scores("new", log, ["q0"], ["d0", "d1", "d0"], np.array([0, 3]), np.array(scores))
        assert ranking.ranks.tolist() == [1, 2]


def test_queries_without_documents_are_not_ranked() -> None:
    """A log's query that the dataset lacks has no ranks."""
    log = log_of(np.array([0, 1]), np.array([[0], [0]]), np.zeros((2, 1)), None, n_documents=1)
    ranking = join_scores("new", log, ["q1"], ["d0"], np.array([0, 1]), np.array([1.0]))
    assert (ranking.ranks.tolist(), ranking.lengths.tolist()) == ([0, 1], [0, 1])
