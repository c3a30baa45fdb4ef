"""Counterfactual estimates against the truth, their support, and their verdicts."""

import tracemalloc
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from core.clicks import ClickLog
from core.clicks.counterfactual import (
    Estimates,
    Estimator,
    MinimumSupport,
    NewRanking,
    SystemEstimate,
    counterfactual_result,
    evaluate_rankings,
    rank_weights,
)
from core.clicks.counterfactual.estimates import examination_changes
from core.clicks.counterfactual.rows import examination_rows
from core.errors import InvalidInput
from tests.core.clicks.counterfactual.logs import log_of, ranking_of

EXAMINATION = np.array([1.0, 0.6, 0.4, 0.3])
N_DOCUMENTS = 4
BEST = np.array([[0, 1, 2, 3], [3, 2, 1, 0]])
WORST = BEST[:, ::-1]
RELEVANCE = np.array([[0.8, 0.4, 0.3, 0.1], [0.1, 0.3, 0.4, 0.8]])


def _clicks(
    rng: np.random.Generator, queries: npt.NDArray[np.int64], documents: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    return np.asarray(
        rng.random(documents.shape)
        < EXAMINATION[: documents.shape[1]] * RELEVANCE[queries[:, None], documents]
    )


def _random_log(seed: int, n: int, *, users: bool = False) -> ClickLog:
    """Return a log of random permutations: the marginal probability of a document at a rank is ¼."""
    rng = np.random.default_rng(seed)
    queries = rng.integers(0, 2, n)
    documents = np.array([rng.permutation(N_DOCUMENTS) for _ in range(n)])
    clicks = _clicks(rng, queries, documents)
    probabilities = np.full((n, N_DOCUMENTS), 1.0 / N_DOCUMENTS)
    numbers = rng.integers(0, n // 5, n) if users else None
    return log_of(queries, documents, clicks, probabilities, n_documents=N_DOCUMENTS, users=numbers)


def _conditional(log: ClickLog) -> ClickLog:
    """Return the same log with the probability of each document given those above."""
    given = np.tile(np.float32(1.0) / np.array([4, 3, 2, 1], np.float32), log.n_lists)
    return replace(log, propensities=given)


def _truth(order: npt.NDArray[np.int64], by_rank: npt.NDArray[np.float64]) -> float:
    """Return the expected metric of clicks of a ranking, both queries alike."""
    clicked = EXAMINATION * np.take_along_axis(RELEVANCE, order, axis=1)
    return float((clicked[:, : len(by_rank)] * by_rank).sum(axis=1).mean())


@pytest.mark.parametrize(
    "estimator", ["slate", "item_position", "reward_interaction", "cascade_doubly_robust"]
)
@pytest.mark.parametrize("metric", ["dcg@3", "precision@2", "rbp@4", "clicks@4"])
def test_estimates_reach_the_truth(estimator: Estimator, metric: str) -> None:
    """The true value of another ranking is within the interval of its estimate, widened by half."""
    log = _random_log(3, 6_000)
    held = log if estimator == "item_position" else _conditional(log)
    by_rank = rank_weights(metric)
    for order in (BEST, WORST):
        found = evaluate_rankings(held, [ranking_of("new", order)], by_rank, estimator)
        estimate = found.estimated[1].estimate
        half = _width(estimate) / 2.0
        assert abs(estimate.value - _truth(order, by_rank)) < 1.5 * half
        assert estimate.missing is None
        assert half < 0.2


def test_doubly_robust_has_the_smaller_variance() -> None:
    """The predicted clicks make the interval of the same weights narrower."""
    log, by_rank = _conditional(_random_log(3, 4_000)), rank_weights("dcg@4")
    widths = {}
    for estimator in ("reward_interaction", "cascade_doubly_robust"):
        estimate = evaluate_rankings(log, [ranking_of("new", BEST)], by_rank, estimator).estimated[1].estimate
        widths[estimator] = _width(estimate)
    assert widths["cascade_doubly_robust"] < 0.8 * widths["reward_interaction"]


def test_examination_estimates_relevance_from_a_fixed_ranking() -> None:
    """Clicks over examination probabilities give the metric of relevance of another ranking."""
    rng = np.random.default_rng(4)
    queries = rng.integers(0, 2, 8_000)
    documents = np.tile([1, 0, 3, 2], (8_000, 1))
    log = log_of(queries, documents, _clicks(rng, queries, documents), None, n_documents=N_DOCUMENTS)
    by_rank = rank_weights("dcg@2")
    found = evaluate_rankings(
        log, [ranking_of("best", BEST)], by_rank, "examination", examination=EXAMINATION.tolist()
    )
    logged, best = (estimated.estimate for estimated in found.estimated)
    relevance = np.take_along_axis(RELEVANCE, BEST, axis=1)[:, :2]
    assert best.value == pytest.approx(float((relevance * by_rank).sum(axis=1).mean()), abs=0.03)
    shown = RELEVANCE[:, [1, 0]]
    assert logged.value == pytest.approx(float((shown * by_rank).sum(axis=1).mean()), abs=0.03)
    assert best.unsupported == 0.0


def test_errors_of_the_examination_widen_the_intervals() -> None:
    """Estimates with wrong probabilities contain the truth as often as their errors promise."""
    rng, by_rank, contained = np.random.default_rng(6), rank_weights("dcg@3"), {True: 0, False: 0}
    relevance = np.take_along_axis(RELEVANCE, BEST, axis=1)[:, :3]
    truth = float((relevance * by_rank).sum(axis=1).mean())
    for seed in range(40):
        log = _random_log(seed, 1_000)
        wrong = EXAMINATION * np.exp([0.0, *rng.normal(scale=0.3, size=3)])
        estimated = np.minimum(wrong, 1.0).tolist()
        for has_errors in contained:
            found = evaluate_rankings(
                log,
                [ranking_of("best", BEST)],
                by_rank,
                "examination",
                examination=estimated,
                examination_errors=[0.0, 0.3, 0.3, 0.3] if has_errors else None,
            )
            estimate = found.estimated[1].estimate
            assert estimate.lower is not None
            assert estimate.upper is not None
            contained[has_errors] += estimate.lower <= truth <= estimate.upper
    assert contained[True] >= 36
    assert contained[False] <= 25


def test_all_rankings_have_the_same_draws_of_the_examination() -> None:
    """Equal rankings are equal in each draw. The interval is wider below the estimate than above it."""
    rankings = [ranking_of(name, BEST) for name in ("first", "second")]
    found = evaluate_rankings(
        _random_log(2, 1_000),
        rankings,
        rank_weights("dcg@3"),
        "examination",
        examination=EXAMINATION.tolist(),
        examination_errors=[0.0, 0.5, 0.5, 0.5],
    )
    logged, first, second = found.estimated
    np.testing.assert_array_equal(first.resampled, second.resampled)
    assert logged.estimate.lower is not None
    assert logged.estimate.upper is not None
    below, above = (
        logged.estimate.value - logged.estimate.lower,
        logged.estimate.upper - logged.estimate.value,
    )
    assert below > 1.5 * above


@pytest.mark.parametrize("clip", [None, 2.0])
@pytest.mark.parametrize("new", [False, True])
def test_changes_of_the_examination_are_those_of_estimates(clip: float | None, new: bool) -> None:
    """The change of a draw is the difference of two estimates, also for ranks without a probability."""
    log, by_rank = _random_log(1, 300), rank_weights("dcg@3")
    ranking = ranking_of("best", BEST) if new else None
    errors = np.array([0.0, 0.2, 0.2, 0.2])
    changes = examination_changes(
        log, ranking, by_rank, EXAMINATION.tolist(), errors.tolist(), clip=clip, draws=5, seed=3
    )
    normal = np.random.default_rng([3, 1]).standard_normal((5, 4))
    for change, drawn in zip(changes, EXAMINATION * np.exp(normal * errors), strict=True):
        values = [
            examination_rows(log, ranking, by_rank, each.tolist(), clip).values.sum()
            for each in (EXAMINATION, drawn)
        ]
        assert change == pytest.approx((values[1] - values[0]) / log.n_lists, abs=1e-12)


def test_examination_corrects_for_lists_without_a_document() -> None:
    """The estimated relevance does not depend on the share of lists that show a document."""
    rng = np.random.default_rng(5)
    queries = rng.integers(0, 2, 20_000)
    shown = np.stack([WORST[query, [0, rng.choice([1, 2, 3])]] for query in queries])
    log = log_of(queries, shown, _clicks(rng, queries, shown), None, n_documents=N_DOCUMENTS)
    by_rank = rank_weights("dcg@2")
    found = evaluate_rankings(
        log, [ranking_of("best", BEST)], by_rank, "examination", examination=EXAMINATION[:2].tolist()
    )
    logged, best = (estimated.estimate for estimated in found.estimated)
    relevance = np.take_along_axis(RELEVANCE, BEST, axis=1)[:, :2]
    assert best.value == pytest.approx(float((relevance * by_rank).sum(axis=1).mean()), abs=0.04)
    assert best.value > logged.value


def test_logged_value_is_the_mean_of_the_log() -> None:
    """The value of the logged ranking is the mean of its rewards: clicks, or gains if the log has them."""
    log, by_rank = _random_log(0, 300), rank_weights("dcg@3")
    weights = np.concatenate([by_rank, [0.0]])
    found = evaluate_rankings(log, [ranking_of("new", BEST)], by_rank, "item_position")
    expected = (log.clicks.reshape(-1, 4) * weights).sum(axis=1)
    logged = found.estimated[0].estimate
    assert logged.value == pytest.approx(expected.mean(), abs=1e-12)
    error = expected.std() / np.sqrt(300)
    assert (logged.lower, logged.upper) == pytest.approx(
        (logged.value - 1.96 * error, logged.value + 1.96 * error), abs=0.3 * error
    )
    gained = replace(log, gains=5.0 * log.clicks.astype(np.float32))
    again = evaluate_rankings(gained, [ranking_of("new", BEST)], by_rank, "item_position")
    assert again.estimated[0].estimate.value == pytest.approx(5.0 * logged.value, abs=1e-9)


def test_all_lists_of_a_user_are_resampled_together() -> None:
    """Lists of few users that all agree make the interval wider."""
    log = _random_log(1, 2_000)
    by_rank = rank_weights("clicks@1")
    of_one = np.repeat(np.arange(20), 100)
    order = np.argsort(log.clicks[::4], kind="stable")  # users with all clicks, users with none
    together = replace(log.take_lists(order), list_users=of_one.astype(np.int32))
    apart = evaluate_rankings(log, [ranking_of("new", BEST)], by_rank, "item_position")
    joined = evaluate_rankings(together, [ranking_of("new", BEST)], by_rank, "item_position")
    assert (apart.clusters, joined.clusters) == (2_000, 20)
    wide, narrow = joined.estimated[0].estimate, apart.estimated[0].estimate
    assert wide.value == pytest.approx(narrow.value)
    assert _width(wide) > 3.0 * _width(narrow)


@pytest.mark.parametrize("normalised", [False, True])
def test_clipping_does_not_reverse_a_verdict(normalised: bool) -> None:
    """Clipped weights make each new ranking worse than the logged one; normalisation corrects for that."""
    log, by_rank = _random_log(0, 8_000), rank_weights("dcg@4")
    rankings = [ranking_of("best", BEST)]
    found = evaluate_rankings(log, rankings, by_rank, "item_position", normalised=normalised, clip=2.0)
    assert found.estimated[1].estimate.clipped == 1.0
    (difference,) = counterfactual_result("dcg@4", "item_position", found).differences
    assert difference.corrected > 0.0
    assert difference.better == ("best" if normalised else None)
    assert normalised or "100% of best are clipped, which may reverse it." in difference.sentence


def _width(estimate: SystemEstimate) -> float:
    assert estimate.lower is not None
    assert estimate.upper is not None
    return estimate.upper - estimate.lower


@pytest.mark.parametrize("n_users", [1, 2, 7, 8])
def test_a_verdict_and_an_interval_need_eight_users(n_users: int) -> None:
    """Between two users, the bootstrap finds an interval that contains the truth in half of the logs."""
    log = _random_log(0, 4_000)
    log = replace(log, list_users=(np.arange(4_000) % n_users).astype(np.int32))
    estimates = evaluate_rankings(log, [ranking_of("new", BEST)], rank_weights("dcg@4"), "item_position")
    missing = f"the number of independent users or lists is {n_users}, below 8"
    estimate = estimates.estimated[1].estimate
    assert estimate.missing == (missing if n_users < 8 else None)
    assert (estimate.lower is None) == (n_users < 8)
    (difference,) = counterfactual_result("dcg@4", "item_position", estimates).differences
    assert (difference.lower is None) == (n_users < 8)
    assert (difference.better is None) == (n_users < 8)


def test_support_below_the_floor_gives_no_verdict() -> None:
    """Few effective impressions, unseen documents or one large weight prevent a verdict, with reasons."""
    by_rank = rank_weights("dcg@4")
    few = evaluate_rankings(_random_log(0, 60), [ranking_of("new", BEST)], by_rank, "item_position")
    assert few.estimated[1].estimate.missing == f"the effective sample size is {_size(few):.0f}, below 100"
    result = counterfactual_result("dcg@4", "item_position", few)
    assert result.differences[0].better is None
    assert result.differences[0].sentence.startswith("No verdict on new against logged: for ")

    longer = ranking_of("longer", BEST)
    ranks = np.where(longer.ranks == 1, 0, longer.ranks).astype(np.int32)  # the first document is unknown
    unseen = NewRanking("unseen", ranks, longer.lengths)
    found = evaluate_rankings(_random_log(0, 4_000), [unseen], by_rank, "item_position")
    estimate = found.estimated[1].estimate
    assert estimate.unsupported == pytest.approx(by_rank[0] / by_rank.sum())
    assert estimate.missing is not None
    assert "does not support 39% of the ranking" in estimate.missing

    log = _random_log(0, 4_000)
    assert log.propensities is not None
    rows = np.flatnonzero(ranking_of("new", BEST).ranks[log.pairs] == log.ranks)
    skewed = log.propensities.copy()
    skewed[rows[0]] = 1e-5
    floor = MinimumSupport(effective_sample_size=1.0)
    new = [ranking_of("new", BEST)]
    uneven = evaluate_rankings(replace(log, propensities=skewed), new, by_rank, "item_position", floor=floor)
    missing = uneven.estimated[1].estimate.missing
    assert missing is not None
    assert missing.startswith("one weight is")
    clipped = evaluate_rankings(
        replace(log, propensities=skewed), new, by_rank, "item_position", floor=floor, clip=10.0
    )
    assert clipped.estimated[1].estimate.missing is None
    assert clipped.estimated[1].estimate.clipped == pytest.approx(1.0 / len(rows))


def test_normalisation_replaces_documents_without_support() -> None:
    """A document without support has the mean value at its rank; a value of 0 may reverse a verdict."""
    log, by_rank = _random_log(0, 12_000), rank_weights("dcg@4")
    swapped = ranking_of("swapped", np.array([[0, 1, 3, 2], [3, 2, 0, 1]]))
    ranks = swapped.ranks.copy()
    ranks[2] = 0  # the last document of the first query is unknown
    rankings = [ranking_of("best", BEST), replace(swapped, ranks=ranks)]
    found = [
        evaluate_rankings(log, rankings, by_rank, "item_position", normalised=normalised)
        for normalised in (False, True)
    ]
    plain, normalised = (
        counterfactual_result("dcg@4", "item_position", estimates).differences[-1] for estimates in found
    )
    assert (plain.better, normalised.better) == (None, "best")
    assert plain.sentence.endswith("8% of swapped, which may reverse it.")
    predicted = evaluate_rankings(_conditional(log), rankings, by_rank, "cascade_doubly_robust")
    assert [each.estimated[2].zeros for each in (*found, predicted)] == [
        pytest.approx(by_rank[3] / by_rank.sum() / 2, abs=0.01),
        0.0,
        0.0,
    ]
    assert predicted.estimated[2].estimate.unsupported > 0.0


def _size(found: Estimates) -> float:
    return found.estimated[1].estimate.effective_sample_size


def test_the_support_of_slate_counts_lists() -> None:
    """All impressions of a list have one weight: the effective sample size is the number of such lists."""
    log, by_rank = _conditional(_random_log(0, 1_500)), rank_weights("dcg@4")
    found = evaluate_rankings(log, [ranking_of("new", BEST)], by_rank, "slate", normalised=True, clip=20.0)
    logged, new = (estimated.estimate for estimated in found.estimated)
    is_shown = (ranking_of("new", BEST).ranks[log.pairs] == log.ranks).reshape(-1, 4).all(axis=1)
    assert 25 < is_shown.sum() < 100
    assert new.effective_sample_size == pytest.approx(is_shown.sum())
    assert new.largest_weight == pytest.approx(1.0 / is_shown.sum())
    assert new.missing == f"the effective sample size is {is_shown.sum()}, below 100"
    assert new.clipped == 1.0
    assert new.value == pytest.approx(((log.clicks.reshape(-1, 4) * by_rank).sum(axis=1))[is_shown].mean())
    assert logged.effective_sample_size == 1_500


def test_slate_is_normalised_by_the_mean_weight_of_lists() -> None:
    """A long list counts as much as a short one."""
    queries, documents = np.array([0, 1]), np.array([[0, 1, 2, 3], [3, 2, 1, 0]])
    log = log_of(queries, documents, np.ones((2, 4), bool), np.full((2, 4), 0.5), n_documents=N_DOCUMENTS)
    keep = np.array([True] * 4 + [True] + [False] * 3)
    short = replace(
        log,
        list_boundaries=np.array([0, 4, 5]),
        **{name: getattr(log, name)[keep] for name in ("pairs", "ranks", "clicks", "propensities")},
    )
    by_rank = rank_weights("clicks@4")
    found = evaluate_rankings(short, [ranking_of("new", BEST)], by_rank, "slate", normalised=True)
    weights = np.array([16.0, 2.0])
    expected = (weights * np.array([4.0, 1.0])).sum() / weights.sum()
    assert found.estimated[1].estimate.value == pytest.approx(expected)


def test_the_better_of_two_rankings_is_named() -> None:
    """The better of two rankings is named, with the difference and its interval."""
    log = _random_log(5, 6_000, users=True)
    rankings = [ranking_of("worst", WORST), ranking_of("best", BEST), ranking_of("again", BEST)]
    by_rank = rank_weights("dcg@4")
    found = evaluate_rankings(log, rankings, by_rank, "item_position", normalised=True)
    result = counterfactual_result("dcg@4", "item_position", found)
    assert [system.name for system in result.systems] == ["logged", "worst", "best", "again"]
    by_names = {(difference.first, difference.second): difference for difference in result.differences}
    assert len(by_names) == 6
    found_better = by_names["worst", "best"]
    assert found_better.better == "best"
    assert found_better.value == pytest.approx(_truth(BEST, by_rank) - _truth(WORST, by_rank), abs=0.1)
    assert found_better.sentence.startswith("best is better than worst: dcg@4 +0.")
    found_worse = by_names["logged", "worst"]
    assert (found_worse.better, found_worse.value < 0.0) == ("logged", True)
    assert found_worse.lower is not None
    assert found_worse.upper is not None
    gained = [-found_worse.value, -found_worse.upper, -found_worse.lower]
    assert found_worse.sentence == "logged is better than worst: dcg@4 +{:.4f} [+{:.4f}, +{:.4f}].".format(
        *gained
    )
    same = by_names["best", "again"]
    assert (same.value, same.lower, same.upper, same.better) == (0.0, 0.0, 0.0, None)
    assert same.sentence.startswith("No significant difference between best and again")


def test_lists_of_queries_without_a_ranking_are_left_out() -> None:
    """Only lists whose queries have all rankings count, for the logged ranking, too."""
    log, by_rank = _random_log(5, 1_000), rank_weights("dcg@4")
    full = ranking_of("full", BEST)
    half = replace(full, name="half", lengths=np.array([4, 0], np.int32))
    found = evaluate_rankings(log, [full, half], by_rank, "item_position")
    assert found.lists == int((log.list_queries == 0).sum())
    none = replace(full, lengths=np.zeros(2, np.int32))
    with pytest.raises(InvalidInput, match="no list of the log"):
        evaluate_rankings(log, [none], by_rank, "item_position")


def test_unsupported_logs_and_options_are_refused() -> None:
    """The error names what an estimator lacks or does not support."""
    log, by_rank = _random_log(0, 50), rank_weights("dcg@4")
    rankings = [ranking_of("new", BEST)]
    with pytest.raises(InvalidInput, match="this log has no propensities"):
        evaluate_rankings(replace(log, propensities=None), rankings, by_rank, "slate")
    zero = replace(log, propensities=np.zeros(log.n_impressions, np.float32))
    with pytest.raises(InvalidInput, match=r"outside \(0, 1\]"):
        evaluate_rankings(zero, rankings, by_rank, "slate")
    with pytest.raises(InvalidInput, match=r"for each rank from 1 to 4.* needs 4 positions"):
        evaluate_rankings(log, rankings, by_rank, "examination", examination=[1.0])
    with pytest.raises(InvalidInput, match="no self-normalised form"):
        evaluate_rankings(log, rankings, by_rank, "cascade_doubly_robust", normalised=True)


@pytest.mark.parametrize("estimator", ["item_position", "cascade_doubly_robust", "examination"])
def test_ranks_below_all_documents_take_no_memory(estimator: Estimator) -> None:
    """A cutoff below all ranks gives the estimate of a cutoff at the last one."""
    log, rankings = _random_log(0, 200), [ranking_of("new", BEST)]

    def estimated(metric: str) -> tuple[list[SystemEstimate], int]:
        by_rank = rank_weights(metric)
        tracemalloc.start()
        try:
            examination = [1.0] * 4 if estimator == "examination" else None
            found = evaluate_rankings(log, rankings, by_rank, estimator, examination=examination)
            return [each.estimate for each in found.estimated], tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    (short, _), (deep, peak_bytes) = estimated("clicks@4"), estimated("clicks@999999")
    assert deep == short
    assert peak_bytes < 8 * 999_999


@pytest.mark.parametrize("cutoff", ["1000000", "99999999999999"])
def test_the_cutoff_of_clicks_is_bounded(cutoff: str) -> None:
    """The bounds are those of the cutoffs of other metrics, so that the weights fit into memory."""
    with pytest.raises(InvalidInput, match="from 1 to 999999"):
        rank_weights(f"clicks@{cutoff}")
    assert len(rank_weights("clicks@999999")) == 999_999


def test_only_metrics_that_sum_clicks_have_rank_weights() -> None:
    """Metrics that are sums over clicks have weights; other metrics are refused."""
    assert rank_weights("dcg@3") == pytest.approx(1.0 / np.log2([2, 3, 4]))
    assert rank_weights("precision@4").tolist() == [0.25] * 4
    assert rank_weights("rbp@3") == pytest.approx([0.2, 0.2 * 0.8, 0.2 * 0.64])
    assert rank_weights("clicks").tolist() == [1.0] * 10
    for metric in ("ndcg@10", "map"):
        with pytest.raises(InvalidInput, match="is not a sum over clicked documents"):
            rank_weights(metric)
    with pytest.raises(InvalidInput, match="cutoff of clicks"):
        rank_weights("clicks@0")
