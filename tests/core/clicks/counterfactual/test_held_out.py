"""Estimates of rankings from held-out clicks of a training."""

import numpy as np
import pytest

from core.clicks.correction import ClickCorrection
from core.clicks.counterfactual import HeldOutClicks, evaluate_rankings, join_scores, rank_weights
from core.clicks.simulation import SimulationPlan, simulate
from core.clicks.training_data import rows_of_pairs, training_data
from core.clicks.users import UserModel
from core.data import synthetic_dataset


def test_the_values_are_those_of_a_counterfactual_evaluation() -> None:
    """The mean over lists with a click equals the estimate of a counterfactual evaluation of these lists."""
    judged = synthetic_dataset(40, seed=1, documents_per_query=6, n_features=3)
    log, truth = simulate(judged, [judged.matrix[:, 0]], UserModel(), SimulationPlan(lists=500))
    by_rank, model = rank_weights("dcg@3"), judged.matrix[:, 1].astype(np.float64)
    correction = ClickCorrection("ips", propensities=tuple(truth.propensities), clip=0.3)
    data = training_data(log, judged).dataset
    held_out = HeldOutClicks(data, correction, by_rank)

    clicked = np.add.reduceat(log.clicks, log.list_boundaries[:-1]) > 0
    log = log.take_lists(np.flatnonzero(clicked))
    rows = rows_of_pairs(log, judged)[log.pairs]
    values = held_out.values(model[rows])

    ranking = join_scores("new", log, judged.query_ids, judged.document_ids, judged.query_boundaries, model)
    found = evaluate_rankings(
        log, [ranking], by_rank, "examination", examination=truth.propensities.tolist(), clip=1 / 0.3
    )
    assert values.mean() == pytest.approx(found.estimated[1].estimate.value, rel=1e-12)
    assert held_out.shortfall() is None


def test_few_clicks_support_no_verdict() -> None:
    """The reason names the effective sample size."""
    judged = synthetic_dataset(10, seed=1, documents_per_query=6, n_features=3)
    log, truth = simulate(judged, [judged.matrix[:, 0]], UserModel(), SimulationPlan(lists=40))
    correction = ClickCorrection("ips", propensities=tuple(truth.propensities))
    held_out = HeldOutClicks(training_data(log, judged).dataset, correction, rank_weights("dcg@3"))
    assert "the effective sample size is" in (held_out.shortfall() or "")
