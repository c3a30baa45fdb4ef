"""Weights of a sum by RankNet's loss of held-out scores."""

import numpy as np
import pytest
from scipy import optimize

from core.autotrain.weights import PairLoss
from core.data import RankingDataset, synthetic_dataset
from core.types import Float64Array

_DATA = synthetic_dataset(12, seed=3, documents_per_query=9, n_features=4)
_ALL = np.ones(12, np.bool_)


def _scores(noises: list[float], repetitions: int = 2) -> Float64Array:
    shape = (len(noises), repetitions, _DATA.n_documents)
    noise = np.random.default_rng(5).normal(size=shape)
    return _DATA.labels + np.array(noises)[:, np.newaxis, np.newaxis] * noise


def _of_equal_scale(data: RankingDataset, scores: Float64Array) -> Float64Array:
    """Divide the scores of each query and repetition by the mean of their deviations over the candidates."""
    divided = scores.copy()
    for start, stop in zip(data.query_boundaries, data.query_boundaries[1:], strict=False):
        deviations = scores[..., start:stop].std(axis=-1).mean(axis=0)
        divided[..., start:stop] /= deviations[:, np.newaxis]
    return divided


def _plain_losses(data: RankingDataset, scores: Float64Array) -> list[float]:
    """Return for each query the mean of ln(1 + e^(s_j - s_i)) over its pairs, divided by ln 2."""
    losses = []
    for start, stop in zip(data.query_boundaries, data.query_boundaries[1:], strict=False):
        labels, values = data.labels[start:stop], scores[start:stop]
        is_pair = labels[:, np.newaxis] > labels
        terms = np.logaddexp(0.0, values - values[:, np.newaxis])[is_pair]
        losses.append(float(terms.mean() / np.log(2.0)) if len(terms) else np.nan)
    return losses


def test_no_other_weights_have_a_smaller_loss() -> None:
    """The loss by a plain program, with the penalty, is larger for all weights nearby."""
    scores = _scores([2.0, 3.0, 2.0])
    divided = _of_equal_scale(_DATA, scores)

    def penalised(weights: Float64Array) -> float:
        losses = [_plain_losses(_DATA, weights @ divided[:, repetition]) for repetition in range(2)]
        return float(np.nanmean(losses) + 0.01 * (weights**2).sum())

    weights = PairLoss(_DATA, scores).fitted_weights(np.arange(3), _ALL)
    assert (weights > 0.0).all()
    for step in np.vstack([np.eye(3), -np.eye(3)]):
        assert penalised(weights + 0.01 * step) > penalised(weights)


def test_losses_of_candidates_are_those_of_a_plain_program() -> None:
    """Each candidate has its loss at the best scale, averaged over repetitions; NaN without pairs."""
    labels = np.where(np.arange(_DATA.n_documents) < 18, 1.0, _DATA.labels)
    data = RankingDataset.from_arrays(_DATA.features, labels, _DATA.query_boundaries)
    scores = _scores([1.0, 2.0])
    divided = _of_equal_scale(data, scores)
    loss = PairLoss(data, scores)
    assert np.isnan(loss.of_candidates[:, :2]).all()

    def mean_loss(scale: float, candidate: int) -> float:
        return float(np.nanmean([_plain_losses(data, scale * each) for each in divided[candidate]]))

    for candidate in range(2):
        best = optimize.minimize_scalar(mean_loss, (0.1, 10.0), args=(candidate,)).x
        expected = np.mean([_plain_losses(data, best * each) for each in divided[candidate]], axis=0)
        np.testing.assert_allclose(loss.of_candidates[candidate, 2:], expected[2:], rtol=1e-3)
        assert loss.of_candidates[candidate, 2:].mean() == pytest.approx(mean_loss(best, candidate), rel=1e-7)


def test_only_the_given_queries_determine_the_weights() -> None:
    """Scores of other queries do not change the weights."""
    scores, is_first = _scores([2.0, 3.0, 2.0]), np.arange(12) < 6
    changed = scores.copy()
    changed[:, :, _DATA.query_boundaries[6] :] *= -5.0
    expected = PairLoss(_DATA, scores).fitted_weights(np.arange(3), is_first)
    np.testing.assert_array_equal(PairLoss(_DATA, changed).fitted_weights(np.arange(3), is_first), expected)
    assert (PairLoss(_DATA, scores).fitted_weights(np.arange(3), _ALL) != expected).any()


