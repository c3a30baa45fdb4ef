"""The scikit-learn estimator of rankings."""

import datetime as dt
import pickle
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
import pandas
import polars
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import _num_samples

from core.metrics import parse_metric
from core.training import train, training_spec
from rankery import RankeryAutoRanker, RankeryRanker
from rankery.errors import InvalidArgument, WrongType
from tests.rankery.library.conftest import Judged

SMALL: dict[str, Any] = {"num_iterations": 8, "num_leaves": 7, "min_data_in_leaf": 5}


class RankerOfOneQuery(RankeryRanker):
    """A ranker for scikit-learn's checks, which have no groups and use targets that are not grades."""

    def __init__(
        self, loss: Any = "lambdarank", *, num_iterations: int = 5, min_data_in_leaf: int = 1
    ) -> None:
        super().__init__(loss, num_iterations=num_iterations, min_data_in_leaf=min_data_in_leaf)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Rank all documents as one query, with grades from 0."""
        return super().fit(X, _grades(y), group=[_num_samples(X)], sample_weight=sample_weight)

    def score(self, X: Any, y: Any) -> float:  # type: ignore[override]
        """Measure all documents as one query."""
        return super().score(X, _grades(y), group=[_num_samples(X)])


def _grades(y: Any) -> Any:
    """Return grades for finite numeric targets, and other targets unchanged for the estimator to refuse."""
    values = np.asarray(y)
    if (
        values.dtype.kind not in "biuf"
        or values.ndim != 1
        or not len(values)
        or not np.isfinite(values).all()
    ):
        return y
    return np.clip(np.round(values - values.min()), 0, 4)


def _expected_failures(_: RankerOfOneQuery) -> dict[str, str]:
    """Return the checks that do not apply to rankers, with the reason."""
    return {
        "check_sample_weight_equivalence_on_dense_data": "a document of weight 0 still takes a rank",
    }


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [RankerOfOneQuery()], expected_failed_checks=_expected_failures
)
def test_the_estimator_checks_of_scikit_learn_pass(estimator: RankerOfOneQuery, check: Any) -> None:
    """The ranker passes all checks for an estimator that is neither a classifier nor a regressor."""
    check(estimator)


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ({"loss": {"name": "ndcg-loss2++", "mu": 5.0}}, {"loss": {"name": "ndcg-loss2++", "mu": 5.0}}),
        (
            {"bagging_fraction": 0.5, "bagging_freq": 1, "seed": 7},
            {"loss": {"name": "lambdarank"}, "seed": 7},
        ),
        (
            {"loss": "xe-ndcg", "hyperparameters": {"query_fraction": 0.5}, "n_jobs": 1},
            {"loss": {"name": "xe-ndcg"}},
        ),
    ],
)
def test_the_model_is_that_of_a_job(
    arguments: dict[str, Any], settings: dict[str, Any], judged: Judged
) -> None:
    """The model has the bytes of a job's model, with all random choices, from both forms of groups."""
    ranker = RankeryRanker(**SMALL, **arguments)
    drawn = {name: arguments[name] for name in ("bagging_fraction", "bagging_freq") if name in arguments}
    hyperparameters = {**SMALL, **drawn, **arguments.get("hyperparameters", {})}
    expected = train(
        training_spec({**settings, "hyperparameters": hyperparameters}), judged.dataset
    ).model_text
    assert ranker.fit(judged.X, judged.y, group=judged.group).model_text_ == expected
    assert clone(ranker).fit(judged.X, judged.y, groups=judged.groups).model_text_ == expected


