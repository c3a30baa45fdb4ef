"""Claims judged on made-up results."""

import numpy as np
import pytest

from core.experiments.judgement import Judge, Judgement, PairedTests
from core.experiments.paper import Claim, Significance, Test
from core.experiments.results import CellValue
from core.experiments.rules import Above, Alike, AtMost, CellKey, Larger, Narrower, Reaches, Rises, Rule
from core.types import Float64Array

A, B, C, D = (("a", "x"), ("b", "x"), ("a", "y"), ("b", "y"))
BASE = np.random.default_rng(1).uniform(0.2, 0.6, 400)
NOISE = np.random.default_rng(2).normal(0.0, 0.05, 400)


def measured(values: Float64Array) -> CellValue:
    """Return a mean with its values by query."""
    return CellValue(float(np.nanmean(values)), "digest", values)


def curve(*values: float) -> CellValue:
    """Return a curve of one value a tree."""
    return CellValue(max(values), "digest", trees=tuple(range(1, len(values) + 1)), curve=values)


def judged(rule: Rule, values: dict[CellKey, CellValue], test: Test = "randomisation") -> Judgement:
    """Judge a rule by values."""
    significance = Significance(test=test, levels={"*": 0.05})
    claim = Claim(name="claim", statement="A.", source="here", rule=rule)
    return Judge(values, significance, 100.0, PairedTests(2_000)).judge(claim)


@pytest.mark.parametrize("test", ["randomisation", "t-test", "intervals"])
@pytest.mark.parametrize(("shift", "verdict"), [(0.02, "held"), (0.0, "not-shown"), (-0.02, "contradicted")])
def test_a_significant_difference_shows_or_contradicts_a_claim(
    shift: float, verdict: str, test: Test
) -> None:
    """A difference with p < 0.05 shows or contradicts a claim; one without evidence does neither."""
    noise = NOISE - NOISE.mean()
    found = judged(Above(((A, B),)), {A: measured(BASE + noise + shift), B: measured(BASE)}, test)
    assert found.verdict == verdict
    assert found.effect == pytest.approx(shift)
    assert found.p is not None
    assert (found.p < 0.05) == (verdict != "not-shown")


def test_every_pair_must_be_above() -> None:
    """One pair without evidence leaves the claim open; one that is worse contradicts it."""
    values = {A: measured(BASE + 0.1), B: measured(BASE), C: measured(BASE), D: measured(BASE + 0.1)}
    assert judged(Above(((A, B),)), values).verdict == "held"
    assert judged(Above(((A, B), (B, C))), values).verdict == "not-shown"
    assert judged(Above(((A, B), (C, D))), values).verdict == "contradicted"


def test_contradictions_are_corrected_for_their_number() -> None:
    """A difference in the other direction at p = 0.03 does not contradict a claim of ten comparisons."""
    rng = np.random.default_rng(5)
    noise = rng.normal(0.0, 0.05, 400)
    worse = BASE + noise - noise.mean() - 0.0055
    one = judged(Above(((A, B),)), {A: measured(worse), B: measured(BASE)}, "t-test")
    assert one.p is not None
    assert 0.01 < one.p < 0.05
    assert one.verdict == "contradicted"
    many = {(f"row {i}", "x"): measured(BASE + 0.1 + 0.01 * NOISE) for i in range(9)}
    pairs = ((A, B), *((cell_key, B) for cell_key in many))
    found = judged(Above(pairs), {A: measured(worse), B: measured(BASE), **many}, "t-test")
    assert found.verdict == "not-shown"


def test_missing_numbers_show_nothing() -> None:
    """The sentence names the cells, but not those that have a number."""
    found = judged(Above(((A, B),)), {A: measured(BASE)})
    assert found.verdict == "not-shown"
    assert found.sentence.endswith("numbers are missing: b, x.")


def test_other_queries_are_not_compared() -> None:
    """Values of different numbers of queries cannot be paired."""
    found = judged(Above(((A, B),)), {A: measured(BASE), B: measured(BASE[1:])})
    assert found.verdict == "not-shown"
    assert found.sentence.endswith("no query has both numbers: a, x; b, x.")


@pytest.mark.parametrize(
    ("narrow", "wide", "verdict"),
    [(0.01, 0.05, "held"), (0.03, 0.03, "not-shown"), (0.05, 0.01, "contradicted")],
)
def test_relative_gaps_are_compared_over_the_same_queries(narrow: float, wide: float, verdict: str) -> None:
    """The relative gap of one pair is compared with that of another pair."""
    other = NOISE[::-1]
    values = {
        A: measured(BASE + narrow + 0.1 * NOISE),
        B: measured(BASE),
        C: measured(BASE + wide + 0.1 * other),
        D: measured(BASE),
    }
    assert judged(Narrower(narrow=(A, B), wide=(C, D)), values).verdict == verdict


