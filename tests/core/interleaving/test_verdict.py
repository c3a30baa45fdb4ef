"""The sequential test, its sample size, and the verdict of a table of credits."""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from core.errors import InvalidInput
from core.evaluation.bootstrap import resampled_sums
from core.interleaving import (
    Method,
    SequentialRule,
    interleave,
    sample_size,
    seeded_draw,
    sequential_test,
    winning_share,
)
from core.interleaving.gate import verdict_of_lists
from core.interleaving.sequential import sequential_mean_test
from core.interleaving.verdict import Verdict, sign_test, verdict
from core.types import Float64Array

RULE = SequentialRule(error=0.05, miss=0.2, difference=0.05)
BoolArray = npt.NDArray[np.bool_]


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (5, 0), (70, 30), (30, 70), (500, 480)])
def test_the_p_value_bound_mixes_likelihood_ratios(wins: int, losses: int) -> None:
    """The bound is the inverse of the mean of both likelihood ratios, at most 1."""
    n, d = wins + losses, RULE.difference
    ratios = [stats.binom.pmf(wins, n, 0.5 + s * d) / stats.binom.pmf(wins, n, 0.5) for s in (1.0, -1.0)]
    tested = sequential_test(wins, losses, RULE)
    assert tested.p == pytest.approx(min(1.0, 2.0 / sum(ratios)), rel=1e-9)
    assert (tested.conclusion in ("first", "second")) == (sum(ratios) / 2.0 >= 1.0 / RULE.error)
    assert tested.decided == n


def test_conclusions_are_symmetric() -> None:
    """Exchanged counts exchange the conclusion, and equal counts end in `equal`."""
    assert sequential_test(90, 40, RULE).conclusion == "first"
    assert sequential_test(40, 90, RULE).conclusion == "second"
    assert sequential_test(400, 400, RULE).conclusion == "equal"
    assert sequential_test(3, 2, RULE).conclusion == "undecided"
    assert (sequential_test(3, 2, RULE).needed or 0) > 0


@pytest.mark.parametrize(("each", "difference"), [(800, 0.4), (1_000_000, 0.05)])
def test_many_units_of_equal_rankers_have_a_verdict(each: int, difference: float) -> None:
    """Likelihood ratios far below the smallest number are a bound of 1, and the winning share is known."""
    rule = replace(RULE, difference=difference)
    tested = sequential_test(each, each, rule)
    assert (tested.conclusion, tested.p) == ("equal", 1.0)
    share = winning_share(2 * each, rule)
    assert share is not None
    assert 0.5 < share < 0.5 + difference


def test_the_sample_size_gives_the_power() -> None:
    """A fixed test with the computed number of units has the power 1 - `miss`."""
    n = sample_size(RULE)
    critical = stats.binom.ppf(0.025, n, 0.5)
    power = stats.binom.cdf(critical - 1, n, 0.5 - RULE.difference)
    assert power == pytest.approx(1.0 - RULE.miss, abs=0.02)


@pytest.mark.parametrize("decided", [1, 40, 41, 500])
def test_the_winning_share_is_where_the_test_concludes(decided: int) -> None:
    """One win fewer does not conclude the test; the share is None if no number of wins does."""
    winning = [w for w in range(decided + 1) if sequential_test(w, decided - w, RULE).conclusion == "first"]
    assert winning_share(decided, RULE) == (winning[0] / decided if winning else None)


def test_the_path_follows_the_units() -> None:
    """The path has units in the order of their lists, one unit per user, and ends with all units."""
    earned = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    (pair,) = verdict(["a", "b"], earned, ["late", "early", "early", "late", None], RULE).pairs
    assert [(look.decided, look.preferring_first) for look in pair.path] == [(1, 1), (2, 1), (3, 2)]
    assert verdict(["a", "b"], earned[:0], [], RULE).pairs[0].path == ()


