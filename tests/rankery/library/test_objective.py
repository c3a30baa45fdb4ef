"""Losses as objectives of trainings with LightGBM."""

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit

import rankery.lightgbm
from core.data import RankingDataset
from core.data.reading import JudgedFile, read_file
from core.training import train, training_spec
from rankery.errors import InvalidArgument
from rankery.lightgbm import RankingObjective
from tests.rankery.library.conftest import Judged

ROUNDS = 8
SETTINGS: dict[str, Any] = {"num_leaves": 7, "min_data_in_leaf": 5}
PARAMETERS = rankery.lightgbm.parameters(**SETTINGS)
# Losses with and without random numbers by iteration.
LOSSES: list[dict[str, Any]] = [
    {"name": "ndcg-loss2++", "mu": 5.0},
    {"name": "lambdarank", "truncation_level": 5, "pair_selection": "all-random"},
    {"name": "xe-ndcg"},
]


def job_model(loss: dict[str, Any], dataset: RankingDataset, rounds: int = ROUNDS, **settings: Any) -> str:
    """Return the model that a job trains."""
    hyperparameters = {"num_iterations": rounds, **(settings or SETTINGS)}
    return train(training_spec({"loss": loss, "hyperparameters": hyperparameters}), dataset).model_text


def data(judged: Judged, **more: Any) -> lightgbm.Dataset:
    """Return the documents as a LightGBM Dataset."""
    names = list(judged.dataset.feature_names)
    options: dict[str, Any] = {"group": judged.group, "feature_name": names, "free_raw_data": False}
    return lightgbm.Dataset(judged.X, judged.y, **(options | more))


def with_rounds(text: str, rounds: int = ROUNDS) -> str:
    """Return a model with the number of rounds, which `lightgbm.train` writes and jobs do not."""
    return text.replace("[num_iterations: 100]", f"[num_iterations: {rounds}]")


def trees(text: str) -> str:
    """Return a model without its training parameters."""
    return text.split("\nparameters:")[0]


def boosted(objective: RankingObjective, dataset: lightgbm.Dataset, rounds: int = ROUNDS) -> str:
    """Train step by step with the same object, since `lightgbm.train` copies the objective."""
    booster = lightgbm.Booster(PARAMETERS, dataset)
    for _ in range(rounds):
        booster.update(fobj=objective)
    return trees(booster.model_to_string())


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss["name"])
def test_lightgbm_train_gives_the_bytes_of_a_job(loss: dict[str, Any], judged: Judged) -> None:
    """The parameters are those of a job, except the number of rounds: jobs keep LightGBM's default."""
    parameters = {**PARAMETERS, "objective": rankery.lightgbm.objective(**loss)}
    text = lightgbm.train(parameters, data(judged), ROUNDS).model_to_string()
    assert text == with_rounds(job_model(loss, judged.dataset))


@pytest.mark.parametrize(
    "options",
    [
        {"use_quantized_grad": True, "stochastic_rounding": False},
        {"boosting": "dart", "skip_drop": 1.0},
        {"path_smooth": 2.0},
    ],
    ids=str,
)
def test_hyperparameters_give_the_bytes_of_a_job(options: dict[str, Any], judged: Judged) -> None:
    """`parameters` accepts DART without drops, path smoothing and deterministic quantized gradients."""
    settings = SETTINGS | options
    objective = rankery.lightgbm.objective("lambdarank")
    parameters = {**rankery.lightgbm.parameters(**settings), "objective": objective}
    text = lightgbm.train(parameters, data(judged), ROUNDS).model_to_string()
    assert text == with_rounds(job_model({"name": "lambdarank"}, judged.dataset, **settings))


