"""Interleaved lists: the documents shown, and the credit of each ranker for clicks."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Ranking = Sequence[int]
Draw = Callable[[Sequence[float]], int]
"""Draws a position with a probability in proportion to its weight; weights are at least 0."""


@dataclass(frozen=True)
class InterleavedList:
    """A list interleaved from several rankings.

    Attributes:
        documents: The documents shown, best first.
        teams: The ranker that contributed each document; -1 where clicks are not credited, or no single
            ranker contributed the document.
        shares: Credit of each ranker for a click on each document; None for balanced interleaving, whose
            credit depends on all clicks of a list.
        ranks: Rank of each document in each ranking, from 1; the ranking's length plus 1 where absent.
    """

    documents: list[int]
    teams: list[int]
    shares: list[list[float]] | None
    ranks: list[list[int]]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON of the list: only the fields that credits need, without the documents."""
        if self.shares is None:
            return {"ranks": self.ranks}
        if self.shares == shares_of_teams(self.teams, len(self.shares)):
            return {"teams": self.teams, "rankers": len(self.shares)}
        return {"shares": self.shares}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> "InterleavedList":
        """Build a list from its JSON, with only the fields that credits need."""
        if "ranks" in stored:
            n = len(stored["ranks"][0])
            return cls(list(range(n)), [-1] * n, None, stored["ranks"])
        if "shares" in stored:
            n = len(stored["shares"][0])
            return cls(list(range(n)), [-1] * n, stored["shares"], [])
        teams = stored["teams"]
        return cls(list(range(len(teams))), teams, shares_of_teams(teams, stored["rankers"]), [])

    def credits(self, clicked: Sequence[int]) -> list[float]:
        """Return the credit of each ranker for clicks on a list.

        Args:
            clicked: Positions in `documents`, from 0; each counts once.
        """
        positions = sorted(set(clicked))
        if self.shares is not None:
            return [sum(share[position] for position in positions) for share in self.shares]
        return _balanced_credits(self.ranks, positions)


def shares_of_teams(teams: Sequence[int], n_rankers: int) -> list[list[float]]:
    """Return the shares of lists where a click credits only the ranker that contributed the document."""
    return [[float(team == ranker) for team in teams] for ranker in range(n_rankers)]


def _balanced_credits(ranks: list[list[int]], positions: Sequence[int]) -> list[float]:
    """Count the clicks in each ranker's top k; k is the better rank of the lowest click (Joachims 2003)."""
    if not positions:
        return [0.0 for _ in ranks]
    depth = min(ranks_of_ranker[positions[-1]] for ranks_of_ranker in ranks)
    return [
        float(sum(ranks_of_ranker[position] <= depth for position in positions)) for ranks_of_ranker in ranks
    ]


def ranks_of(documents: Sequence[int], rankings: Sequence[Ranking]) -> list[list[int]]:
    """Return the rank of each document in each ranking, from 1; the ranking's length plus 1 where absent."""
    ranks = []
    for ranking in rankings:
        rank_of = {document: rank for rank, document in enumerate(ranking, 1)}
        ranks.append([rank_of.get(document, len(ranking) + 1) for document in documents])
    return ranks


def common_top(rankings: Sequence[Ranking]) -> int:
    """Return the number of top ranks at which all rankings have the same document.

    Clicks at these ranks favour no ranker (Chapelle et al. 2012, section 3.3).
    """
    same = 0
    for documents in zip(*rankings, strict=False):
        if any(document != documents[0] for document in documents):
            break
        same += 1
    return same


def seeded_draw(*key: object) -> Draw:
    """Return a draw function that is seeded with the key alone, on any machine and release of Python.

    Example:
        >>> seeded_draw(7, "user", "query")([1.0, 0.0])
        0
    """
    uniform = random.Random("\x1f".join(map(str, key)))  # noqa: S311 - no secret

    def draw(weights: Sequence[float]) -> int:
        if len(weights) == 1:
            return 0
        target = uniform.random() * sum(weights)
        last = 0
        for index, weight in enumerate(weights):
            if weight > 0.0:
                last = index
                target -= weight
                if target < 0.0:
                    break
        return last

    return draw