def _first_conclusions(steps: BoolArray, rule: SequentialRule) -> tuple[BoolArray, npt.NDArray[np.int64]]:
    """Return for each experiment whether any look finds a better ranker, and the units until the end.

    There is a look after each unit, with the bounds of `sequential_test` computed on whole arrays.
    """
    wins = np.cumsum(steps, axis=1)
    n = np.arange(1, steps.shape[1] + 1)
    rise, fall = math.log1p(2 * rule.difference), math.log1p(-2 * rule.difference)
    one, other = wins * rise + (n - wins) * fall, (n - wins) * rise + wins * fall
    better = np.logaddexp(one, other) - math.log(2.0) >= -math.log(rule.error)
    ended = better | (np.maximum(one, other) <= math.log(rule.miss))
    first = np.where(ended.any(axis=1), ended.argmax(axis=1) + 1, steps.shape[1])
    return np.asarray(better.any(axis=1)), first


def _experiments(seed: int, experiments: int, units: int, share: float) -> BoolArray:
    return np.random.default_rng(seed).random((experiments, units), np.float32) < share


def test_array_bounds_are_those_of_the_sequential_test() -> None:
    """The array form of this file concludes as `sequential_test` does, look by look."""
    rule = replace(RULE, difference=0.15)
    steps = _experiments(5, 20, 300, 0.6)
    better, ended = _first_conclusions(steps, rule)
    for row, is_better, end in zip(steps, better, ended, strict=True):
        looks = [sequential_test(int(row[:n].sum()), int(n - row[:n].sum()), rule) for n in range(1, 301)]
        assert any(look.conclusion in ("first", "second") for look in looks) == is_better
        first = next((look.decided for look in looks if look.conclusion != "undecided"), 300)
        assert first == end


