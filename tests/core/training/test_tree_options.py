"""LightGBM's options of trees: equal bytes on any threads and after interruptions, and LightGBM's scores."""

from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

from core.data import RankingDataset, split_queries, synthetic_dataset
from core.errors import InvalidInput, ModelError
from core.export import TreeExport, export_model
from core.scoring import Forest
from core.store.artifacts.local_cache import LocalCache
from core.training import CachedBins, TrainedRanker, train, training_spec
from core.training.derivatives import on_common_grid
from tests.core.training.test_resuming import are_equal, checkpoint_at, spec_of

Datasets = tuple[RankingDataset, RankingDataset]
FEATURES = tuple(f"f{i}" for i in range(1, 7))
RESUMABLE: dict[str, dict[str, Any]] = {
    "monotone, basic": {"monotone_constraints": {"f1": 1, "f2": -1}, "monotone_penalty": 0.5},
    "monotone, intermediate": {
        "monotone_constraints": {"f1": 1},
        "monotone_constraints_method": "intermediate",
    },
    "monotone, advanced": {"monotone_constraints": {"f2": -1}, "monotone_constraints_method": "advanced"},
    "interactions": {"interaction_constraints": [["f1", "f2"], ["f3", "f4", "f5"]]},
    "factors of gains": {"feature_contri": {"f1": 0.1, "f6": 2.0}},
    "goss": {"data_sample_strategy": "goss", "learning_rate": 0.3, "top_rate": 0.2, "other_rate": 0.1},
    "linear": {"linear_tree": True, "linear_lambda": 0.1},
    "linear, sampled": {"linear_tree": True, "bagging_fraction": 0.4, "bagging_freq": 2},
    "quantised": {"use_quantized_grad": True},
    "quantised, to the nearest": {"use_quantized_grad": True, "stochastic_rounding": False},
    "quantised, leaves renewed": {
        "use_quantized_grad": True,
        "stochastic_rounding": False,
        "quant_train_renew_leaf": True,
        "num_grad_quant_bins": 8,
    },
    "quantised, all queries drawn from": {"use_quantized_grad": True, "query_fraction": 0.7},
}
DART: dict[str, dict[str, Any]] = {
    "by weight": {"drop_rate": 0.3, "skip_drop": 0.2},
    "uniform": {"drop_rate": 0.3, "skip_drop": 0.0, "uniform_drop": True, "max_drop": 3},
    "as XGBoost": {"drop_rate": 0.5, "skip_drop": 0.0, "xgboost_dart_mode": True},
    "sampled": {"drop_rate": 0.3, "bagging_fraction": 0.7, "bagging_freq": 1, "feature_fraction": 0.7},
    "linear": {"drop_rate": 0.3, "linear_tree": True},
}
OPTIONS = RESUMABLE | {f"dart, {name}": {"boosting": "dart", **options} for name, options in DART.items()}


@pytest.fixture(scope="module")
def datasets() -> Datasets:
    """Documents of several of LightGBM's blocks, with missing values."""
    complete = synthetic_dataset(160, seed=1, documents_per_query=20, n_features=len(FEATURES))
    features = complete.matrix.copy()
    features[np.random.default_rng(0).random(features.shape) < 0.05] = np.nan
    return split_queries(complete.with_features(features, FEATURES), fraction=0.33, seed=1)


def ranker_of(datasets: Datasets, threads: int = 1, **hyperparameters: Any) -> TrainedRanker:
    """Train a few small trees."""
    return train(spec_of(**hyperparameters), *datasets, threads=threads)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_every_option_has_an_effect(options: dict[str, Any], datasets: Datasets) -> None:
    """The trees differ from those without the option."""
    assert (
        ranker_of(datasets, **options).model_text.partition("end of trees")[0]
        != (ranker_of(datasets).model_text.partition("end of trees")[0])
    )


@pytest.mark.parametrize("options", RESUMABLE.values(), ids=RESUMABLE.keys())
def test_any_threads_and_any_interruption_give_the_same_bytes(
    options: dict[str, Any], datasets: Datasets
) -> None:
    """A training that was resumed twice, on two threads, and one on three threads give the same bytes."""
    spec = spec_of(**options)
    whole = train(spec, *datasets)
    assert are_equal(train(spec, *datasets, threads=3), whole)
    checkpoint = checkpoint_at(8, spec, *datasets, resume=checkpoint_at(3, spec, *datasets))
    assert are_equal(train(spec, *datasets, resume=checkpoint, threads=2), whole)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_scores_are_those_of_lightgbm(options: dict[str, Any], datasets: Datasets) -> None:
    """The scores equal those of LightGBM's `predict` bit for bit."""
    text, features = ranker_of(datasets, **options).model_text, datasets[1].matrix
    expected = lightgbm.Booster(model_str=text).predict(features, raw_score=True)
    np.testing.assert_array_equal(Forest.parse(text).score(features), expected)


