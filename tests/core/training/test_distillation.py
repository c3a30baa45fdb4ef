"""Labels that a teacher gives."""

import numpy as np
import pytest

from core.errors import InvalidInput
from core.training.distillation import labels_of_scores, teacher_reference

BOUNDARIES = np.array([0, 2, 5])
SCORES = np.array([-1.0, 1.0, 5.0, 9.0, 6.0])


def test_differences_keep_their_proportions() -> None:
    """The widest query reaches the largest judged label; the lowest document of each query has 0."""
    judged = np.array([0, 3, np.nan, 1, 0], np.float32)
    expected = 3 * np.array([0, 2, 0, 4, 1]) / 4
    np.testing.assert_array_equal(labels_of_scores(SCORES, BOUNDARIES, judged), expected.astype(np.float32))


def test_shifted_queries_have_the_same_labels() -> None:
    """A ranker's scores mean something within a query alone."""
    judged = np.zeros(5, np.float32)
    shifted = SCORES + np.repeat([100.0, -7.0], [2, 3])
    found = labels_of_scores(shifted, BOUNDARIES, judged)
    np.testing.assert_array_equal(found, labels_of_scores(SCORES, BOUNDARIES, judged))
    assert found.max() == 4.0


def test_one_score_is_no_label() -> None:
    """A teacher that tells nothing apart gives no label above 0."""
    assert not labels_of_scores(np.repeat([1.0, 2.0], [2, 3]), BOUNDARIES, np.ones(5, np.float32)).any()


@pytest.mark.parametrize("labels_from", ["web:3", "model:", "dataset:web"])
def test_only_models_teach(labels_from: str) -> None:
    """The prefix leaves room for other sources of labels."""
    with pytest.raises(InvalidInput):
        teacher_reference(labels_from)
