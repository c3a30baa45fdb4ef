"""Promotion by the verdict of an interleaving."""

import pytest

from core.interleaving.gate import Preference, admits, verdict_of_lists
from core.interleaving.verdict import PairVerdict

RULE = {"error": 0.05, "miss": 0.2, "difference": 0.2}


def pairs(wins: int, losses: int, *names: str) -> list[PairVerdict]:
    """Return the pairs of a verdict with these numbers of users who preferred the first or second ranker."""
    for_first = [(f"u{n}", [1.0, 0.0], 1) for n in range(wins)]
    for_second = [(f"v{n}", [0.0, 1.0], 1) for n in range(losses)]
    rankers = names or ("web:3", "web:4")
    return list(verdict_of_lists("team_draft", rankers, for_first + for_second, RULE, "user", 0).pairs)


@pytest.mark.parametrize(
    ("wins", "losses", "better", "not_worse", "words"),
    [
        (0, 60, True, True, "users prefer web:4 to web:3: "),
        (60, 0, False, False, "users prefer web:3 to web:4: "),
        (1, 1, False, True, "users show no preference between web:4 and web:3 yet: 2 decided units"),
        (300, 300, False, True, "users find web:4 and web:3 equal: "),
    ],
)
def test_users_admit_a_challenger(wins: int, losses: int, better: bool, not_worse: bool, words: str) -> None:
    """`better` requires a preference for the challenger, `not_worse` only no preference for the champion."""
    requirements: list[tuple[Preference, bool]] = [("better", better), ("not_worse", not_worse)]
    for require, expected in requirements:
        admitted, sentence = admits(require, "web:3", "web:4", pairs(wins, losses))
        assert admitted == expected
        assert sentence.startswith(words)
        assert "p ≤ 1 " not in sentence


def test_the_order_of_the_rankers_does_not_matter() -> None:
    """The challenger may be the first ranker of the interleaving."""
    found = pairs(60, 0, "web:4", "web:3")
    assert admits("better", "web:3", "web:4", found) == (
        True,
        admits("not_worse", "web:3", "web:4", found)[1],
    )


def test_nothing_is_admitted_without_an_interleaving() -> None:
    """An interleaving of other models does not admit a challenger either."""
    for found in ([], pairs(0, 60, "web:1", "web:4")):
        admitted, sentence = admits("not_worse", "web:3", "web:4", found)
        assert not admitted
        assert "create an interleaving of both models" in sentence
