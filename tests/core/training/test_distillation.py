"""Labels from the scores of a teacher."""

import numpy as np
import pytest

from core.errors import InvalidInput
from core.losses import Loss, make_loss
from core.training.distillation import labels_of_scores, teacher_reference

BOUNDARIES = np.array([0, 2, 5])
LAMBDARANK, MSE = make_loss("lambdarank"), make_loss("mse")
SCORES = np.array([-1.0, 1.0, 5.0, 9.0, 6.0])


def test_differences_keep_their_proportions() -> None:
    """The widest query reaches the largest judged label; the lowest document of each query has 0."""
    judged = np.array([0, 3, np.nan, 1, 0], np.float32)
    expected = 3 * np.array([0, 2, 0, 4, 1]) / 4
    np.testing.assert_array_equal(
        labels_of_scores(SCORES, BOUNDARIES, judged, LAMBDARANK), expected.astype(np.float32)
    )


def test_shifted_queries_have_the_same_labels() -> None:
    """Scores of a ranker have a meaning only relative to those of the same query."""
    judged = np.zeros(5, np.float32)
    shifted = SCORES + np.repeat([100.0, -7.0], [2, 3])
    found = labels_of_scores(shifted, BOUNDARIES, judged, LAMBDARANK)
    np.testing.assert_array_equal(found, labels_of_scores(SCORES, BOUNDARIES, judged, LAMBDARANK))
    assert found.max() == 4.0


def test_a_loss_that_fits_labels_gets_one_shift_for_all_documents() -> None:
    """A shift per query would not be a function of the features of a document."""
    judged = np.array([0, 3, np.nan, 1, 0], np.float32)
    expected = 3 * (SCORES + 1.0) / 10.0
    np.testing.assert_allclose(labels_of_scores(SCORES, BOUNDARIES, judged, MSE), expected, rtol=1e-6)


@pytest.mark.parametrize("loss", [LAMBDARANK, MSE], ids=["lambdarank", "mse"])
def test_equal_scores_within_queries_give_no_positive_label(loss: Loss) -> None:
    """A teacher with equal scores within each query gives no label above 0."""
    scores = np.repeat([1.0, 2.0], [2, 3])
    assert not labels_of_scores(scores, BOUNDARIES, np.ones(5, np.float32), loss).any()


@pytest.mark.parametrize("labels_from", ["web:3", "model:", "dataset:web"])
def test_only_models_can_be_teachers(labels_from: str) -> None:
    """The prefix allows other sources of labels later."""
    with pytest.raises(InvalidInput):
        teacher_reference(labels_from)
