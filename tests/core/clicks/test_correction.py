"""Corrections of trainings on clicks, against LightGBM's and XGBoost's own."""

import json
from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np
import pytest
import xgboost

from core.clicks.binding import BiasedObjective, LossBinding, SignedObjective
from core.clicks.correction import ClickCorrection, Clipping
from core.clicks.dual import DualBias, DualObjective
from core.clicks.position_bias import AdditiveBias, RatioBias, ShownQueries
from core.clicks.ratio import RatioObjective
from core.data import RankingDataset
from core.data.texts import Texts
from core.errors import InvalidInput
from core.losses import make_loss
from tests.core.clicks.lightgbm_lambdarank import PlainLambdarank

QUERIES, DOCUMENTS = 60, 8


def clicked(seed: int = 0) -> RankingDataset:
    """Return lists in the order shown, with fewer clicks at lower ranks."""
    stream = np.random.default_rng(seed)
    features = stream.normal(size=(QUERIES * DOCUMENTS, 5)).round(2)
    ranks = np.tile(np.arange(1, DOCUMENTS + 1), QUERIES)
    relevant = 1.0 / (1.0 + np.exp(-features[:, 0] - 0.5 * features[:, 1]))
    clicks = stream.random(len(ranks)) < relevant / ranks**0.7
    return RankingDataset.from_arrays(
        features,
        clicks.astype(float),
        np.arange(QUERIES + 1) * DOCUMENTS,
        document_columns={"rank": [str(rank) for rank in ranks]},
    )


def test_the_additive_correction_grows_the_trees_of_lightgbm() -> None:
    """The additive correction grows the trees of LightGBM's `position`, bit for bit on one thread."""
    dataset = clicked()
    ranks = ClickCorrection().ranks_of(dataset)
    parameters: dict[str, Any] = {
        "num_leaves": 7,
        "min_data_in_leaf": 5,
        "min_sum_hessian_in_leaf": 0.0,
        "learning_rate": 0.15,
        "num_threads": 1,
        "deterministic": True,
        "force_col_wise": True,
        "verbosity": -1,
        "lambdarank_norm": False,
        "lambdarank_position_bias_regularization": 0.25,
    }
    fitted: dict[str, Any] = {
        "label": dataset.labels,
        "group": np.full(QUERIES, DOCUMENTS),
        "params": parameters,
    }
    theirs = lightgbm.train(
        parameters | {"objective": "lambdarank"},
        lightgbm.Dataset(dataset.matrix, position=ranks, **fitted),
        num_boost_round=12,
    )
    bias = AdditiveBias(DOCUMENTS, step=0.15, regularization=0.25)
    plain = PlainLambdarank(dataset.labels, dataset.query_boundaries)
    objective = BiasedObjective(plain, ranks - 1, bias)  # type: ignore[arg-type] # its terms are not needed
    ours = lightgbm.Booster(parameters | {"objective": "none"}, lightgbm.Dataset(dataset.matrix, **fitted))

    def derivatives(scores: np.ndarray, _: lightgbm.Dataset) -> tuple[np.ndarray, np.ndarray]:
        found = objective(scores, 0)
        objective.observe()
        bias.update()
        return found

    for _ in range(12):
        ours.update(fobj=derivatives)
    trees = [
        booster.model_to_string().partition("Tree=0")[2].partition("end of trees")[0]
        for booster in (theirs, ours)
    ]
    assert trees[0] == trees[1]
    assert np.abs(bias.terms).max() > 0.1
    naive = lightgbm.train(
        parameters | {"objective": "lambdarank"},
        lightgbm.Dataset(dataset.matrix, **fitted),
        num_boost_round=12,
    )
    assert naive.model_to_string() != theirs.model_to_string()


