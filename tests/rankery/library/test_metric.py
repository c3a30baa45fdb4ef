"""Metrics as `feval` and `eval_metric` of trainings with LightGBM."""

import math
import pickle
from typing import Any

import lightgbm
import numpy as np
import pytest

import rankery.lightgbm
from core.metrics import METRICS
from core.training import train, training_spec
from rankery.errors import InvalidArgument
from tests.rankery.library.conftest import Judged

ROUNDS = 6
PARAMETERS = rankery.lightgbm.parameters(num_leaves=7)


def data(judged: Judged, **more: Any) -> lightgbm.Dataset:
    """Return the documents as a LightGBM Dataset."""
    return lightgbm.Dataset(judged.X, judged.y, group=judged.group, **more)


@pytest.mark.parametrize("contract", ["default", "trec_eval", {"preset": "lightgbm", "gain": "linear"}])
def test_curves_are_those_of_a_job(contract: Any, judged: Judged, validation: Judged) -> None:
    """Both datasets have the curves of a job, for each requested metric at every iteration."""
    names = ["ndcg@5", "map", "ndcg_cut_5", "arp"]
    spec = training_spec(
        {
            "loss": {"name": "lambdarank"},
            "hyperparameters": {"num_leaves": 7, "num_iterations": ROUNDS},
            "metrics": names,
            "contract": contract,
        }
    )
    history = train(spec, judged.dataset, validation.dataset).history
    training = data(judged)
    curves: dict[str, dict[str, list[float]]] = {}
    lightgbm.train(
        {**PARAMETERS, "objective": rankery.lightgbm.objective("lambdarank")},
        training,
        ROUNDS,
        valid_sets=[training, data(validation, reference=training)],
        valid_names=["train", "validation"],
        feval=[rankery.lightgbm.metric(name, contract) for name in names],
        callbacks=[lightgbm.record_evaluation(curves)],
    )
    for name in names:
        for part in ("train", "validation"):
            assert curves[part][name] == [report.values[part][name] for report in history], (part, name)


def test_lightgbms_own_ndcg_is_met_by_its_contract(judged: Judged, validation: Judged) -> None:
    """The metric equals LightGBM's NDCG at every iteration."""
    curves: dict[str, dict[str, list[float]]] = {}
    training = data(judged)
    metric = rankery.lightgbm.metric("nDCG@5", "lightgbm")
    lightgbm.train(
        {"objective": "lambdarank", "metric": "ndcg", "eval_at": [5], "num_leaves": 7, "verbosity": -1},
        training,
        ROUNDS,
        valid_sets=[data(validation, reference=training)],
        feval=lambda scores, dataset: ("ours", *metric(scores, dataset)[1:]),
        callbacks=[lightgbm.record_evaluation(curves)],
    )
    (curve_by_metric,) = curves.values()
    assert len(curve_by_metric["ours"]) == ROUNDS
    np.testing.assert_allclose(curve_by_metric["ours"], curve_by_metric["ndcg@5"], rtol=1e-12)


def test_early_stopping_follows_the_direction(judged: Judged, validation: Judged) -> None:
    """Early stopping maximises gains and minimises costs: the best iteration is that of the curve."""
    for name, best in (("ndcg@5", np.argmax), ("arp", np.argmin)):
        ranker = lightgbm.LGBMRanker(
            objective=rankery.lightgbm.objective("lambdarank"),
            metric="none",
            n_estimators=30,
            num_leaves=4,
            verbosity=-1,
        )
        ranker.fit(
            judged.X,
            judged.y,
            group=judged.group,
            eval_X=validation.X,
            eval_y=validation.y,
            eval_group=[validation.group],
            eval_metric=rankery.lightgbm.metric(name),
            callbacks=[lightgbm.early_stopping(5, verbose=False)],
        )
        curve = ranker.evals_result_["valid_0"][name]
        assert ranker.best_iteration_ == best(curve) + 1


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_measured_as_core_measures_it(name: str, judged: Judged) -> None:
    """LGBMRanker measures each metric as core does, with the metric's direction."""
    scores = judged.X[:, 0].astype(np.float64)
    metric = METRICS[name]()
    expected = metric.mean(
        metric(scores, judged.y, judged.dataset.query_boundaries, judged.dataset.document_ids)
    )
    called = rankery.lightgbm.metric(name)(judged.y, scores, None, judged.group)
    assert called == (name, expected, metric.higher_is_better)


def test_a_metric_that_no_query_defines_is_nan() -> None:
    """LightGBM writes NaN for undefined metrics, too."""
    name, mean, _ = rankery.lightgbm.metric("ndcg@10")(np.zeros(3), np.arange(3.0), None, np.array([3]))
    assert name == "ndcg@10"
    assert math.isnan(mean)


def test_wrong_metrics_are_refused_before_a_training() -> None:
    """The error suggests the right name."""
    with pytest.raises(InvalidArgument, match=r"did you mean ndcg@10\?"):
        rankery.lightgbm.metric("ndgc@10")
    with pytest.raises(InvalidArgument, match="unknown preset"):
        rankery.lightgbm.metric("ndcg@10", {"preset": "trec"})  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="group is missing"):
        rankery.lightgbm.metric("ndcg@10")(np.zeros(3), np.zeros(3), None, None)


def test_a_copy_shows_the_name_of_its_metric() -> None:
    """Copies show the metric's name, also after pickling."""
    metric = pickle.loads(pickle.dumps(rankery.lightgbm.metric("AP@5", "trec_eval")))
    assert repr(metric) == "metric('map@5', contract='trec_eval')"


def test_parameters_that_lightgbm_treats_differently_are_refused() -> None:
    """Random choices by iteration, rounded gradients and constraints by feature name are refused."""
    quantized = {"use_quantized_grad": True, "stochastic_rounding": False, "quant_train_renew_leaf": True}
    for options, message in (
        ({"bagging_fraction": 0.5, "bagging_freq": 1}, "random choices"),
        ({"query_fraction": 0.5}, "random choices"),
        (quantized, "a job rounds the gradients first"),
        ({"monotone_constraints": {"f1": 1}}, "by column"),
        ({"num_iterations": 5}, "num_boost_round"),
        ({"num_leafs": 5}, "did you mean num_leaves"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            rankery.lightgbm.parameters(**options)