@pytest.mark.parametrize("method", ["basic", "intermediate", "advanced"])
@pytest.mark.parametrize("sign", [1, -1])
def test_scores_follow_a_constrained_feature(method: str, sign: int) -> None:
    """Scores move only in the requested direction, although labels rise and fall."""
    generator = np.random.default_rng(1)
    features = generator.normal(size=(2_000, 2)).astype(np.float32)
    labels = (np.abs(features[:, 0]) + generator.normal(scale=0.3, size=2_000) > 0.8).astype(np.float32)
    dataset = RankingDataset.from_arrays(features, labels, np.arange(0, 2_001, 20), feature_names=["x", "y"])
    spec = spec_of(monotone_constraints={"x": sign}, monotone_constraints_method=method)
    forest = Forest.parse(train(spec, dataset).model_text)
    grid = np.column_stack([np.tile(np.linspace(-3, 3, 50), 40), np.repeat(features[:40, 1], 50)])
    steps = np.diff(forest.score(grid).reshape(40, 50), axis=1)
    assert (sign * steps >= 0).all()
    assert (steps != 0).any()


def test_renewed_leaves_are_newton_steps_of_the_exact_gradients(datasets: Datasets) -> None:
    """A leaf's value is −η · Σ gradient / Σ hessian of its documents, to the precision of the grid."""
    options = RESUMABLE["quantised, leaves renewed"] | {"num_iterations": 1}
    booster = lightgbm.Booster(model_str=ranker_of(datasets, **options).model_text)
    training = datasets[0]
    loss = spec_of(**options).loss.prepare(training.labels, training.query_boundaries)
    gradient, hessian = loss(np.zeros(training.n_documents), 0)
    leaves: Any = booster.predict(training.matrix, pred_leaf=True)
    for leaf in np.unique(leaves):
        of_leaf = leaves.ravel() == leaf
        step = -0.1 * gradient[of_leaf].sum(dtype=np.float64) / hessian[of_leaf].sum(dtype=np.float64)
        assert booster.get_leaf_output(0, int(leaf)) == pytest.approx(step, rel=1e-5, abs=1e-7)


def test_renewed_leaves_are_those_of_plain_lightgbm_on_the_grid(datasets: Datasets) -> None:
    """Plain LightGBM grows the same trees if gradients are rounded to the grid that makes sums exact."""
    options = RESUMABLE["quantised, leaves renewed"]
    spec, training = spec_of(**options), datasets[0]
    loss = spec.loss.prepare(training.labels, training.query_boundaries)
    names = list(training.feature_names)
    shape = {"num_leaves": 15, "min_data_in_leaf": 5, "objective": "none", "num_threads": 2, "verbosity": -1}
    booster = lightgbm.Booster(
        options | shape,
        lightgbm.Dataset(training.matrix, np.zeros(training.n_documents), feature_name=names),
    )
    expected = train(spec, training).model_text
    iterations = iter(range(spec.hyperparameters.num_iterations))

    def objective(scores: Any, _: lightgbm.Dataset) -> tuple[Any, Any]:
        gradients, hessians = loss(scores, next(iterations))
        return on_common_grid(gradients), on_common_grid(hessians)

    for _ in range(spec.hyperparameters.num_iterations):
        booster.update(fobj=objective)
    trees = [text.partition("end of trees")[0] for text in (booster.model_to_string(), expected)]
    assert trees[0] == trees[1]


def test_features_of_two_groups_share_no_branch(datasets: Datasets) -> None:
    """Each path stays within a group, and a feature in none is never used."""
    groups = [["f1", "f2"], ["f3", "f4"]]
    text = ranker_of(datasets, interaction_constraints=groups).model_text
    used = {
        frozenset(path)
        for tree in lightgbm.Booster(model_str=text).dump_model()["tree_info"]
        for path in paths(tree["tree_structure"], ())
    }
    assert all(any(path <= {int(name[1:]) - 1 for name in group} for group in groups) for path in used)
    assert max(map(len, used)) == 2