@pytest.mark.parametrize(
    ("loss", "objective", "norm"),
    [("lambdarank", "rank:ndcg", 1.0), ("lambdarank", "rank:ndcg", 2.0), ("ranknet", "rank:pairwise", 1.0)],
)
def test_ratios_and_gradients_equal_those_of_xgboost(loss: str, objective: str, norm: float) -> None:
    """The ratios t⁺ and t⁻, and gradients by the trees that follow them, are XGBoost's to 1e-6."""
    dataset = clicked()
    boundaries = dataset.query_boundaries
    data = xgboost.DMatrix(dataset.matrix, dataset.labels, group=np.diff(boundaries))
    booster = xgboost.Booster(
        {
            "objective": objective,
            "lambdarank_unbiased": True,
            "lambdarank_bias_norm": norm,
            "lambdarank_pair_method": "topk",
            "lambdarank_num_pair_per_sample": DOCUMENTS,
            "lambdarank_normalization": False,
            "lambdarank_score_normalization": False,
            "base_score": 0.0,
            "lambda": 0.0,
            "max_depth": 4,
            "nthread": 1,
        },
        [data],
    )
    positions = ClickCorrection().ranks_of(dataset) - 1
    bias = RatioBias(DOCUMENTS, norm)
    queries = ShownQueries(
        dataset.labels.astype(np.float64), boundaries, np.ones(QUERIES), np.ones(len(positions)), positions
    )
    ours = RatioObjective(make_loss(loss), queries, bias, xgboost_loss=True)  # type: ignore[arg-type]
    for iteration in range(5):
        scores = booster.predict(data, output_margin=True).astype(np.float64)
        factors = xgboost_ratios(booster) if iteration else (np.ones(DOCUMENTS), np.ones(DOCUMENTS))
        np.testing.assert_allclose(bias.clicked, factors[0], rtol=1e-6)
        np.testing.assert_allclose(bias.unclicked, factors[1], rtol=1e-6)
        terms = ours.terms(scores, 0)
        ours.observe()
        bias.update()
        booster.update(data, iteration)
        # XGBoost's hessian is twice the second derivative; a leaf is −Σ g / Σ h times the learning rate 0.3.
        leaves = booster.predict(data, pred_leaf=True).reshape(len(scores), -1)[:, -1]
        after = booster.predict(data, output_margin=True)
        for leaf in np.unique(leaves):
            inside = leaves == leaf
            expected = -0.3 * terms.gradient[inside].sum() / (2.0 * terms.hessian[inside].sum())
            np.testing.assert_allclose(after[inside] - scores[inside], expected, atol=2e-6)
    assert bias.clicked[-1] != pytest.approx(1.0, abs=0.05)


def xgboost_ratios(booster: xgboost.Booster) -> tuple[np.ndarray, np.ndarray]:
    """Return t⁺ and t⁻."""
    found = json.loads(booster.save_config())["learner"]["objective"]
    return np.array(found["ti+"], float), np.array(found["tj-"], float)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ranknet", {"sigma": 1.5}),
        ("lambdarank", {}),
        ("lambdarank", {"truncation_level": 3, "normalization": "lightgbm", "hessian_factor": 2.0}),
        ("lambdarank", {"normalization": "score-gap", "gain": "linear"}),
    ],
)
def test_ratios_of_one_give_the_loss(name: str, options: dict[str, Any]) -> None:
    """With ratios of 1 the pairs give the value, gradient and hessian of the loss, with several options."""
    stream = np.random.default_rng(3)
    sizes = np.array([5, 1, 0, 9, 4])
    boundaries = np.concatenate([[0], np.cumsum(sizes)])
    labels = stream.integers(3, size=boundaries[-1]).astype(float)
    weights, query_weights = stream.random(boundaries[-1]), stream.random(5)
    scores = stream.normal(size=boundaries[-1])
    loss = make_loss(name, **options)
    expected = loss.prepare(labels, boundaries, query_weights, weights).terms(scores, 0)
    positions = np.arange(boundaries[-1]) - np.repeat(boundaries[:-1], sizes)
    queries = ShownQueries(labels, boundaries, query_weights, weights, positions)
    found = RatioObjective(loss, queries, RatioBias(9, 1.0)).terms(scores, 0)  # type: ignore[arg-type]
    for term in ("value", "gradient", "hessian"):
        np.testing.assert_allclose(getattr(found, term), getattr(expected, term), atol=1e-12)