@pytest.mark.parametrize(
    "experiments", [1_000, pytest.param(10_000, marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_a_look_after_each_unit_keeps_the_error_rate(experiments: int) -> None:
    """Without a difference, at most 5% ever name a better ranker; the test continues after `equal`."""
    rule = replace(RULE, difference=0.1)
    steps = _experiments(1, experiments, 5 * sample_size(rule), 0.5)
    errors = int(_first_conclusions(steps, rule)[0].sum())
    assert errors <= stats.binom.ppf(0.999, experiments, rule.error)
    assert experiments < 10_000 or errors / experiments <= rule.error
    assert errors > 0.01 * experiments  # the test does decide in some experiments


@pytest.mark.parametrize(
    "experiments", [300, pytest.param(10_000, marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_the_sequential_test_needs_a_smaller_sample(experiments: int) -> None:
    """The test saves over 2/5 of a fixed test at 1.5 times the smallest difference, and 3/5 at 2 times."""
    rule = replace(RULE, difference=0.1)
    n = sample_size(rule)
    for factor, largest_share in ((1.5, 0.6), (2.0, 0.4)):
        better, ended = _first_conclusions(_experiments(2, experiments, 6 * n, 0.5 + factor * 0.1), rule)
        assert ended.mean() / n < largest_share
        assert better.mean() > 0.95
    better, _ = _first_conclusions(_experiments(3, experiments, 12 * n, 0.6), rule)
    assert better.mean() > 1.0 - rule.miss


@pytest.mark.parametrize("difference", [0.05, 0.2, 0.48])
def test_the_mean_test_of_signs_is_the_test_of_likelihood_ratios(difference: float) -> None:
    """Differences of ±1 have the same evidence in both tests, whatever their order."""
    rule = replace(RULE, difference=difference)
    for n in (0, 1, 30, 200, 1_000):
        signs = np.where(np.random.default_rng(n).random(n) < 0.55, 1.0, -1.0)
        wins = int((signs > 0).sum())
        expected, found = sequential_test(wins, n - wins, rule), sequential_mean_test(signs, rule)
        assert found.p == pytest.approx(expected.p, rel=1e-9)
        assert found == replace(expected, p=found.p)


def test_a_look_after_each_unit_keeps_the_error_rate_of_the_mean_test() -> None:
    """Frequent small gains and rare large losses, 0 on average, name a winner in at most 5%."""
    rng, rule = np.random.default_rng(4), replace(RULE, difference=0.1)
    winners = 0
    for _ in range(300):
        differences = np.where(rng.random(600) < 0.9, 0.1, -0.9)
        looks = (sequential_mean_test(differences[:n], rule).conclusion for n in range(20, 601, 20))
        winners += any(conclusion in ("first", "second") for conclusion in looks)
    assert winners <= stats.binom.ppf(0.999, 300, rule.error)


@pytest.mark.parametrize("method", ["probabilistic", "optimised"])
def test_random_clicks_on_a_shifted_copy_name_no_winner(method: Method) -> None:
    """One ranker has more credit on most lists, but both have the same on average."""
    rng = np.random.default_rng(3)
    lists: list[tuple[str | None, list[float], int]] = []
    for number in range(1_500):
        shown = interleave(method, [[1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 1]], 6, seeded_draw(number))
        clicked = rng.permutation(6)[: rng.integers(1, 3)].tolist()
        lists.append((None, shown.credits(clicked), len(clicked)))
    found = verdict_of_lists(method, ["a", "b"], lists, vars(RULE), "list", 0)
    (pair,) = found.pairs
    assert sign_test(pair.wins, pair.losses) < 1e-3
    assert found.winner is None
    assert (pair.sign_p, pair.path[-1].winning_share) == (None, None)
    assert pair.delta_lower is not None
    assert pair.delta_upper is not None
    assert pair.delta_lower < 0.0 < pair.delta_upper


def _verdict(differences: list[float], users: Sequence[str | None], unit: str = "user") -> Verdict:
    earned = np.column_stack([np.maximum(differences, 0.0), np.maximum(np.negative(differences), 0.0)])
    return verdict(["old", "new"], earned, users, RULE, unit=unit)  # type: ignore[arg-type]


def test_delta_is_within_its_interval() -> None:
    """Δ = (wins + ½ ties) / all − ½, within its interval; the sentence names the better ranker."""
    differences = [-1.0] * 160 + [1.0] * 40 + [0.0] * 50
    found = _verdict(differences, [*(f"u{index}" for index in range(250))])
    (pair,) = found.pairs
    assert (pair.wins, pair.losses, pair.ties) == (40, 160, 50)
    assert pair.delta is not None
    assert pair.delta == pytest.approx((40 + 25) / 250 - 0.5)
    assert pair.delta_lower is not None
    assert pair.delta_upper is not None
    error = 0.5 * np.std(np.sign(differences)) / math.sqrt(250)
    assert pair.delta_lower == pytest.approx(pair.delta - 1.96 * error, abs=0.01)
    assert pair.delta_upper == pytest.approx(pair.delta + 1.96 * error, abs=0.01)
    assert found.winner == "new"
    assert found.sentence.startswith("new is better than old, preferred by 80.0% of 200 decided users")


def test_many_users_are_resampled_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interval is that of single users, and the time of a resample is bounded."""
    sizes = []

    def counted(columns: Float64Array, **options: Any) -> Float64Array:
        sizes.append(len(columns))
        return resampled_sums(columns, **options)

    monkeypatch.setattr(sys.modules[sign_test.__module__], "resampled_sums", counted)
    differences = [-1.0] * 26_000 + [1.0] * 24_000
    (pair,) = _verdict(differences, [*(f"u{index}" for index in range(50_000))]).pairs
    assert sizes == [20_000]
    assert pair.delta is not None
    assert pair.delta_lower == pytest.approx(pair.delta - 1.96 * 0.5 / math.sqrt(50_000), abs=3e-4)


def test_a_busy_user_counts_once() -> None:
    """A user with a thousand lists decides one unit, and widens the interval."""
    users = [*["bot"] * 1_000, *(f"u{index}" for index in range(20))]
    differences = [1.0] * 1_000 + [1.0, -1.0] * 10
    (by_user,) = _verdict(differences, users).pairs
    assert (by_user.decided, by_user.preferring_first) == (21, 11)
    assert by_user.conclusion == "undecided"
    (by_list,) = _verdict(differences, users, "list").pairs
    assert (by_list.decided, by_list.conclusion) == (1_020, "first")
    assert by_user.delta_lower is not None
    assert by_user.delta_lower < 0.1


@pytest.mark.parametrize("n_users", [1, 7])
def test_few_users_give_no_interval(n_users: int) -> None:
    """The bootstrap of few users would look more certain than it is."""
    users = [f"u{index % n_users}" for index in range(21)]
    (pair,) = _verdict([1.0, 1.0, -1.0] * 7, users).pairs
    assert pair.delta == pytest.approx(1 / 6)
    assert (pair.delta_lower, pair.delta_upper) == (None, None)


def test_each_list_without_a_user_is_a_unit() -> None:
    """Three lists without users are three decided units, as from three users."""
    (pair,) = _verdict([1.0, 1.0, -1.0], [None, None, None]).pairs
    assert pair.decided == 3


def test_equal_rankers_have_an_error_probability_instead_of_a_p_value() -> None:
    """The p-value of their difference is 1, which is no evidence."""
    found = _verdict([1.0, -1.0] * 300, [None] * 600)
    assert found.sentence == (
        "old and new are equal: a preference of 55% for either is excluded after 600 decided users, with an"
        " error probability of at most 20%."
    )


def test_small_error_probabilities_and_differences_are_not_rounded_away() -> None:
    """Whole percents would promise an error probability of 0%, and exclude a preference of 50%."""
    rule = SequentialRule(error=0.001, miss=0.001, difference=0.004)
    found = verdict(["old", "new"], np.tile([[1.0, 0.0], [0.0, 1.0]], (300_000, 1)), [None] * 600_000, rule)
    assert "a preference of 50.4% for either is excluded" in found.sentence
    assert found.sentence.endswith("with an error probability of at most 0.1%.")


def test_a_bound_of_the_p_value_that_rounds_to_1_is_left_out() -> None:
    """A bound of 0.997 is no evidence, as one of 1."""
    (pair,) = _verdict([1.0, 1.0, -1.0], [None] * 3).pairs
    assert replace(pair, sequential_p=0.997).evidence("user") == "3 decided users"
    assert replace(pair, sequential_p=0.9).evidence("user") == "3 decided users, p ≤ 0.9 at any time"


def test_without_lists_the_verdict_is_undecided() -> None:
    """Without clicks the verdict is undecided, and the sentence has the reason."""
    found = _verdict([], [])
    assert (found.winner, found.pairs[0].delta) == (None, None)
    assert found.sentence == "Undecided between old and new: no user prefers either ranker yet."
    of_three = verdict(["a", "b", "c"], np.empty((0, 3)), [], RULE)
    assert of_three.sentence == "Undecided between a, b and c: no user prefers any ranker yet."


def test_the_best_of_three_rankers_is_named() -> None:
    """The winner is better than both others; each of the three pairs gets a third of the error."""
    order = np.random.default_rng(0).permuted(np.tile([0.0, 1.0, 2.0], (400, 1)), axis=1)
    earned = np.column_stack([order[:, :2], np.full(400, 3.0)])
    found = verdict(["a", "b", "c"], earned, [None] * 400, RULE)
    assert found.winner == "c"
    assert len(found.pairs) == 3
    assert {pair.conclusion for pair in found.pairs[1:]} == {"second"}
    expected = winning_share(400, replace(RULE, error=RULE.error / 3))
    assert found.pairs[1].path[-1].winning_share == expected


def test_the_sign_test_equals_the_exact_binomial_test() -> None:
    """The p-value is SciPy's exact binomial test."""
    for wins, losses in ((9, 1), (50, 50), (3, 17), (0, 4)):
        assert sign_test(wins, losses) == pytest.approx(
            stats.binomtest(wins, wins + losses).pvalue, abs=1e-12
        )


@pytest.mark.parametrize("field", ["error", "miss", "difference"])
def test_a_rule_out_of_range_is_refused(field: str) -> None:
    """A value of 0.5 is out of range and refused by name."""
    with pytest.raises(InvalidInput, match=f"/{field}: must be above 0"):
        SequentialRule(**{field: 0.5})
