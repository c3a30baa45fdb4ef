"""Estimated propensities."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from core.clicks.harvesting import adjacent, all_pairs, contrasts, pivot
from core.clicks.impressions import impressions_of
from core.clicks.log import ClickLog
from core.clicks.propensities import PropensityPlan, error_of, estimate_propensities
from core.clicks.regression import regression_em
from core.clicks.simulation import SimulationPlan, Truth, simulate
from core.clicks.users import UserModel
from core.data import RankingDataset, synthetic_dataset
from core.errors import InvalidInput
from tests.core.clicks.propest import log_of_two_rankers

# Printed by fzc621/PropEst at a4d031d, `python -m src.prop_est -n 6 -a naive|chain|optimizer -m L-BFGS-B`, on
# this log. Its optimiser keeps the best of 30 starts by the true propensities, within 1e-3 of the optimum.
PROPEST = {
    "pivot": [1.0, 0.534653, 0.328571, 0.186275, 0.224000, 0.128676],
    "adjacent": [1.0, 0.534653, 0.377402, 0.272352, 0.201742, 0.201742],
    "all-pairs": [1.0, 0.485896, 0.323553, 0.230131, 0.179120, 0.168762],
}


def simulated(
    lists: int, swaps: str, *, seed: int = 0, users: int | None = None
) -> tuple[ClickLog, Truth, np.ndarray]:
    """Return a log of 400 queries, its truth, and features of its pairs that hold their relevance."""
    stream = np.random.default_rng(5)
    labels = stream.integers(5, size=400 * 8).astype(np.float32)
    dataset = RankingDataset.from_arrays(np.zeros((3200, 1)), labels, np.arange(401) * 8)
    scores = labels + stream.normal(0.0, 2.0, size=3200)
    plan = SimulationPlan(lists=lists, swaps=swaps, seed=seed, users=users)
    log, truth = simulate(dataset, [scores], UserModel(), plan)
    noise = stream.normal(size=len(truth.attraction))
    return log, truth, np.column_stack([truth.attraction, noise]).astype(np.float32)


@pytest.mark.parametrize("method", ["pivot", "adjacent", "all-pairs"])
def test_harvested_propensities_equal_those_of_propest(method: str) -> None:
    """Harvested propensities are those of PropEst where both rankers show each query equally often."""
    found = estimate_propensities(
        log_of_two_rankers(), PropensityPlan(method=method, positions=6, resamples=0)
    )
    np.testing.assert_allclose(found.values, PROPEST[method], atol=1e-6 if method != "all-pairs" else 2e-4)
    assert np.isnan(found.lower).all()


def test_click_counts_of_moved_documents_equal_those_of_propest() -> None:
    """Clicks and skips of moved documents are PropEst's sums of weighted clicks, times one constant."""
    log = log_of_two_rankers()
    w, shown_at, clicks, skips = Counter(), {}, Counter(), Counter()  # type: ignore[var-annotated]
    for pair, rank in zip(log.pairs.tolist(), log.ranks.tolist(), strict=True):
        w[pair, rank] += log.n_lists // 2
        shown_at.setdefault(pair, set()).add(rank)
    for pair, rank, click in zip(log.pairs.tolist(), log.ranks.tolist(), log.clicks.tolist(), strict=True):
        for other in shown_at[pair] - {rank}:
            clicks[rank, other] += click / w[pair, rank]
            skips[rank, other] += (1 - click) / w[pair, rank]
    used = impressions_of(log, 12, moved_only=True)
    found = contrasts(*used.counts())
    for expected, matrix in zip((clicks, skips), found, strict=True):
        plain = [[expected[one, two] for two in range(1, 13)] for one in range(1, 13)]
        np.testing.assert_allclose(np.array(plain) * log.n_lists / 2 * 10, matrix, atol=1e-9)