def test_validation_picks_the_iteration_of_a_job(judged: Judged, validation: Judged) -> None:
    """Early stopping uses the metric and the contract of the validation."""
    settings = {
        "loss": {"name": "lambdarank"},
        "hyperparameters": {**SMALL, "num_iterations": 100},
        "metrics": ["ndcg@5"],
        "contract": "trec_eval",
        "early_stopping": {"metric": "ndcg@5", "rounds": 3},
    }
    expected = train(training_spec(settings), judged.dataset, validation.dataset)
    ranker = RankeryRanker(
        **{**SMALL, "num_iterations": 100}, metric="nDCG@5", contract="trec_eval", early_stopping_rounds=3
    )
    pair = (validation.X, validation.y)
    for held_out in (
        {"eval_set": pair, "eval_group": validation.group},
        {"eval_set": [pair], "eval_group": [validation.group]},
        {"eval_set": [pair], "eval_groups": [validation.groups]},
        {"eval_set": [pair], "eval_groups": validation.groups},
    ):
        ranker.fit(judged.X, judged.y, group=judged.group, **held_out)
        assert ranker.model_text_ == expected.model_text
        assert ranker.best_iteration_ == expected.best_iteration < len(expected.history)
    curve = ranker.evals_result_["validation"]["ndcg@5"]
    assert curve == [report.values["validation"]["ndcg@5"] for report in expected.history]


@pytest.mark.parametrize("metric", ["ndcg@10", "arp"])
def test_the_score_is_the_mean_of_the_metric(metric: str, judged: Judged, validation: Judged) -> None:
    """The score of a cost is negative, so that searches maximise it."""
    ranker = RankeryRanker(**SMALL, metric=metric).fit(judged.X, judged.y, group=judged.group)
    measured = parse_metric(metric)
    values = measured(ranker.predict(validation.X), validation.y, validation.dataset.query_boundaries)
    expected = float(np.nanmean(values)) * (1 if measured.higher_is_better else -1)
    assert ranker.score(validation.X, validation.y, group=validation.group) == expected
    assert ranker.score(validation.X, validation.y, groups=validation.groups) == expected


def test_labels_of_another_order_than_the_frame_are_refused(judged: Judged) -> None:
    """A Series is matched with the frame by position, which a sorted Series would break."""
    features, labels = pandas.DataFrame(judged.X).rename(columns=str), pandas.Series(judged.y)
    with pytest.raises(InvalidArgument, match=r"^y: the index has the labels of the index of X in another"):
        RankeryRanker(**SMALL).fit(features, labels.sample(frac=1.0, random_state=0), group=judged.group)


@pytest.mark.parametrize("estimator", [RankeryRanker(), RankeryAutoRanker()])
def test_a_failed_fit_leaves_the_estimator_unfitted(estimator: Any, judged: Judged) -> None:
    """Predicting after a failed fit raises scikit-learn's error, which asks to call fit first."""
    with pytest.raises(InvalidArgument, match="give group"):
        estimator.fit(judged.X, judged.y)
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        estimator.predict(judged.X)
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        estimator.score(judged.X, judged.y, group=judged.group)


def test_a_failed_fit_forgets_the_earlier_model(judged: Judged) -> None:
    """The earlier model would score features in the order of the failed fit."""
    frame = pandas.DataFrame(judged.X).rename(columns=str)
    ranker = RankeryRanker(**SMALL).fit(frame, judged.y, group=judged.group)
    reordered = frame[frame.columns[::-1]]
    with pytest.raises(InvalidArgument, match="labels"):
        ranker.fit(reordered, judged.y - 5, group=judged.group)
    with pytest.raises(NotFittedError):
        ranker.predict(reordered)


def test_rows_may_be_in_any_order(judged: Judged) -> None:
    """Rows with query ids can be in any order; the model uses queries in order of first appearance."""
    order = np.argsort(np.arange(len(judged.y)) % 3, kind="stable")
    ranker = RankeryRanker(**SMALL).fit(judged.X[order], judged.y[order], groups=judged.groups[order])
    gathered = np.concatenate(
        [order[judged.groups[order] == query] for query in dict.fromkeys(judged.groups[order])]
    )
    sizes = [int((judged.groups == query).sum()) for query in dict.fromkeys(judged.groups[order])]
    expected = RankeryRanker(**SMALL).fit(judged.X[gathered], judged.y[gathered], group=sizes)
    assert ranker.model_text_ == expected.model_text_