@pytest.mark.long
def test_lightgbms_example_data_gives_the_bytes_of_a_job(shared_data: Any) -> None:
    """LightGBM's ranking example gives equal models after 100 rounds of NDCG-Loss2++."""
    folder = shared_data / "lightgbm-rank"
    file = JudgedFile(folder / "rank.train", "rank.train", folder / "rank.train.query")
    dataset = read_file(file).dataset
    binned = lightgbm.Dataset(
        dataset.matrix,
        dataset.labels,
        group=np.diff(dataset.query_boundaries),
        feature_name=list(dataset.feature_names),
    )
    parameters = {
        **rankery.lightgbm.parameters(),
        "objective": rankery.lightgbm.objective("ndcg-loss2++"),
    }
    expected = job_model({"name": "ndcg-loss2++"}, dataset, 100, num_leaves=31)
    assert lightgbm.train(parameters, binned).model_to_string() == expected


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss["name"])
def test_lgbm_ranker_grows_the_trees_of_a_job(loss: dict[str, Any], judged: Judged) -> None:
    """Clones, and a ranker that was fitted before, grow the same trees."""
    settings = {name: value for name, value in PARAMETERS.items() if name != "objective"}
    ranker = lightgbm.LGBMRanker(
        objective=rankery.lightgbm.objective(**loss), n_estimators=ROUNDS, **settings
    )
    expected = trees(job_model(loss, judged.dataset))
    for one in (ranker, clone(ranker), ranker):
        one.fit(judged.X, judged.y, group=judged.group, feature_name=list(judged.dataset.feature_names))
        assert trees(one.booster_.model_to_string()) == expected


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss["name"])
def test_one_object_trains_again_and_alternates_boosters(
    loss: dict[str, Any], judged: Judged, validation: Judged
) -> None:
    """Each booster counts its iterations, on the same Dataset, on another one, and on both alternating."""
    objective = rankery.lightgbm.objective(**loss)
    expected = [trees(job_model(loss, one.dataset)) for one in (judged, validation)]
    same = data(judged)
    assert boosted(objective, same) == boosted(objective, same) == expected[0]
    assert boosted(objective, data(validation)) == expected[1]
    boosters = [lightgbm.Booster(PARAMETERS, data(one)) for one in (judged, validation)]
    for _ in range(ROUNDS):
        for booster in boosters:
            booster.update(fobj=objective)
    assert [trees(booster.model_to_string()) for booster in boosters] == expected


def test_data_of_deleted_boosters_are_not_kept(judged: Judged) -> None:
    """The objective keeps neither labels nor values derived from them."""
    objective = rankery.lightgbm.objective("lambdarank")
    booster = lightgbm.Booster(PARAMETERS, data(judged))
    booster.update(fobj=objective)
    assert len(objective._trainings) == 1
    del booster
    gc.collect()
    assert len(objective._trainings) == 0


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss["name"])
def test_folds_of_lightgbm_cv_are_separate_trainings(loss: dict[str, Any], judged: Judged) -> None:
    """Each booster grows the trees of a separate training on the documents of its fold."""
    whole = data(judged)
    folds = list(GroupKFold(3).split(judged.X, judged.y, judged.groups))
    parameters = {**PARAMETERS, "objective": rankery.lightgbm.objective(**loss)}
    metric = rankery.lightgbm.metric("ndcg@10")
    result: dict[str, Any] = lightgbm.cv(
        parameters, whole, ROUNDS, folds=GroupKFold(3), feval=metric, return_cvbooster=True
    )
    assert len(result["valid ndcg@10-mean"]) == ROUNDS
    for (rows, _), booster in zip(folds, result["cvbooster"].boosters, strict=True):
        alone = boosted(rankery.lightgbm.objective(**loss), whole.subset(sorted(rows.tolist())))
        assert trees(booster.model_to_string()) == alone


@pytest.mark.parametrize("splitter", [None, ShuffleSplit(2, random_state=1)])
def test_folds_that_split_queries_are_refused(splitter: ShuffleSplit | None, judged: Judged) -> None:
    """The error refuses splits that separate a query, which lightgbm.cv uses for unknown objectives."""
    folds = splitter and list(splitter.split(judged.X))
    parameters = {**PARAMETERS, "objective": rankery.lightgbm.objective("lambdarank")}
    with pytest.raises(InvalidArgument, match="GroupKFold"):
        lightgbm.cv(parameters, data(judged), 2, nfold=3, folds=folds)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss["name"])
