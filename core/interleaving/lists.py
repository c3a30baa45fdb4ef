"""Interleaved lists: the documents shown, and what a click is worth to each ranker."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Ranking = Sequence[int]
Draw = Callable[[Sequence[float]], int]
"""Draws a position with a probability in proportion to its weight, at least 0."""


@dataclass(frozen=True)
class InterleavedList:
    """One list that several rankers made together.

    Attributes:
        documents: The documents shown, best first.
        teams: The ranker that contributed each document; -1 where no click is credited, or no ranker alone
            contributed it.
        shares: By ranker, what a click on each document adds to its credit; None for balanced interleaving,
            whose credit depends on all clicks of a list.
        ranks: By ranker, the rank of each document from 1; one more than the ranking's length where absent.
    """

    documents: list[int]
    teams: list[int]
    shares: list[list[float]] | None
    ranks: list[list[int]]

    def to_json(self) -> dict[str, Any]:
        """Return its JSON without the documents, as short as the credits allow."""
        if self.shares is None:
            return {"ranks": self.ranks}
        if self._by_team():
            return {"teams": self.teams, "rankers": len(self.shares)}
        return {"shares": self.shares}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> "InterleavedList":
        """Return a list from its JSON, with what its credits need."""
        if "ranks" in stored:
            n = len(stored["ranks"][0])
            return cls(list(range(n)), [-1] * n, None, stored["ranks"])
        if "shares" in stored:
            n = len(stored["shares"][0])
            return cls(list(range(n)), [-1] * n, stored["shares"], [])
        teams = stored["teams"]
        return cls(list(range(len(teams))), teams, shares_of_teams(teams, stored["rankers"]), [])

    def _by_team(self) -> bool:
        return self.shares is not None and self.shares == shares_of_teams(self.teams, len(self.shares))

    def credits(self, clicked: Sequence[int]) -> list[float]:
        """Return the credit of each ranker for clicks on a list.

        Args:
            clicked: Positions in `documents`, from 0; each counts once.
        """
        places = sorted(set(clicked))
        if self.shares is not None:
            return [sum(share[place] for place in places) for share in self.shares]
        return _balanced_credits(self.ranks, places)


def shares_of_teams(teams: Sequence[int], n_rankers: int) -> list[list[float]]:
    """Return the shares of clicks that credit the ranker that contributed the document."""
    return [[float(team == ranker) for team in teams] for ranker in range(n_rankers)]


def _balanced_credits(ranks: list[list[int]], places: Sequence[int]) -> list[float]:
    """Count the clicks in each ranker's top k, k the better rank of the lowest click (Joachims 2003)."""
    if not places:
        return [0.0 for _ in ranks]
    depth = min(of_ranker[places[-1]] for of_ranker in ranks)
    return [float(sum(of_ranker[place] <= depth for place in places)) for of_ranker in ranks]


def ranks_of(documents: Sequence[int], rankings: Sequence[Ranking]) -> list[list[int]]:
    """Return the rank of each document in each ranking, from 1; one beyond its end where absent."""
    found = []
    for ranking in rankings:
        places = {document: rank for rank, document in enumerate(ranking, 1)}
        found.append([places.get(document, len(ranking) + 1) for document in documents])
    return found


def common_top(rankings: Sequence[Ranking]) -> int:
    """Return at how many top ranks all rankings agree.

    Clicks there favour no ranker (Chapelle et al. 2012, section 3.3).
    """
    same = 0
    for documents in zip(*rankings, strict=False):
        if any(document != documents[0] for document in documents):
            break
        same += 1
    return same


def seeded_draw(*key: object) -> Draw:
    """Return draws that depend on the key alone, on any machine and release of Python.

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
        for place, weight in enumerate(weights):
            if weight > 0.0:
                last = place
                target -= weight
                if target < 0.0:
                    break
        return last

    return draw