def test_all_pairs_recovers_propensities_from_expected_clicks() -> None:
    """The likelihood of expected clicks, which have no noise, is highest at the true propensities."""
    stream = np.random.default_rng(0)
    p, r = np.array([0.9, 0.6, 0.3]), np.array([[0, 0.5, 0.4], [0.5, 0, 0.7], [0.4, 0.7, 0]])
    shown = stream.integers(50, 90, size=(3, 3)) * (1.0 - np.eye(3))
    clicks = shown * p[:, np.newaxis] * r
    np.testing.assert_allclose(all_pairs(clicks, shown - clicks), p / p[0], rtol=1e-5)


@pytest.mark.parametrize(
    ("method", "swaps", "largest_error"),
    [("shuffled", "shuffle", 0.3), ("pivot", "first", 0.5), ("all-pairs", "adjacent", 0.5)],
)
def test_randomised_ranks_recover_the_true_propensities(
    method: str, swaps: str, largest_error: float
) -> None:
    """With randomised ranks, at least seven of eight true propensities are within their intervals."""
    log, truth, _ = simulated(40_000, swaps, users=3000)
    found = estimate_propensities(log, PropensityPlan(method=method, positions=8, resamples=40))
    inside = (found.lower <= truth.propensities) & (truth.propensities <= found.upper)
    assert inside.sum() >= 7
    assert error_of(found.values, truth.propensities) < largest_error
    assert (found.upper[1:] / found.lower[1:] < 1.5).all()
    assert found.units == "users"
    assert "times as often as rank 1" in found.summary


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "swaps"),
    [("shuffled", "shuffle"), ("pivot", "first"), ("adjacent", "adjacent"), ("all-pairs", "first")],
)
def test_intervals_contain_the_truth_as_often_as_their_level(method: str, swaps: str) -> None:
    """Over 200 logs, 95% ± 2 of the intervals contain the true propensity."""
    inside = []
    for seed in range(200):
        log, truth, _ = simulated(8_000, swaps, seed=seed)
        plan = PropensityPlan(method=method, positions=6, resamples=40, seed=seed)
        found = estimate_propensities(log, plan)
        inside.append((found.lower <= truth.propensities[:6]) & (truth.propensities[:6] <= found.upper))
    assert 0.93 <= np.mean(np.array(inside)[:, 1:]) <= 0.97


@pytest.mark.parametrize("classifier", ["trees", "logistic"])
def test_regression_em_recovers_propensities_without_randomisation(classifier: str) -> None:
    """Without randomised ranks, the propensities are recovered by features that determine relevance."""
    log, truth, features = simulated(60_000, "none")
    plan = PropensityPlan(method="regression-em", positions=8, resamples=0, classifier=classifier)
    found = estimate_propensities(log, plan, features)
    np.testing.assert_allclose(found.values, truth.propensities, atol=0.12)
    naive = log.clicks[log.ranks == 8].mean() / log.clicks[log.ranks == 1].mean()
    assert abs(found.values[-1] - truth.propensities[-1]) < abs(naive - truth.propensities[-1])


@pytest.mark.parametrize("method", ["regression-em", "trust-em"])
def test_pairs_without_features_are_not_counted_as_used(method: str) -> None:
    """The numbers of impressions and pairs are those of the pairs with features."""
    log, _, features = simulated(4_000, "none")
    features[::3] = np.nan
    plan = PropensityPlan(method=method, positions=4, resamples=0, classifier="logistic", iterations=5)
    found = estimate_propensities(log, plan, features)
    is_used = (log.ranks <= 4) & (log.pairs % 3 != 0)
    assert found.n_pairs == len(np.unique(log.pairs[is_used]))
    assert found.impressions.tolist() == np.bincount(log.ranks[is_used])[1:].tolist()


@pytest.mark.parametrize("classifier", ["trees", "logistic"])
def test_equal_features_with_missing_values_are_refused(classifier: str) -> None:
    """Missing values are equal, so that they predict nothing."""
    shown, clicked = np.full((120, 2), 4.0), np.ones((120, 2))
    features = np.tile(np.array([0.5, np.nan], np.float32), (120, 1))
    with pytest.raises(InvalidInput, match="no feature predicts clicks"):
        regression_em(shown, clicked, features, classifier, iterations=1)
    features[::2, 1] = 0.0
    regression_em(shown, clicked, features, classifier, iterations=1)


