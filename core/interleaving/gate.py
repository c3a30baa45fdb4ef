"""Decide on the promotion of a model by the verdict of an interleaving."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from core.interleaving.drafts import compares_credits
from core.interleaving.sequential import SequentialRule
from core.interleaving.verdict import PairVerdict, Unit, Verdict, verdict

Preference = Literal["not_worse", "better"]


def verdict_of_lists(
    method: str,
    rankers: Sequence[str],
    lists: Sequence[tuple[str | None, Sequence[float], int]],
    rule: Mapping[str, Any],
    unit: Unit,
    seed: int,
) -> Verdict:
    """Compute the verdict from stored lists.

    Args:
        lists: User, credits and number of clicks of each list with a click, in the order in which they were
            shown.
        rule: Fields of `SequentialRule`.
    """
    credits_by_list = np.array([row for _, row, _ in lists], np.float64).reshape(-1, len(rankers))
    users = [user for user, _, _ in lists]
    clicks = np.array([n for _, _, n in lists], np.int64) if compares_credits(method) else None
    return verdict(
        rankers, credits_by_list, users, SequentialRule(**rule), clicks=clicks, unit=unit, seed=seed
    )


def admits(
    require: Preference, champion: str, challenger: str, pairs: Sequence[PairVerdict]
) -> tuple[bool, str]:
    """Return whether the verdict admits a challenger in place of a champion, and the reason.

    Args:
        require: `better` admits only a challenger that users prefer to the champion; `not_worse` refuses only
            if users prefer the champion.
        pairs: The pairs of a verdict; without a pair of both models, the challenger is refused.
    """
    pair = next((each for each in pairs if {each.first, each.second} == {champion, challenger}), None)
    if pair is None:
        return False, (
            f"no interleaving compares {challenger} with {champion}; create an interleaving of both models"
        )
    winner = {"first": pair.first, "second": pair.second}.get(pair.conclusion)
    evidence = pair.evidence("unit")
    if winner is not None:
        loser = champion if winner == challenger else challenger
        return winner == challenger, f"users prefer {winner} to {loser}: {evidence}"
    both = f"{challenger} and {champion}"
    outcome = f"find {both} equal" if pair.conclusion == "equal" else f"show no preference between {both} yet"
    return require == "not_worse", f"users {outcome}: {evidence}"
