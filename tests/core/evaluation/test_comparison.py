"""Conclusions about several systems."""

import numpy as np
import pytest

from core.evaluation import Comparison, compare_systems
from core.evaluation.comparison import Correction
from core.evaluation.paired import queries_needed
from core.types import Float64Array

N = 400


def _compare(
    *offsets: float, spread: float = 0.1, higher_is_better: bool = True, n_queries: int = N
) -> Comparison:
    """Compare systems that differ from a common level by these offsets and independent noise."""
    generator = np.random.default_rng(2)
    level = generator.uniform(0.3, 0.6, (n_queries, 1))
    values = level + np.array(offsets) + spread * generator.standard_normal((n_queries, len(offsets)))
    names = [f"s{index}" for index in range(len(offsets))]
    return compare_systems(
        names, {"ndcg@10": values}, {"ndcg@10": higher_is_better}, permutations=2_000, seed=3
    )


def test_a_clear_difference_is_reported_with_its_size() -> None:
    """The sentence has the verdict, the means, the interval, and how many queries there were."""
    comparison = _compare(0.0, 0.1)
    (pair,) = comparison.pairs
    assert pair.verdict == "better"
    found = pair.metrics["ndcg@10"]
    assert found is not None
    paired = found.paired
    assert comparison.sentence == pair.sentence
    assert pair.sentence.startswith("s1 is better than s0: ndcg@10 goes from ")
    for text in (f"{paired.difference:+.4f}", f"{paired.lower:+.4f} to {paired.upper:+.4f}", "400 queries"):
        assert text in pair.sentence


def test_for_a_cost_the_lower_system_is_better() -> None:
    """For a cost, the verdict and the order of the changed queries are reversed."""
    (pair,) = _compare(0.0, 0.1, higher_is_better=False).pairs
    assert pair.verdict == "worse"
    assert pair.sentence.startswith("s1 is worse than s0")
    assert all(changed.b < changed.a for changed in pair.most_improved)


def test_no_evidence_reports_the_number_of_queries_needed() -> None:
    """A difference that may be chance is not reported as one."""
    (pair,) = _compare(0.0, 0.001).pairs
    found = pair.metrics["ndcg@10"]
    assert found is not None
    assert pair.verdict == "no evidence"
    assert pair.sentence.startswith("There is no evidence that s1 and s0 differ")
    assert f"About {found.paired.queries_needed:,} queries" in pair.sentence


@pytest.mark.parametrize("reference", [None, 0])
def test_a_metric_without_any_value_is_named(reference: int | None) -> None:
    """No evidence would mean that the systems were compared."""
    values = {"ndcg@10": np.full((5, 3), np.nan)}
    compared = compare_systems(["s0", "s1", "s2"], values, {"ndcg@10": True}, reference=reference)
    assert compared.sentence == "ndcg@10 is undefined on every query for each pair of systems."


def test_queries_needed_are_corrected_for_the_number_of_tests() -> None:
    """Ten tests, none of them significant, need more queries each than one test."""
    values = np.random.default_rng(5).normal((0.0, 0.4), 1.0, (60, 2))
    few, many = (
        compare_systems(
            ["a", "b"],
            {f"m{metric}": values for metric in range(n_metrics)},
            dict.fromkeys((f"m{metric}" for metric in range(n_metrics)), True),
            permutations=200,
        )
        .pairs[0]
        .metrics["m0"]
        for n_metrics in (1, 10)
    )
    assert few is not None
    assert many is not None
    effect = few.paired.effect_size
    assert effect is not None
    assert few.paired.queries_needed == queries_needed(effect, 1.0)
    assert many.paired.queries_needed == queries_needed(effect, 1.0, 0.005)


def test_one_query_gives_no_interval() -> None:
    """An interval of width 0 would look certain; the sentence states that there is none."""
    values = {"ndcg@10": np.array([[0.5, 0.6]])}
    (pair,) = compare_systems(["s0", "s1"], values, {"ndcg@10": True}).pairs
    assert "+0.1000 (one query gives no interval, p = 1.0000) over 1 query. Only 1 query" in pair.sentence
    found = pair.to_json(["q1"])["metrics"]["ndcg@10"]
    assert (found["lower"], found["upper"]) == (None, None)


def test_too_few_queries_for_any_verdict_are_named() -> None:
    """If no p-value can be below 0.05, the sentence has the reason."""
    (pair,) = _compare(0.0, 0.3, n_queries=5).pairs
    assert pair.verdict == "no evidence"
    assert "Only 5 queries differ; no difference can be significant with fewer than 6." in pair.sentence


def test_changed_queries_are_the_extremes() -> None:
    """The ten largest gains and the ten largest losses are listed, largest first."""
    a: Float64Array = np.zeros(30)
    b = np.concatenate((np.linspace(0.1, 1.0, 12), np.linspace(-1.0, -0.1, 12), np.zeros(6)))
    comparison = compare_systems(["a", "b"], {"map": np.column_stack((a, b))}, {"map": True})
    (pair,) = comparison.pairs
    assert [changed.query for changed in pair.most_improved] == list(range(11, 1, -1))
    assert [changed.query for changed in pair.most_harmed] == list(range(12, 22))