def test_a_grid_search_routes_groups(judged: Judged) -> None:
    """The search routes groups to the splitter, to fit and to score, as a ranker fitted by hand."""
    grid = {"loss": ["lambdarank", {"name": "ndcg-loss2++", "mu": 5.0}], "num_leaves": np.array([4, 7])}
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(RankeryRanker(**SMALL), grid, cv=GroupKFold(3))
        search.fit(judged.X, judged.y, groups=judged.groups)
        alone = cross_val_score(
            RankeryRanker(**{**SMALL, "num_leaves": 4}),
            judged.X,
            judged.y,
            cv=GroupKFold(3),
            params={"groups": judged.groups},
        )
    by_hand = []
    for rows, held_out in GroupKFold(3).split(judged.X, judged.y, judged.groups):
        ranker = RankeryRanker(**{**SMALL, "num_leaves": 4})
        ranker.fit(judged.X[rows], judged.y[rows], groups=judged.groups[rows])
        by_hand.append(ranker.score(judged.X[held_out], judged.y[held_out], groups=judged.groups[held_out]))
    first = [search.cv_results_[f"split{fold}_test_score"][0] for fold in range(3)]
    assert first == list(alone) == by_hand
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    expected = RankeryRanker(**{**SMALL, **search.best_params_}).fit(judged.X, judged.y, groups=judged.groups)
    assert search.best_estimator_.model_text_ == expected.model_text_


def test_a_pipeline_routes_groups(judged: Judged) -> None:
    """The pipeline routes groups past a step without groups."""
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), RankeryRanker(**SMALL))
        pipeline.fit(judged.X, judged.y, groups=judged.groups)
        assert 0.0 < pipeline.score(judged.X, judged.y, groups=judged.groups) <= 1.0


def test_a_search_without_routing_explains_routing(judged: Judged) -> None:
    """The error explains routing instead of a fit on one query of all documents."""
    search = GridSearchCV(RankeryRanker(**SMALL), {"num_leaves": [4]}, cv=GroupKFold(3), error_score="raise")
    with pytest.raises(InvalidArgument, match="enable_metadata_routing"):
        search.fit(judged.X, judged.y, groups=judged.groups)


@pytest.mark.parametrize("library", [pandas.DataFrame, polars.DataFrame])
def test_frames_keep_their_names(library: Any, judged: Judged) -> None:
    """The model has the frame's column names, and a frame with other columns is refused."""
    names = [f"feature {number}" for number in range(judged.X.shape[1])]
    frame = library(dict(zip(names, judged.X.T, strict=True)))
    ranker = RankeryRanker(**SMALL).fit(frame, judged.y, group=judged.group)
    assert ranker.feature_names_in_.tolist() == names
    assert "feature_names=feature_0 feature_1" in ranker.model_text_
    other = library(dict(zip(reversed(names), judged.X.T, strict=True)))
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(other)


def test_features_may_be_missing(judged: Judged) -> None:
    """Scores with missing values are finite, and infinite values are refused."""
    features = np.where(judged.X > 0.9, np.nan, judged.X)
    ranker = RankeryRanker(**SMALL).fit(features, judged.y, group=judged.group)
    assert np.isfinite(ranker.predict(features)).all()
    with pytest.raises(ValueError, match="infinity"):
        ranker.predict(np.full((1, judged.X.shape[1]), np.inf))


def test_weights_change_the_model(judged: Judged) -> None:
    """The model differs from that without weights, unless all weights are 1."""
    weights = np.linspace(0.1, 3.0, len(judged.y))
    plain = RankeryRanker(**SMALL).fit(judged.X, judged.y, group=judged.group)
    weighted = clone(plain).fit(judged.X, judged.y, group=judged.group, sample_weight=weights)
    ones = clone(plain).fit(judged.X, judged.y, group=judged.group, sample_weight=np.ones(len(judged.y)))
    assert weighted.model_text_ != plain.model_text_ == ones.model_text_