@pytest.mark.parametrize(
    ("shift", "noise", "verdict"),
    [(0.0, 0.01, "held"), (0.0, 2.0, "not-shown"), (0.03, 0.01, "contradicted")],
)
def test_equality_needs_an_interval_within_the_margin(shift: float, noise: float, verdict: str) -> None:
    """The interval must lie within the margin; few or noisy queries cannot show it."""
    values = {A: measured(BASE + shift + noise * (NOISE - NOISE.mean())), B: measured(BASE)}
    assert judged(Alike(((A, B),), margin=0.005), values).verdict == verdict


@pytest.mark.parametrize("rule", [Above(((A, B),)), Alike(((A, B),), margin=0.005)])
@pytest.mark.parametrize("test", ["randomisation", "t-test"])
def test_one_query_shows_nothing(rule: Rule, test: Test) -> None:
    """A single difference has neither a deviation nor an interval."""
    values = {A: measured(np.array([0.501])), B: measured(np.array([0.5]))}
    assert judged(rule, values, test).verdict == "not-shown"


def test_numbers_without_values_by_query_have_no_p() -> None:
    """Times and shares are judged without a significance test, which the sentence reports."""
    found = judged(Larger(((A, B),)), {A: CellValue(3.0), B: CellValue(2.0)})
    assert (found.verdict, found.p, found.effect) == ("held", None, 1.0)
    assert "no significance test" in found.sentence
    assert judged(Larger(((B, A),)), {A: CellValue(3.0), B: CellValue(2.0)}).verdict == "contradicted"


def test_times_that_hardly_differ_show_nothing() -> None:
    """Times of one machine vary by a tenth."""
    assert judged(Larger(((A, B),)), {A: CellValue(2.1), B: CellValue(2.0)}).verdict == "not-shown"
    assert judged(Larger(((B, A),)), {A: CellValue(2.1), B: CellValue(2.0)}).verdict == "not-shown"


def test_tests_run_together_equal_single_tests() -> None:
    """Marks and claims have the p-values that `compare` computes for the pair alone."""
    together, alone = PairedTests(2_000), PairedTests(2_000)
    other = BASE + NOISE
    together.run_all([(other, BASE), (BASE, other)])
    assert together(other, BASE) == alone(other, BASE)


def test_claims_about_curves_are_judged() -> None:
    """A curve rises where it ends above its early value, and reaches another's best in some trees."""
    fast, slow = curve(*np.linspace(0.4, 0.8, 20)), curve(*np.linspace(0.2, 0.5, 20))
    assert judged(Rises((A,)), {A: fast}).verdict == "held"
    assert judged(Rises((A,)), {A: curve(0.5, 0.4, 0.3)}).verdict == "contradicted"
    assert judged(Reaches((A, B), 0.3), {A: fast, B: slow}).verdict == "held"
    assert judged(Reaches((A, B), 0.1), {A: fast, B: slow}).verdict == "not-shown"
    assert judged(Reaches((B, A), 0.3), {A: fast, B: slow}).verdict == "contradicted"


@pytest.mark.parametrize(("unit", "words"), [(100.0, "+1.25 "), (1.0, "+0.0125 ")])
def test_a_difference_has_the_digits_of_its_table(unit: float, words: str) -> None:
    """NDCG as a fraction needs four digits where percent need two."""
    claim = Claim(name="claim", statement="A.", source="here", rule=Above(((A, B),)))
    values = {A: measured(BASE + 0.0125), B: measured(BASE)}
    assert words in Judge(values, None, unit, PairedTests(2_000)).judge(claim).sentence


@pytest.mark.parametrize(("largest", "verdict"), [(1.1, "held"), (1.185, "held"), (1.2, "contradicted")])
def test_a_bound_is_one_of_all_numbers(largest: float, verdict: str) -> None:
    """The largest number decides; if a number is missing, the verdict is `not-shown`."""
    rule = AtMost((A, B), 1.185)
    found = judged(rule, {A: CellValue(0.9), B: CellValue(largest)})
    assert found.verdict == verdict
    assert found.effect == pytest.approx(largest - 1.185)
    assert judged(rule, {A: CellValue(0.9)}).verdict == "not-shown"