def test_pairs_are_divided_by_the_ratios_of_shown_ranks() -> None:
    """Each pair is divided by t⁺ of the clicked and t⁻ of the other document's shown rank."""
    bias = RatioBias(2, 1.0)
    queries = ShownQueries(np.array([0.0, 1.0]), np.array([0, 2]), np.ones(1), np.ones(2), np.array([0, 1]))
    objective = RatioObjective(make_loss("ranknet"), queries, bias)  # type: ignore[arg-type]
    bias.restore({"clicked": np.array([1.0, 0.5]), "unclicked": np.array([0.8, 0.4])})
    terms = objective.terms(np.array([1.0, 0.0]), 0)
    share = 1.0 / (1.0 + np.exp(-1.0))
    assert terms.gradient[1] == pytest.approx(-share / (0.5 * 0.8), rel=1e-12)
    other = ShownQueries(np.array([1.0, 0.0]), np.array([0, 2]), np.ones(1), np.ones(2), np.array([0, 1]))
    second = RatioObjective(make_loss("ranknet"), other, bias)  # type: ignore[arg-type]
    second.terms(np.array([0.0, 0.0]), 0)
    objective.observe()
    second.observe()
    bias.update()
    losses = np.log1p(np.exp(1.0)), np.log(2.0)
    assert bias.clicked[1] == pytest.approx(((losses[0] / 0.8) / (losses[1] / 0.4)) ** 0.5, rel=1e-12)
    assert bias.unclicked[1] == pytest.approx(((losses[1] / 1.0) / (losses[0] / 0.5)) ** 0.5, rel=1e-12)


def test_clicked_documents_have_inverse_propensity_weights() -> None:
    """Weights of clicked documents are multiplied by 1 / max(p, clip); other weights are unchanged."""
    dataset = replace(clicked(), document_weights=np.full(QUERIES * DOCUMENTS, 2.0))
    correction = ClickCorrection("ips", propensities=tuple(1 / k for k in range(1, 9)), clip=0.2)
    ranks = correction.ranks_of(dataset)
    weights = np.where(dataset.labels > 0, 2.0 * np.minimum(ranks, 5.0), 2.0)
    loss, scores = make_loss("ranknet"), np.random.default_rng(1).normal(size=len(ranks))
    expected = loss.prepare(dataset.labels, dataset.query_boundaries, None, weights).terms(scores, 0)
    binding = LossBinding(loss, dataset, correction)
    np.testing.assert_array_equal(binding.bind_all().terms(scores, 0).gradient, expected.gradient)
    queries = np.array([7, 3])
    rows = np.concatenate([np.arange(56, 64), np.arange(24, 32)])
    part = binding.bind_queries(queries, rows).terms(scores[rows], 0)
    np.testing.assert_allclose(part.gradient, expected.gradient[rows], rtol=1e-12)


@pytest.mark.parametrize("name", ["mse", "arp-loss1", "listnet"])
def test_affine_is_unbiased(name: str) -> None:
    """The mean gradient over all clicks of the model is that of the relevance itself."""
    slopes, intercepts = (0.9, 0.3, 0.2), (0.1, 0.15, 0.05)
    relevance = np.array([0.3, 0.9, 0.6])
    scores, boundaries = np.array([0.5, -0.2, 0.1]), np.array([0, 3])
    correction = ClickCorrection("affine", propensities=slopes, intercepts=intercepts)
    loss = make_loss(name)
    expected = np.zeros(3)
    for clicks in np.ndindex(2, 2, 2):
        rates = np.array(slopes) * relevance + intercepts
        probability = np.prod(np.where(clicks, rates, 1.0 - rates))
        dataset = RankingDataset.from_arrays(
            np.zeros((3, 1)), clicks, boundaries, document_columns={"rank": ["1", "2", "3"]}
        )
        objective = LossBinding(loss, dataset, correction).bind_all()
        assert isinstance(objective, SignedObjective) == (name != "mse")
        expected += probability * objective.terms(scores, 0).gradient
        assert (objective(scores, 0)[1] >= 0.0).all()
    if name == "listnet":  # ListNet divides its targets by their sum
        share = np.exp(scores) / np.exp(scores).sum()
        truth = relevance.sum() * share - relevance
    else:
        truth = loss.prepare(relevance, boundaries).terms(scores, 0).gradient
    np.testing.assert_allclose(expected, truth, atol=1e-12)