def test_p_values_are_adjusted_over_all_pairs_and_metrics() -> None:
    """Six tests: the smallest p-value counts six times."""
    generator = np.random.default_rng(8)
    first, second = generator.random((N, 3)), generator.random((N, 3))
    first[:, 2] += 0.2
    comparison = compare_systems(
        ["a", "b", "c"],
        {"map": first, "mrr": second},
        {"map": True, "mrr": True},
        permutations=50_000,
    )
    tests = [found for pair in comparison.pairs for found in pair.metrics.values() if found is not None]
    assert len(tests) == 6
    smallest = min(tests, key=lambda found: found.paired.randomisation_p)
    assert smallest.adjusted_p == pytest.approx(6 * smallest.paired.randomisation_p)
    assert all(found.adjusted_p >= found.paired.randomisation_p for found in tests)


def test_the_best_of_several_systems_is_named() -> None:
    """The sentence names a system that beats all others, or else the systems that no other beats."""
    assert _compare(0.0, 0.1, 0.3).sentence == "s2 is better than every other system by ndcg@10."
    assert _compare(0.0, 0.2, 0.2).sentence == (
        "No system is better than s1 or s2 by ndcg@10, and there is no evidence that these systems differ;"
        " 2 of 3 pairs differ."
    )
    assert _compare(0.0, 0.0, 0.0).sentence.startswith("There is no evidence that any two of the 3 systems")


def test_systems_may_beat_each_other_in_a_circle() -> None:
    """Each pair shares other queries, so that none of the three systems is unbeaten."""
    values = np.full((300, 3), np.nan)
    for system in range(3):
        shared = slice(100 * system, 100 * system + 100)
        values[shared, system], values[shared, (system + 1) % 3] = 0.2, 0.1
    comparison = compare_systems(["a", "b", "c"], {"map": values}, {"map": True}, permutations=1_000)
    assert comparison.sentence == "Each system is worse than another one by map; 3 of 3 pairs differ."


def test_equal_systems_and_undefined_metrics_have_no_winner() -> None:
    """Equal systems are called the same; a metric that no query defines has no result."""
    same = np.full((5, 2), 0.5)
    (pair,) = compare_systems(["a", "b"], {"map": same}, {"map": True}).pairs
    assert pair.sentence == "a and b have the same map on each of 5 queries."
    (pair,) = compare_systems(["a", "b"], {"map": np.full((5, 2), np.nan)}, {"map": True}).pairs
    assert (pair.metrics["map"], pair.verdict, pair.most_improved) == (None, "no evidence", [])


def test_a_different_result_of_another_metric_is_reported() -> None:
    """The first metric decides; the sentence names the metrics with another result."""
    generator = np.random.default_rng(1)
    a, b = generator.random(N), generator.random(N)
    values = {
        "ndcg@10": np.column_stack((a, a + 0.1)),
        "mrr": np.column_stack((b, b - 0.1)),
        "map": np.column_stack((a, a)),
    }
    (pair,) = compare_systems(["a", "b"], values, dict.fromkeys(values, True), permutations=2_000).pairs
    assert pair.verdict == "better"
    assert pair.sentence.endswith("By mrr it is worse. By map there is no evidence of a difference.")


def _against(reference: int, correction: Correction = "holm") -> Comparison:
    """Four systems, one of them clearly better and one clearly worse than the others."""
    generator = np.random.default_rng(5)
    values = generator.uniform(0.3, 0.6, (N, 1)) + 0.1 * generator.standard_normal((N, 4))
    values += np.array([0.0, 0.1, -0.1, 0.0])
    names = ["base", "up", "down", "same"]
    return compare_systems(
        names,
        {"map": values},
        {"map": True},
        reference=reference,
        correction=correction,
        permutations=2_000,
    )


def test_a_reference_is_compared_with_each_other_system_alone() -> None:
    """The reference is A of every pair, and the correction counts these pairs only."""
    comparison = _against(0)
    assert [(pair.a, pair.b) for pair in comparison.pairs] == [(0, 1), (0, 2), (0, 3)]
    assert comparison.sentence == (
        "By map, up is better than base; down is worse than base;"
        " there is no evidence that same differs from base."
    )
    tests = [found for pair in comparison.pairs for found in pair.metrics.values() if found is not None]
    smallest = min(tests, key=lambda found: found.paired.randomisation_p)
    assert smallest.adjusted_p == pytest.approx(3 * smallest.paired.randomisation_p)
    assert [(pair.a, pair.b) for pair in _against(2).pairs] == [(2, 0), (2, 1), (2, 3)]


def test_without_correction_each_p_value_is_used_unchanged() -> None:
    """The p-value of the test is compared with 0.05."""
    for pair in _against(0, "none").pairs:
        found = pair.metrics["map"]
        assert found is not None
        assert found.adjusted_p == found.paired.randomisation_p


@pytest.mark.parametrize(("metric", "limit"), [("ndcg@10", 1.0), ("dcg@10", np.inf), ("revenue", np.inf)])
def test_an_interval_is_within_the_possible_differences(metric: str, limit: float) -> None:
    """Of a metric from 0 to 1, no difference is above 1; few queries would give a longer interval."""
    values = np.column_stack(([0.0, 0.0, 0.05], [1.0, 0.9, 1.0]))
    (pair,) = compare_systems(["a", "b"], {metric: values}, {metric: True}).pairs
    (difference,) = pair.metrics.values()
    assert difference is not None
    assert difference.paired.upper is not None
    assert (difference.paired.upper == 1.0) == (limit == 1.0)
    assert difference.paired.upper <= limit
