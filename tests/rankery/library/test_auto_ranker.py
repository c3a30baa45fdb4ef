"""The scikit-learn estimator of automatic training."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import polars
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, cross_val_score

from core.autotrain import AutoSpec, auto_train
from core.data import RankingDataset, synthetic_dataset
from rankery import RankeryAutoRanker
from rankery.errors import InvalidArgument

# A limit so short that any machine tries only one fold of the first candidate.
_SHORT = 0.001
_SMALL: dict[str, Any] = {"metric": "ndcg@5", "budget_seconds": _SHORT}


@pytest.fixture(scope="module")
def data() -> RankingDataset:
    """Return judged queries."""
    return synthetic_dataset(20, seed=1, documents_per_query=10, n_features=4)


@pytest.fixture(scope="module")
def frame(data: RankingDataset) -> polars.DataFrame:
    """Return the features as a frame."""
    return polars.DataFrame(dict(zip("abcd", data.matrix.T, strict=True)))


@pytest.fixture(scope="module")
def fitted(data: RankingDataset, frame: polars.DataFrame) -> RankeryAutoRanker:
    """Return a ranker fitted with the first candidate only."""
    return RankeryAutoRanker(**_SMALL).fit(frame, data.labels, group=np.diff(data.query_boundaries))


def test_the_model_is_that_of_an_automatic_training(
    fitted: RankeryAutoRanker, data: RankingDataset, frame: polars.DataFrame
) -> None:
    """The model equals that of core with the same arguments, and a pickle gives equal scores."""
    expected = auto_train(AutoSpec("ndcg@5", _SHORT), replace(data, feature_names=tuple("abcd")))
    assert fitted.content_ == expected.content
    assert (fitted.sentence_, fitted.estimate_) == (expected.conclusion.sentence, expected.conclusion.value)
    assert list(fitted.members_) == [tried.candidate.name for tried, _ in expected.selected.members]
    copied = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copied.predict(frame), fitted.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame.rename({"a": "e"}))


def test_the_leaderboard_has_candidates_that_were_not_tried(fitted: RankeryAutoRanker) -> None:
    """The leaderboard has the reason for each candidate that was not tried."""
    first, *others = fitted.leaderboard_
    assert (first["status"], first["weight"], first["tied_with_best"]) == ("complete", 1.0, True)
    lower, upper = first["interval"]
    assert lower < first["value"] < upper
    assert {row["status"] for row in others} == {"not-tried"}
    assert all(row["reason"] for row in others)


def test_cross_validation_routes_groups(data: RankingDataset) -> None:
    """Groups are routed as with the other estimator."""
    groups = np.repeat(np.arange(data.n_queries), np.diff(data.query_boundaries))
    with sklearn.config_context(enable_metadata_routing=True):
        values = cross_val_score(
            RankeryAutoRanker(**_SMALL),
            data.matrix,
            data.labels,
            cv=GroupKFold(2),
            params={"groups": groups},
            error_score="raise",
        )
    assert ((values > 0.0) & (values <= 1.0)).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "ndgc"}, "did you mean ndcg"),
        ({"budget_seconds": 0}, "budget_seconds: must be a number of seconds above 0"),
        ({"budget_seconds": "10m"}, "budget_seconds: must be a number of seconds above 0"),
        ({"candidates": ["forest"]}, r"candidates.0: unknown; known: .*'linear by lambdarank, rank-gauss'"),
        ({"prefer": "sum"}, "prefer: must be best or simple"),
        ({}, "one query; at least 2"),
    ],
)
def test_invalid_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    """The error comes before a training starts."""
    with pytest.raises(InvalidArgument, match=message):
        RankeryAutoRanker(**arguments).fit(np.eye(3), [0, 1, 2], group=[3])