def test_the_dual_objective_alternates_propensities_and_scores() -> None:
    """Clicks are weighted by the current propensities, which are fitted to clicks divided by relevance."""
    loss, stream = make_loss("listnet", sigma=1.5), np.random.default_rng(5)
    sizes = np.array([3, 0, 2, 4])
    boundaries, positions = np.append(0, np.cumsum(sizes)), np.array([1, 0, 2, 0, 1, 3, 2, 0, 1])
    clicks = np.array([1.0, 0, 1, 0, 0, 1, 0, 1, 0])
    query_weights, document_weights = np.array([1.0, 1.0, 2.0, 0.5]), stream.random(9)
    queries = ShownQueries(clicks, boundaries, query_weights, document_weights, positions)
    bias = DualBias(4, step=1.0, lower_bound=0.01)
    bias.restore({"logits": np.log([0.8, 0.4, 0.2, 0.1])})
    objective = DualObjective(loss, queries, bias)  # type: ignore[arg-type]
    scores = stream.normal(size=9)
    weights = document_weights * np.array([2.0, 1, 4, 1, 2, 8, 4, 1, 2])
    expected = loss.prepare(clicks, boundaries, query_weights, weights).terms(scores, 0)
    found = objective.terms(scores, 0)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-12)
    np.testing.assert_allclose(found.value, expected.value, rtol=1e-12)
    for _ in range(300):
        objective.terms(scores, 0)
        objective.observe()
        bias.update()

    def value(logits: np.ndarray) -> float:
        """Sum up equation 9 list by list."""
        total = 0.0
        for query in (0, 2, 3):
            rows = slice(*boundaries[query : query + 2])
            at, own, targets = positions[rows], scores[rows], clicks[rows] * document_weights[rows]
            if not targets.any():
                continue
            targets = targets / clicks[rows].sum() * np.exp(1.5 * (own[at == 0] - own))
            shares = np.exp(logits[at]) / np.exp(logits[at]).sum()
            total -= query_weights[query] * (targets * np.log(shares)).sum()
        return total

    least = value(bias.logits)
    for _ in range(20):
        assert value(bias.logits + 0.1 * stream.normal(size=4)) > least - 1e-4


def test_the_report_counts_clipped_clicks() -> None:
    """The report counts clipped clicks, the weight that they lost, and the effective number."""
    dataset = RankingDataset.from_arrays(
        np.zeros((4, 1)), [1, 1, 0, 1], [0, 4], document_columns={"rank": ["1", "2", "3", "4"]}
    )
    correction = ClickCorrection("ips", propensities=(1.0, 0.5, 0.25, 0.1), clip=0.25)
    found = Clipping.of(correction, dataset)
    assert (found.clicks, found.clipped, found.largest) == (3, 1, 4.0)
    assert found.kept == pytest.approx(7.0 / 13.0)
    assert found.effective == pytest.approx(49.0 / 21.0)
    assert "removed 46.2% of the total weight" in found.summary
    assert "No weight was clipped" in Clipping.of(replace(correction, clip=0.1), dataset).summary


def test_unusable_options_losses_and_datasets_are_refused() -> None:
    """Options that conflict, losses without a meaning and datasets without ranks are refused."""
    with pytest.raises(InvalidInput, match="/propensities: ips needs the propensity of each rank"):
        ClickCorrection("ips")
    with pytest.raises(InvalidInput, match="/intercepts: must have one number"):
        ClickCorrection("affine", propensities=(1.0, 0.5), intercepts=(0.1,))
    with pytest.raises(InvalidInput, match="/step: must be at most 1 for dual"):
        ClickCorrection("dual", step=1.5)
    for correction, loss, message in (
        (ClickCorrection("ips", propensities=(1.0,)), make_loss("mse"), "ips weights clicked documents"),
        (ClickCorrection("ratio"), make_loss("listnet"), "supports ranknet, lambdarank"),
        (ClickCorrection("ratio"), make_loss("lambdarank", target="map"), "does not support"),
        (ClickCorrection("dual"), make_loss("lambdarank"), "dual supports listnet; the loss is"),
        (ClickCorrection("dual"), make_loss("listnet", target="softmax"), "dual does not support the loss"),
    ):
        with pytest.raises(InvalidInput, match=message):
            correction.check_loss(loss)
    dataset = clicked()
    short = ClickCorrection("ips", propensities=(1.0, 0.5))
    with pytest.raises(InvalidInput, match="/clicks/propensities: holds 2 ranks"):
        short.ranks_of(dataset)
    with pytest.raises(InvalidInput, match=r"'place'; it has rank. .*_columns\": \[\"place\"\]"):
        ClickCorrection(column="place").ranks_of(dataset)
    for entry, message in (
        ("first", "must hold a whole number"),
        ("0", "holds 0; ranks begin at 1"),
        ("123456789", "holds 123,456,789; the greatest rank is 32,767"),
    ):
        column = {"rank": Texts.of([entry, *["1"] * (QUERIES * DOCUMENTS - 1)])}
        with pytest.raises(InvalidInput, match=message):
            ClickCorrection().ranks_of(replace(dataset, document_columns=column))