def paths(node: dict[str, Any], above: tuple[int, ...]) -> Any:
    """Yield the features on the path to each leaf."""
    if "split_feature" not in node:
        yield above
        return
    for side in ("left_child", "right_child"):
        yield from paths(node[side], (*above, node["split_feature"]))


@pytest.mark.parametrize(
    "options",
    [
        {"monotone_constraints": {"f11": 1}},
        {"interaction_constraints": [["f1"], ["f11"]]},
        {"feature_contri": {"f11": 2.0}},
    ],
)
def test_unknown_features_are_refused(options: dict[str, Any], datasets: Datasets) -> None:
    """The error is raised before the training and suggests the nearest name."""
    with pytest.raises(InvalidInput) as refused:
        ranker_of(datasets, **options)
    (problem,) = refused.value.problems
    assert problem.pointer == f"/hyperparameters/{next(iter(options))}"
    assert problem.detail == "the dataset has no feature 'f11'; did you mean f1?"


@pytest.mark.parametrize(
    ("hyperparameters", "pointer"),
    [
        ({"monotone_constraints": {"f1": 2}}, "/monotone_constraints"),
        ({"monotone_constraints": {"f1": 0.5}}, "/monotone_constraints"),
        ({"monotone_constraints": [1, 0]}, "/monotone_constraints"),
        ({"interaction_constraints": [[]]}, "/interaction_constraints"),
        ({"interaction_constraints": ["f1"]}, "/interaction_constraints"),
        ({"feature_contri": {"f1": -1.0}}, "/feature_contri"),
        (
            {"data_sample_strategy": "goss", "bagging_fraction": 0.5, "bagging_freq": 1},
            "/data_sample_strategy",
        ),
        ({"data_sample_strategy": "goss", "top_rate": 0.7, "other_rate": 0.4}, "/other_rate"),
        ({"use_quantized_grad": True, "quant_train_renew_leaf": True}, "/quant_train_renew_leaf"),
        ({"use_quantized_grad": True, "linear_tree": True}, "/linear_tree"),
        ({"linear_tree": True, "monotone_constraints": {"f1": 1}}, "/linear_tree"),
        ({"num_grad_quant_bins": 128}, "/num_grad_quant_bins"),
        ({"boosting": "rf"}, "/boosting"),
        (
            {"monotone_constraints_method": "advanced", "feature_fraction_bynode": 0.5},
            "/monotone_constraints_method",
        ),
    ],
)
def test_invalid_and_incompatible_values_are_refused(hyperparameters: dict[str, Any], pointer: str) -> None:
    """The error has the pointer in the job."""
    with pytest.raises(InvalidInput) as refused:
        training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": hyperparameters})
    assert [problem.pointer for problem in refused.value.problems] == [f"/hyperparameters{pointer}"]


def test_kept_bins_of_linear_trees_keep_the_values(datasets: Datasets, tmp_path: Path) -> None:
    """Linear leaves read feature values, which only the bins that are kept for linear trees include."""
    cache = LocalCache(tmp_path, 10**8)
    bins = CachedBins(cache, "training", "validation")
    train(spec_of(), *datasets, cached_bins=bins)
    spec = spec_of(linear_tree=True)
    texts = [train(spec, *datasets, cached_bins=bins).model_text for _ in range(2)]
    assert texts == [train(spec, *datasets).model_text] * 2
    assert len(list(tmp_path.rglob("bins"))) == 4


def test_linear_trees_are_refused_by_an_export_to_onnx(datasets: Datasets) -> None:
    """The error names linear trees; a model of dart, whose trees are ordinary, is exported to Python."""
    with pytest.raises(
        ModelError, match="the model has linear trees; only the format lightgbm supports this, onnx does not"
    ):
        export_model(ranker_of(datasets, linear_tree=True).model_text, "onnx")
    export = export_model(ranker_of(datasets, boosting="dart").model_text, "python")
    assert isinstance(export, TreeExport)
    assert export.written


def test_infinite_features_of_linear_leaves_are_named() -> None:
    """A linear leaf multiplies an infinite feature; the error is that of the option, not of the scores."""
    features = np.array([[np.inf], [np.inf], [0.0]], np.float32)
    dataset = RankingDataset.from_arrays(features, [1, 0, 4], [0, 1, 3])
    small = {"num_iterations": 3, "num_leaves": 4, "min_data_in_leaf": 1, "linear_tree": True}
    spec = training_spec({"loss": {"name": "w-ranknet"}, "hyperparameters": small})
    with pytest.raises(InvalidInput, match="linear_tree: multiplies features, some of which are infinite"):
        train(spec, dataset)
