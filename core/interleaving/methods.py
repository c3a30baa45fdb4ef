"""The methods of interleaving by name."""

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

# Of three rankers, no distribution of lists may be fair at every cut.
_OF_TWO = ("balanced", "optimised")


def interleave(method: Method, rankings: Sequence[Ranking], length: int, draw: Draw) -> InterleavedList:
    """Return one interleaved list.

    Args:
        method: A name of `METHODS`.
        rankings: Two or more rankings of documents, best first; each holds a document at most once.
        length: Largest number of documents to show, at least 1.
        draw: Source of randomness, as of `seeded_draw`.

    Raises:
        InvalidInput: When there are fewer than two rankings, or not two where the method takes two.

    Example:
        >>> from core.interleaving.lists import seeded_draw
        >>> shown = interleave("team_draft", [[1, 2, 3], [2, 3, 1]], 2, seeded_draw(0))
        >>> sorted(shown.documents), shown.credits([0, 1])
        ([1, 2], [1.0, 1.0])
    """
    check_rankers(method, len(rankings))
    return METHODS[method](rankings, length, draw)


def check_rankers(method: Method, n_rankers: int) -> None:
    """Refuse a number of rankers that the method cannot interleave.

    Raises:
        InvalidInput: When there are fewer than two, or not two where the method takes two.
    """
    if n_rankers < 2:
        raise InvalidInput.at("/rankers", "interleaving needs at least two rankers")
    if method in _OF_TWO and n_rankers != 2:
        raise InvalidInput.at(
            "/method", f"{method} takes two rankers; team_draft and probabilistic take more"
        )