def test_too_few_pairs_for_trees_are_refused() -> None:
    """LightGBM drops each feature that cannot split the pairs; logistic regression uses it."""
    shown, clicked = np.full((36, 2), 4.0), np.ones((36, 2))
    features = np.arange(36, dtype=np.float32)[:, np.newaxis]
    with pytest.raises(InvalidInput, match="no feature varies in enough documents for trees"):
        regression_em(shown, clicked, features, "trees", iterations=1)
    regression_em(shown, clicked, features, "logistic", iterations=1)


def test_an_em_iteration_follows_the_formula() -> None:
    """An iteration is PBM's E-step, then θ_k = clicks / expected relevant documents."""
    shown = np.array([[10.0, 4.0], [6.0, 8.0]])
    clicked = np.array([[5.0, 1.0], [2.0, 1.0]])
    rates = clicked.sum(axis=0) / shown.sum(axis=0)
    theta, gamma = rates / rates[0], rates[0]
    relevant = sum(
        clicked[pair, 1] + (shown - clicked)[pair, 1] * (1 - theta[1]) * gamma / (1 - theta[1] * gamma)
        for pair in range(2)
    )
    found = regression_em(shown, clicked, np.array([[0.0], [1e-9]], np.float32), "logistic", iterations=1)
    assert found.propensities[1] == pytest.approx(2.0 / relevant, rel=1e-12)


def test_intervals_over_users_are_wider_than_over_lists() -> None:
    """Intervals over users are wider than over lists where a user's lists are alike."""
    log, _, _ = simulated(4_000, "shuffle")
    copies = log.take_lists(np.repeat(np.arange(log.n_lists), 4))
    by_users = replace(copies, list_users=np.repeat(np.arange(log.n_lists, dtype=np.int32), 4))
    plan = PropensityPlan(method="shuffled", positions=4, resamples=60)
    of_lists, of_users = (estimate_propensities(each, plan) for each in (copies, by_users))
    widths = [np.log(each.upper / each.lower)[1:] for each in (of_lists, of_users)]
    assert (widths[1] / widths[0] > 1.5).all()  # √4, as four copies of a list are no more data


def test_one_user_gives_no_interval() -> None:
    """All resamples of one user are equal; intervals of width 0 would look certain."""
    log, _, _ = simulated(500, "shuffle")
    of_one = replace(log, list_users=np.zeros(log.n_lists, np.int32))
    found = estimate_propensities(of_one, PropensityPlan(method="shuffled", positions=4, resamples=20))
    assert np.isnan(found.lower).all()
    assert np.isnan(found.upper).all()


@pytest.mark.parametrize("n_users", [2, 3])
def test_intervals_of_few_users_contain_the_truth(n_users: int) -> None:
    """Few resampled users differ by chance; the interval is as wide as Student's."""
    inside = []
    for seed in range(20):
        log, truth, _ = simulated(3_000, "shuffle", seed=seed)
        users = (np.arange(log.n_lists) % n_users).astype(np.int32)
        plan = PropensityPlan(method="shuffled", positions=6, resamples=40, seed=seed)
        found = estimate_propensities(replace(log, list_users=users), plan)
        inside.append((found.lower <= truth.propensities[:6]) & (truth.propensities[:6] <= found.upper))
    assert np.mean(np.array(inside)[:, 1:]) > 0.85


def test_ordered_lists_are_reported() -> None:
    """Click rates by rank measure relevance, too, where lists are not shuffled; a sentence reports that."""
    plan = PropensityPlan(method="shuffled", positions=4, resamples=0)
    swapped, _, _ = simulated(4_000, "first")
    assert re.search(
        r"not in random order.*\d\d% of the.*use pivot", estimate_propensities(swapped, plan).summary
    )
    shuffled, _, _ = simulated(4_000, "shuffle")
    assert "order" not in estimate_propensities(shuffled, plan).summary
    lists = np.repeat(np.arange(shuffled.n_lists), np.diff(shuffled.list_boundaries))
    is_shuffled = shuffled.list_queries[lists] % 2 == 0
    pairs = shuffled.pairs[np.lexsort((np.where(is_shuffled, shuffled.ranks, shuffled.pairs), lists))]
    assert "not in random order" in estimate_propensities(replace(shuffled, pairs=pairs), plan).summary