def test_a_training_continues_a_model(loss: dict[str, Any], judged: Judged) -> None:
    """The scores are those of a training that begins with the model's scores as `init_score`."""
    parameters = {**PARAMETERS, "objective": rankery.lightgbm.objective(**loss)}
    first = lightgbm.train(parameters, data(judged), 3)
    continued = lightgbm.train(parameters, data(judged), 3, init_model=first)
    offset = data(judged, init_score=first.predict(judged.X, raw_score=True))
    added = lightgbm.train(parameters, offset, 3)
    scores = first.predict(judged.X, raw_score=True) + added.predict(judged.X, raw_score=True)
    np.testing.assert_allclose(continued.predict(judged.X, raw_score=True), scores, rtol=1e-12, atol=1e-12)


def test_weights_of_documents_change_the_model(judged: Judged) -> None:
    """Weights change the model as they do in a job."""
    weights = np.linspace(0.5, 2.0, len(judged.y))
    weighted = RankingDataset.from_arrays(
        judged.X, judged.y, judged.dataset.query_boundaries, document_weights=np.float32(weights)
    )
    expected = trees(job_model(LOSSES[0], weighted))
    assert expected != trees(job_model(LOSSES[0], judged.dataset))
    objective = rankery.lightgbm.objective(**LOSSES[0])
    assert boosted(objective, data(judged, weight=weights)) == expected


def test_changed_groups_labels_and_weights_are_followed(judged: Judged) -> None:
    """After a change of the Dataset, the gradient is that of a new objective on the changed Dataset."""
    objective = rankery.lightgbm.objective("lambdarank")
    changed = data(judged).construct()
    scores = np.linspace(0.0, 1.0, len(judged.y))
    objective(scores, changed)
    changes: list[Callable[[], object]] = [
        lambda: changed.set_group(np.concatenate([[judged.group[:2].sum()], judged.group[2:]])),
        lambda: changed.set_label(judged.y[::-1].copy()),
        lambda: changed.set_weight(np.linspace(0.5, 2.0, len(judged.y))),
        lambda: changed.set_weight(None),
    ]
    for change in changes:
        change()
        for derivative, expected in zip(
            objective(scores, changed), rankery.lightgbm.objective("lambdarank")(scores, changed), strict=True
        ):
            np.testing.assert_array_equal(derivative, expected)


@pytest.mark.parametrize("group", [None, [3, 4], [0, 7], [1.5, 5.5], [[7]], [1, 1, 1, 2, 2, 2, 2]])
def test_wrong_groups_are_named(group: Any) -> None:
    """Groups are refused if they are missing, of other documents, empty, fractional, or query ids."""
    objective = rankery.lightgbm.objective("lambdarank")
    with pytest.raises(InvalidArgument, match=r"^group "):
        objective(np.arange(7.0 if group != [3, 4] else 8.0), np.zeros(7), None, group)
    if group is None:
        with pytest.raises(InvalidArgument, match="group is missing"):
            lightgbm.train(
                {**PARAMETERS, "objective": objective}, lightgbm.Dataset(np.eye(7), np.arange(7.0)), 1
            )


def test_query_ids_instead_of_sizes_are_refused() -> None:
    """The error explains the most common mistake, query ids instead of sizes."""
    with pytest.raises(InvalidArgument, match="query id per document"):
        rankery.lightgbm.objective("lambdarank")(np.ones(4), np.zeros(4), None, np.array([1, 1, 2, 2]))


def test_scores_that_do_not_fit_are_refused() -> None:
    """Scores of several classes are refused; lists are accepted as arrays are."""
    objective = rankery.lightgbm.objective("xe-ndcg")
    with pytest.raises(InvalidArgument, match="scores have shape"):
        objective(np.ones(2), np.zeros((2, 3)), None, np.array([2]))
    gradient, hessian = objective([1.0, 0.0], [0.0, 0.0], None, [2])
    assert gradient[0] < 0.0 < gradient[1]
    assert len(hessian) == 2


def test_samples_of_queries_are_refused(judged: Judged) -> None:
    """LightGBM stops after few trees, or takes all documents, where it samples queries for our objectives."""
    sampling = {"bagging_by_query": True, "bagging_freq": 1, "bagging_fraction": 0.5}
    with pytest.raises(InvalidArgument, match="bagging_by_query"):
        lightgbm.train(
            {"objective": rankery.lightgbm.objective("lambdarank"), **sampling}, data(judged), ROUNDS
        )