def test_a_pickle_predicts_alike(judged: Judged) -> None:
    """A pickled ranker gives equal scores."""
    ranker = RankeryRanker(**SMALL).fit(judged.X, judged.y, group=judged.group)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(ranker)).predict(judged.X), ranker.predict(judged.X)
    )


@pytest.mark.parametrize(
    ("arguments", "fit", "message"),
    [
        ({}, {}, "give group, the number of documents of each query, or groups"),
        ({}, {"group": [3], "groups": ["a"] * 3}, "give group"),
        ({}, {"group": [2]}, "these 1 add up to 2, and there are 3 documents"),
        ({}, {"groups": ["a"]}, "groups: is of shape"),
        ({}, {"group": [3], "eval_set": (np.eye(3), [0, 1, 2])}, "give eval_group"),
        ({}, {"group": [3], "eval_set": [1, 2, 3], "eval_group": [3]}, "eval_set: must be one pair"),
        ({"early_stopping_rounds": 5}, {"group": [3]}, "early_stopping_rounds: needs an eval_set"),
        (
            {"early_stopping_rounds": 5},
            {"group": [3], "eval_set": (np.eye(3), [0, 0, 0]), "eval_group": [3]},
            "early_stopping: ndcg@10 is undefined on the validation data",
        ),
        ({"loss": "lambdamart"}, {"group": [3]}, "unknown loss"),
        ({"num_leaves": 1}, {"group": [3]}, "hyperparameters.num_leaves: must be"),
        ({"hyperparameters": {"num_leaves": 3}}, {"group": [3]}, "num_leaves is a separate argument"),
        ({"metric": "ndgc"}, {"group": [3]}, "did you mean ndcg"),
        ({}, {"groups": ["a", "b", "a"], "sample_weight": [1, 1, -2]}, "sample_weight: .* document 2"),
        ({}, {"group": [3], "sample_weight": [np.nan, 1, 1]}, "sample_weight: .* document 0"),
    ],
)
def test_invalid_arguments_are_named(arguments: dict[str, Any], fit: dict[str, Any], message: str) -> None:
    """The error names the argument before a training starts."""
    with pytest.raises(InvalidArgument, match=message):
        RankeryRanker(**arguments).fit(np.eye(3), [0, 1, 2], **fit)


