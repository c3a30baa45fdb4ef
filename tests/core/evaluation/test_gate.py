"""Decisions of a gate about a challenger."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from core.evaluation import GateDecision, GateRule, Slice, decide
from core.evaluation.paired import paired_differences
from core.types import Float64Array

NAMES = ("web:3", "web:4")
QUERIES = 60
BASE = np.linspace(0.2, 0.6, QUERIES)


def judge(
    champion: Float64Array, challenger: Float64Array, parts: tuple[Slice, ...] = (), **changed: Any
) -> GateDecision:
    """Decide by a rule; higher values are better by default."""
    higher = changed.pop("higher_is_better", True)
    rule = GateRule("ndcg@10", **changed)
    return decide(rule, NAMES, (champion, challenger), parts, higher_is_better=higher, permutations=1000)


def slice_of(name: str, queries: range) -> Slice:
    """Return a slice of queries of a market."""
    return Slice("market", name, np.array(queries))


def test_the_interval_is_within_the_possible_differences() -> None:
    """No difference of NDCG is above 1; three queries would give a longer interval."""
    decision = judge(np.array([0.0, 0.0, 0.05]), np.array([1.0, 0.9, 1.0]))
    assert decision.paired is not None
    assert decision.paired.upper == 1.0


@pytest.mark.parametrize(
    ("gain", "require", "admitted", "words"),
    [
        (0.1, "not_worse", True, "web:4 is better than web:3"),
        (0.1, "better", True, "web:4 is better than web:3"),
        (0.0, "not_worse", True, "there is no evidence that web:4 is worse than web:3"),
        (0.0, "better", False, "there is no evidence that web:4 is better than web:3"),
        (-0.1, "not_worse", False, "web:4 is worse than web:3"),
        (-0.1, "better", False, "web:4 is worse than web:3"),
    ],
)
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_a_significant_difference_decides(
    gain: float, require: str, admitted: bool, words: str, higher_is_better: bool
) -> None:
    """The difference decides in either direction of the metric."""
    challenger = BASE + (gain if higher_is_better else -gain)
    found = judge(BASE, challenger, require=require, higher_is_better=higher_is_better)
    assert (found.admitted, found.sentence.startswith(words)) == (admitted, True), found.sentence
    assert f"{challenger.mean():.4f} against {BASE.mean():.4f}" in found.sentence


def test_the_p_value_of_the_rule_is_the_level_of_significance() -> None:
    """The same difference is evidence by one rule and none by a stricter one."""
    challenger = BASE + np.random.default_rng(0).normal(-0.02, 0.06, QUERIES)
    (paired,) = paired_differences(BASE[:, None], challenger[:, None], permutations=1000)
    assert paired is not None
    p = paired.randomisation_p
    assert not judge(BASE, challenger, p=p * 1.01).admitted
    assert judge(BASE, challenger, p=p).admitted


def test_a_challenger_is_refused_if_a_slice_falls_too_far() -> None:
    """The sentence names the slice. A gain over all queries does not help; small slices do not count."""
    challenger = BASE + 0.1
    challenger[:20] = BASE[:20] - 0.05
    parts = (slice_of("de", range(20)), slice_of("fr", range(20, 60)))
    found = judge(BASE, challenger, parts, max_slice_drop=0.02, min_slice_queries=20)
    assert not found.admitted
    assert found.sentence.startswith("web:4 is better than web:3 by ndcg@10: ")
    assert found.sentence.endswith("; the segment 'market: de' falls by 0.0500, more than 0.02")
    assert [(change.value, change.queries, change.refused) for change in found.slices] == [
        ("de", 20, True),
        ("fr", 40, False),
    ]
    assert judge(BASE, challenger, parts, max_slice_drop=0.02, min_slice_queries=21).admitted
    assert judge(BASE, challenger, parts, max_slice_drop=0.06).admitted
    assert judge(BASE, challenger, parts, min_slice_queries=1).admitted


def test_many_fallen_slices_are_counted() -> None:
    """The sentence names the three slices that fall most, and counts the others."""
    challenger = BASE + 0.3
    parts = tuple(slice_of(str(i), range(i, i + 1)) for i in range(5))
    challenger[:5] = BASE[:5] - np.arange(1, 6) / 10
    found = judge(BASE, challenger, parts, max_slice_drop=0.0, min_slice_queries=1)
    assert found.sentence.count("the segment") == 3
    assert "'market: 4' falls by 0.5000" in found.sentence
    assert found.sentence.endswith("2 more segments exceed the limit")


def test_a_gate_without_anything_to_compare_does_not_admit() -> None:
    """A dataset without one query that defines the metric proves nothing."""
    nothing = np.full(QUERIES, np.nan)
    found = judge(BASE, nothing, require="not_worse")
    assert (found.admitted, found.paired) == (False, None)
    assert "ndcg@10 is undefined on every query" in found.sentence


def test_queries_without_a_value_of_one_version_do_not_count() -> None:
    """Such queries count neither in the whole nor in a slice."""
    challenger = BASE + 0.1
    challenger[:10] = np.nan
    found = judge(BASE, challenger, (slice_of("de", range(20)),), min_slice_queries=10)
    assert found.paired is not None
    assert (found.paired.queries, found.slices[0].queries) == (QUERIES - 10, 10)
    assert found.slices[0].champion == pytest.approx(BASE[10:20].mean())


values = arrays.arrays(np.float64, 12, elements=st.one_of(st.floats(0, 1), st.just(np.nan)))


@pytest.mark.long
@given(values, values, st.floats(0.0, 0.5))
def test_a_stricter_rule_never_admits_more(
    champion: Float64Array, challenger: Float64Array, drop: float
) -> None:
    """`better` admits no more than `not_worse`, and a rule with a bound on slices no more than without."""
    parts = (slice_of("a", range(6)), slice_of("b", range(6, 12)))
    passes = {
        (require, bound): judge(
            champion, challenger, parts, require=require, max_slice_drop=bound, min_slice_queries=2
        ).admitted
        for require in ("better", "not_worse")
        for bound in (None, drop)
    }
    for bound in (None, drop):
        assert passes["not_worse", bound] or not passes["better", bound]
    for require in ("better", "not_worse"):
        assert passes[require, None] or not passes[require, drop]
    assert set(asdict(judge(champion, challenger))) == {"admitted", "sentence", "paired", "slices"}