def test_positions_are_refused(judged: Judged) -> None:
    """Only LightGBM's own objective supports positions."""
    with pytest.raises(InvalidArgument, match="position"):
        boosted(rankery.lightgbm.objective("lambdarank"), data(judged, position=np.zeros(len(judged.y), int)))


def test_trainings_of_xgboost_are_refused(judged: Judged) -> None:
    """The error names the trainings of LightGBM that take the loss or metric."""
    documents = xgboost.DMatrix(judged.X, judged.y)
    documents.set_group(judged.group)
    with pytest.raises(InvalidArgument, match=r"for lightgbm\.train, .* not for XGBoost"):
        xgboost.train({}, documents, 2, obj=rankery.lightgbm.objective("lambdarank"))
    measured = {"evals": [(documents, "train")], "custom_metric": rankery.lightgbm.metric("ndcg@3")}
    with pytest.raises(InvalidArgument, match=r"for lightgbm\.train, .* not for XGBoost"):
        xgboost.train({"objective": "rank:ndcg"}, documents, 2, **measured)


@pytest.mark.parametrize(
    ("name", "hyperparameters", "message"),
    [
        ("lambdamart", {}, "name: unknown loss"),
        ("ndcg-loss2++", {"sigmoid": 1.0}, "sigmoid: unknown; did you mean sigma"),
        ("ndcg-loss2++", {"mu": -1.0}, "mu: must be"),
        ("lambdarank", {"persistence": 0.5}, "persistence: has no effect unless"),
    ],
)
def test_wrong_losses_are_refused_before_a_training(
    name: str, hyperparameters: dict[str, Any], message: str
) -> None:
    """The library refuses the losses that a job refuses."""
    with pytest.raises(InvalidArgument, match=message):
        rankery.lightgbm.objective(name, **hyperparameters)


@pytest.mark.parametrize(("label", "message"), [(-1.0, "the smallest label is -1"), (40.0, "gain: ")])
def test_labels_that_a_loss_cannot_use_are_refused(label: float, message: str) -> None:
    """Labels below 0 and labels without a gain are refused."""
    with pytest.raises(InvalidArgument, match=message):
        rankery.lightgbm.objective("lambdarank")(np.array([0.0, label]), np.zeros(2), None, np.array([2]))


def test_iterations_are_not_guessed(judged: Judged) -> None:
    """Copied scores hide the booster, so a loss with random numbers by iteration refuses them."""
    booster = lightgbm.Booster(PARAMETERS, data(judged))
    objective = rankery.lightgbm.objective("xe-ndcg")
    booster.update(fobj=lambda scores, dataset: objective(scores.copy(), dataset))
    with pytest.raises(InvalidArgument, match="draws random numbers by iteration"):
        booster.update(fobj=lambda scores, dataset: objective(scores.copy(), dataset))


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, clone, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_copies_are_equal_and_train_alike(copied: Any, judged: Judged) -> None:
    """Copies made during a training start at the first iteration."""
    objective = rankery.lightgbm.objective("xe-ndcg", seed=7)
    expected = boosted(objective, data(judged))
    booster = lightgbm.Booster(PARAMETERS, data(judged))
    booster.update(fobj=objective)
    other = copied(objective) if copied is not clone else clone(objective, safe=False)
    assert other == objective
    assert repr(other) == "objective('xe-ndcg', seed=7)"
    assert boosted(other, data(judged)) == expected
    assert boosted(rankery.lightgbm.objective("xe-ndcg"), data(judged)) != expected


def test_objectives_are_parameters_of_a_grid_search(judged: Judged) -> None:
    """The search clones and fits each objective."""
    objectives = [rankery.lightgbm.objective(name) for name in ("lambdarank", "xe-ndcg")]
    settings = {name: value for name, value in PARAMETERS.items() if name != "objective"}
    ranker = lightgbm.LGBMRanker(n_estimators=2, **settings)
    rows = np.arange(len(judged.y))
    search = GridSearchCV(
        ranker, {"objective": objectives}, cv=[(rows, rows)], scoring=_mean_score, refit=False
    )
    search.fit(judged.X, judged.y, group=judged.group)
    first, second = search.cv_results_["mean_test_score"]
    assert np.isfinite([first, second]).all()
    assert first != second


def _mean_score(ranker: Any, X: Any, y: Any) -> float:
    return float(np.mean(ranker.predict(X)))