def test_repetitions_that_did_not_hold_a_query_out_are_left_out() -> None:
    """A repetition without scores has no influence."""
    scores = _scores([2.0, 3.0])
    missing = np.concatenate([scores, np.full_like(scores[:, :1], np.nan)], axis=1)
    first, second = PairLoss(_DATA, scores), PairLoss(_DATA, missing)
    np.testing.assert_array_equal(second.of_candidates, first.of_candidates)
    np.testing.assert_allclose(
        second.fitted_weights(np.arange(2), _ALL), first.fitted_weights(np.arange(2), _ALL), rtol=1e-9
    )


@pytest.mark.parametrize("candidates", [[0], [0, 1]])
def test_reversed_scores_have_no_weight(candidates: list[int]) -> None:
    """All weights are 0 if every sum orders the pairs worse than chance."""
    reversed_scores = -_scores([0.5, 1.0])
    assert not PairLoss(_DATA, reversed_scores).fitted_weights(np.array(candidates), _ALL).any()


def test_the_best_of_non_negative_weights_are_found() -> None:
    """A candidate whose best weight is negative changes no other weight."""
    noise = np.random.default_rng(5).normal(size=(2, _DATA.n_documents))
    loss = PairLoss(_DATA, np.stack([_DATA.labels + noise, noise]))
    alone = loss.fitted_weights(np.array([0]), _ALL)
    assert alone[0] > 0.0
    np.testing.assert_allclose(loss.fitted_weights(np.arange(2), _ALL), alone, rtol=1e-4)


def test_equal_candidates_share_their_weight() -> None:
    """The penalty makes the weights of equal scores equal."""
    scores = np.repeat(_scores([2.0]), 2, axis=0)
    first, second = PairLoss(_DATA, scores).fitted_weights(np.arange(2), _ALL)
    assert first == pytest.approx(second)
    assert first > 0.0


def test_scores_that_order_no_pair_have_no_weight() -> None:
    """All weights are exactly 0 if the scores are equal within queries, whatever the search ends at."""
    scores = np.zeros((3, 2, _DATA.n_documents))
    assert not PairLoss(_DATA, scores).fitted_weights(np.arange(3), _ALL).any()


def test_queries_are_drawn_up_to_a_number_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries with many documents are fewer, but not less than the minimum; labels make the pairs."""
    monkeypatch.setattr("core.autotrain.weights._MIN_QUERIES", 3)
    labels = np.tile([0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 0.0, 1.0, 0.0], 12)  # 5 · 3 + 5 · 1 + 3 · 1 = 23 pairs
    data = RankingDataset.from_arrays(_DATA.features, labels, _DATA.query_boundaries)
    for max_pairs, drawn in ((10, 3), (2 * 5 * 23, 5), (2 * 5 * 23 - 1, 4), (10**6, 12)):
        monkeypatch.setattr("core.autotrain.weights._MAX_PAIRS", max_pairs)
        losses = PairLoss(data, _scores([2.0])).of_candidates
        assert np.count_nonzero(~np.isnan(losses)) == drawn


def test_many_queries_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the limit, random queries determine the weights; the others have no losses."""
    monkeypatch.setattr("core.autotrain.weights._MAX_QUERIES", 5)
    losses = PairLoss(_DATA, _scores([2.0, 3.0])).of_candidates
    assert (~np.isnan(losses)).sum(axis=1).tolist() == [5, 5]


def test_queries_with_large_scores_do_not_outweigh_the_others() -> None:
    """The scale of a query changes no weight; a good candidate keeps its weight where its scales differ."""
    scores = _scores([1.0, 3.0])
    scales = np.repeat(np.random.default_rng(0).lognormal(0.0, 3.0, 12), 9)
    expected = PairLoss(_DATA, scores).fitted_weights(np.arange(2), _ALL)
    scaled = PairLoss(_DATA, scores * scales).fitted_weights(np.arange(2), _ALL)
    np.testing.assert_allclose(scaled, expected, rtol=1e-6)
    scores[0] *= scales / scales.mean()
    good, poor = PairLoss(_DATA, scores).of_candidates.mean(axis=1)
    assert good < poor