@pytest.mark.parametrize("library", [pandas, polars])
def test_categories_are_refused_by_name(library: Any, judged: Judged) -> None:
    """The error names the column; scikit-learn would mention floats, or use categories 1 and 2 as numbers."""
    features, labels, group = judged.X, judged.y, judged.group
    frame = library.DataFrame({"bm25": features[:, 0], "brand": ["a", "b"] * (len(labels) // 2)})
    if library is pandas:
        frame = frame.astype({"brand": "category"})
    else:
        frame = frame.with_columns(polars.col("brand").cast(polars.Categorical))
    with pytest.raises(InvalidArgument, match=r"'brand' has categories.*OrdinalEncoder"):
        RankeryRanker(**SMALL).fit(frame, labels, group=group)


@pytest.mark.parametrize("library", [pandas, polars])
def test_columns_without_numbers_are_refused_by_name(library: Any, judged: Judged) -> None:
    """The error names a column of times or texts; a date of polars would become a number of days."""
    features, labels, group = judged.X, judged.y, judged.group
    columns = {"bm25": features[:, 0], "shown": [dt.datetime(2026, 5, 1)] * len(labels)}
    with pytest.raises(InvalidArgument, match="'shown' has times, but numbers are expected"):
        RankeryRanker(**SMALL).fit(library.DataFrame(columns), labels, group=group)
    columns["shown"] = ["1", "two"] * (len(labels) // 2)
    with pytest.raises(InvalidArgument, match="row 1, column 'shown': expected a number, but found 'two'"):
        RankeryRanker(**SMALL).fit(library.DataFrame(columns), labels, group=group)


def test_a_text_below_a_repeated_name_is_refused_by_its_row(judged: Judged) -> None:
    """Columns of pandas may have equal names; a row beyond the frame would be an IndexError."""
    frame = pandas.DataFrame(judged.X[:, :2], columns=["bm25", "bm25"]).astype(object)
    frame.iloc[-1, 1] = "two"
    with pytest.raises(InvalidArgument, match=rf"row {len(frame) - 1}, column 'bm25'.* found 'two'"):
        RankeryRanker(**SMALL).fit(frame, judged.y, group=judged.group)


def test_a_masked_weight_is_refused(judged: Judged) -> None:
    """The number below a mask is not a weight."""
    weights = np.ma.masked_array(np.ones(len(judged.y)), np.arange(len(judged.y)) == 3)
    with pytest.raises(InvalidArgument, match=r"sample_weight: .* document 3, .* has nan"):
        RankeryRanker(**SMALL).fit(judged.X, judged.y, group=judged.group, sample_weight=weights)


def test_masked_and_lazy_features_are_read(judged: Judged) -> None:
    """A masked value is missing, and a lazy frame is computed."""
    missing = judged.X > 0.5
    expected = RankeryRanker(**SMALL).fit(np.where(missing, np.nan, judged.X), judged.y, group=judged.group)
    masked = np.ma.masked_array(judged.X, missing)
    ranker = RankeryRanker(**SMALL).fit(masked, judged.y, group=judged.group)
    assert ranker.model_text_ == expected.model_text_
    np.testing.assert_array_equal(
        ranker.predict(masked), expected.predict(np.where(missing, np.nan, judged.X))
    )
    frame = polars.DataFrame(judged.X)
    lazy = RankeryRanker(**SMALL).fit(frame.lazy(), judged.y, group=judged.group)
    assert lazy.model_text_ == RankeryRanker(**SMALL).fit(frame, judged.y, group=judged.group).model_text_


def test_a_dictionary_is_refused_with_the_remedy(judged: Judged) -> None:
    """The values of one document are no array; scikit-learn would mention floats."""
    ranker = RankeryRanker(**SMALL).fit(judged.X, judged.y, group=judged.group)
    with pytest.raises(WrongType, match=r"X: .*pandas\.DataFrame\(\[X\]\)"):
        ranker.predict({"bm25": 1.5})


def test_importances_are_shares_of_the_gain(judged: Judged) -> None:
    """Importances add up to 1, as those of scikit-learn's estimators do."""
    features, labels, group = judged.X, judged.y, judged.group
    ranker = RankeryRanker(**SMALL).fit(features, labels, group=group)
    gains = ranker.booster_.feature_importance("gain")
    np.testing.assert_allclose(ranker.feature_importances_, gains / gains.sum())
    assert ranker.feature_importances_.shape == (features.shape[1],)


@pytest.mark.parametrize("method", ["basic", "advanced"])
def test_a_broken_order_is_a_warning(method: str) -> None:
    """The ranker warns if LightGBM's method violates the requested constraints."""
    generator = np.random.default_rng(0)
    features = generator.standard_cauchy(size=(4_000, 3))
    features[generator.random(features.shape) < 0.3] = np.nan
    signal = np.nan_to_num(np.arctan(features[:, 0]) * np.arctan(features[:, 1]))
    grades = np.clip(np.round(signal + generator.normal(scale=0.5, size=4_000) + 1), 0, 4)
    hyperparameters = {"monotone_constraints": {"f1": 1, "f2": -1}, "monotone_constraints_method": method}
    ranker = RankeryRanker(num_iterations=20, hyperparameters=hyperparameters)
    expected = (
        pytest.warns(UserWarning, match="trees violate monotone_constraints")
        if method != "basic"
        else nullcontext()
    )
    with expected:
        ranker.fit(features, grades, group=[20] * 200)