def test_shuffled_lists_need_no_query_twice() -> None:
    """Each query has one list, so that no document moves; the click rates by rank still are propensities."""
    judged = synthetic_dataset(8_000, seed=0, documents_per_query=4, n_features=2)
    log, truth = simulate(judged, [judged.labels], UserModel(), SimulationPlan(lists=8_000, swaps="shuffle"))
    once = log.take_lists(np.unique(log.list_queries, return_index=True)[1])
    found = estimate_propensities(once, PropensityPlan(method="shuffled", positions=4, resamples=40))
    assert found.n_pairs == found.impressions.sum() == once.n_impressions
    assert ((found.lower <= truth.propensities) & (truth.propensities <= found.upper)).all()
    assert "order" not in found.summary


def test_few_repeated_lists_are_in_random_order_by_chance() -> None:
    """Two lists may have one order, or leave the variance of the ranks of a document unknown."""
    judged = synthetic_dataset(400, seed=0, documents_per_query=4, n_features=2)
    plan = PropensityPlan(method="shuffled", positions=4, resamples=0)
    for seed in range(30):
        shuffled = SimulationPlan(lists=800, swaps="shuffle", seed=seed)
        log, _ = simulate(judged, [judged.labels], UserModel(), shuffled)
        first = np.unique(log.list_queries, return_index=True)[1]
        again = np.flatnonzero(log.list_queries == log.list_queries[0])[1:2]
        few = log.take_lists(np.sort(np.append(first, again)))
        assert "order" not in estimate_propensities(few, plan).summary, seed


def test_lists_of_other_versions_are_left_out() -> None:
    """Lists of other versions are left out, and unknown versions refused."""
    log = log_of_two_rankers()
    one = PropensityPlan(method="pivot", positions=3, versions=("one",), resamples=0)
    with pytest.raises(InvalidInput, match="no document was shown at more than one rank"):
        estimate_propensities(log, one)
    both = estimate_propensities(log, replace(one, versions=("one", "two")))
    assert both.values.tolist() == estimate_propensities(log, replace(one, versions=None)).values.tolist()
    with pytest.raises(
        InvalidInput, match="/versions/0: 'three' is not a version in the log; versions: one, two"
    ):
        estimate_propensities(log, replace(one, versions=("three",)))


def test_logs_that_identify_no_propensities_are_refused() -> None:
    """Logs that cannot identify propensities are refused, with a solution if there is one."""
    log, _, features = simulated(2_000, "none")
    for method in ("pivot", "adjacent", "all-pairs", "shuffled"):
        with pytest.raises(InvalidInput, match=r"no document was shown at more than one rank.*regression-em"):
            estimate_propensities(log, PropensityPlan(method=method))
    with pytest.raises(InvalidInput, match="/dataset_id: regression-em needs the features"):
        estimate_propensities(log, PropensityPlan(method="regression-em"))
    with pytest.raises(InvalidInput, match="no features of any document"):
        estimate_propensities(log, PropensityPlan(method="regression-em"), np.full_like(features, np.nan))
    clicks = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    with pytest.raises(InvalidInput, match="both ranks 1 and 3"):
        pivot(clicks, clicks)
    with pytest.raises(InvalidInput, match="both ranks 2 and 3"):
        adjacent(clicks, clicks)
    with pytest.raises(InvalidInput, match="connect rank 3 with rank 1"):
        all_pairs(clicks, clicks)
    single = replace(log, ranks=np.ones_like(log.ranks))
    with pytest.raises(InvalidInput, match="at least two ranks are needed"):
        estimate_propensities(single, PropensityPlan())
