"""Registry of the interleaving methods, by name."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from core.errors import InvalidInput
from core.interleaving.drafts import balanced, probabilistic, team_draft
from core.interleaving.lists import Draw, InterleavedList, Ranking
from core.interleaving.optimised import optimised

Method = Literal["team_draft", "balanced", "probabilistic", "optimised"]

METHODS: Mapping[Method, Callable[[Sequence[Ranking], int, Draw], InterleavedList]] = MappingProxyType(
    {
        "team_draft": team_draft,
        "balanced": balanced,
        "probabilistic": probabilistic,
        "optimised": optimised,
    }
)

# Balanced interleaving is defined for two rankers. For three, optimised interleaving may find no distribution
# of lists that is fair at every cut.
_TWO_RANKER_METHODS = ("balanced", "optimised")

# Random clicks give all rankers equal credit on average, but a ranker may have more credit on most lists.
_CREDIT_METHODS = ("probabilistic", "optimised")


def interleave(method: Method, rankings: Sequence[Ranking], length: int, draw: Draw) -> InterleavedList:
    """Return one interleaved list.

    If a ranking is empty, the documents of the others make a list by team draft, without credits for clicks.

    Args:
        method: A name of `METHODS`.
        rankings: Two or more rankings of documents, best first; documents of a ranking are unique.
        length: Largest number of documents to show, at least 1.
        draw: Source of randomness, such as `seeded_draw`.

    Raises:
        InvalidInput: There are fewer than two rankings, or more than two for a method of two rankings.

    Example:
        >>> from core.interleaving.lists import seeded_draw
        >>> shown = interleave("team_draft", [[1, 2, 3], [2, 3, 1]], 2, seeded_draw(0))
        >>> sorted(shown.documents), shown.credits([0, 1])
        ([1, 2], [1.0, 1.0])
    """
    check_rankers(method, len(rankings))
    return METHODS[method if all(rankings) else "team_draft"](rankings, length, draw)


def compares_credits(method: str) -> bool:
    """Return whether the test of a method compares credits per click, not numbers of lists."""
    return method in _CREDIT_METHODS


def check_rankers(method: Method, n_rankers: int) -> None:
    """Refuse a number of rankers that the method cannot interleave.

    Raises:
        InvalidInput: There are fewer than two, or more than two for a method of two rankers.
    """
    if n_rankers < 2:
        raise InvalidInput.at("/rankers", "interleaving needs at least two rankers")
    if method in _TWO_RANKER_METHODS and n_rankers != 2:
        raise InvalidInput.at(
            "/method", f"{method} supports two rankers; use team_draft or probabilistic for more"
        )
