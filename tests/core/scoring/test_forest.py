"""Scoring stored models."""

import numpy as np
import pytest

from core.data import synthetic_dataset
from core.errors import ModelError
from core.scoring import Forest
from core.training import train, training_spec


@pytest.fixture(scope="module")
def model_text() -> str:
    """A small model."""
    values = {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 3, "num_leaves": 4}}
    return train(training_spec(values), synthetic_dataset(10, seed=1)).model_text


def test_a_stored_model_scores_documents_one_by_one_as_together(model_text: str) -> None:
    """A document's score does not depend on what else is in the request."""
    forest = Forest.parse(model_text)
    features = synthetic_dataset(2, seed=2).features
    together = forest.score(features)
    alone = [forest.score(features[i : i + 1])[0] for i in range(len(features))]
    assert together.tolist() == alone
    assert len(set(alone)) > 1


@pytest.mark.parametrize("text", ["", "tree\n", "tree\nversion=v4\n", '{"tree": 1}', "end of trees"])
def test_a_text_that_is_no_model_is_refused(text: str) -> None:
    """A damaged text raises, it never ends the process."""
    with pytest.raises(ModelError):
        Forest.parse(text)


def test_the_wrong_number_of_features_is_refused(model_text: str) -> None:
    """The message says how many the model needs."""
    with pytest.raises(ModelError, match="needs 50 features, these are 3"):
        Forest.parse(model_text).score(np.zeros((1, 3)))


def test_no_documents_have_no_scores(model_text: str) -> None:
    """An empty request is answered, not refused by LightGBM."""
    assert Forest.parse(model_text).score(np.zeros((0, 50))).shape == (0,)
