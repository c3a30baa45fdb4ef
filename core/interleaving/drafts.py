"""Interleaving methods that build a list document by document, and the registry of all methods."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from core.errors import InvalidInput
from core.interleaving.lists import Draw, InterleavedList, Ranking, common_top, ranks_of, shares_of_teams
from core.interleaving.optimised import optimised

DECAY = 3.0  # exponent of the ranks (Hofmann et al. 2011)


def team_draft(rankings: Sequence[Ranking], length: int, draw: Draw) -> InterleavedList:
    """Interleave by team draft: rankers alternately add their best unused document, in random order.

    At each step, one of the rankers with the fewest documents is drawn at random. A click credits the ranker
    that added the document (Radlinski et al. 2008, algorithm 2; more than two rankers: Schuth et al. 2014).
    Clicks at the top ranks that all rankings share are not credited.

    The published algorithm ends with the shorter ranking. Here, the longer rankings continue. No click is
    credited from the first round in which a ranker may have no document left: random clicks would favour the
    longer ranking.

    Args:
        rankings: Two or more rankings of documents, best first; documents of a ranking are unique.
        length: Largest number of documents to show.
    """
    documents: list[int] = []
    teams: list[int] = []
    used: set[int] = set()
    sizes = [0] * len(rankings)
    positions = [0] * len(rankings)
    contents = [set(ranking) for ranking in rankings]
    is_credited = True
    while len(documents) < length:
        available = [
            team for team, ranking in enumerate(rankings) if _skip_used(ranking, positions, team, used)
        ]
        if not available:
            break
        if len(documents) % len(rankings) == 0:  # begins a round where all earlier rounds are credited
            is_credited = is_credited and _is_fair_round(contents, used)
        least = min(sizes[team] for team in available)
        smallest = [team for team in available if sizes[team] == least]
        team = smallest[draw([1.0] * len(smallest))]
        documents.append(rankings[team][positions[team]])
        teams.append(team if is_credited else -1)
        used.add(documents[-1])
        sizes[team] += 1
    same = common_top(rankings)
    teams[:same] = [-1] * len(teams[:same])
    shares = shares_of_teams(teams, len(rankings))
    return InterleavedList(documents, teams, shares, ranks_of(documents, rankings))


def _skip_used(ranking: Ranking, positions: list[int], team: int, used: set[int]) -> bool:
    """Advance a ranker's index to its best unused document; return whether there is one."""
    while positions[team] < len(ranking) and ranking[positions[team]] in used:
        positions[team] += 1
    return positions[team] < len(ranking)


def _is_fair_round(contents: Sequence[set[int]], used: set[int]) -> bool:
    """Return whether a round of team draft gives all rankers an equal chance of each of its ranks.

    A round is fair if each ranker can add a document whatever the others add. It is also fair if all rankers
    have the same documents left.
    """
    if all(len(content) - len(used) >= len(contents) for content in contents):
        return True
    unused = [content - used for content in contents]
    return all(len(each) >= len(unused) for each in unused) or all(each == unused[0] for each in unused)


def balanced(rankings: Sequence[Ranking], length: int, draw: Draw) -> InterleavedList:
    """Interleave two rankings alternately, from a random first ranking to the end of the shorter ranking.

    The credit of a ranking is the number of clicks in its top k. The lowest clicked document has a rank in
    each ranking; k is the better of the two (Joachims 2003). If rankings differ by a shift, random clicks
    favour one of them, so prefer team-draft.

    Args:
        length: Largest number of documents to show.
    """
    first = draw([1.0, 1.0])
    documents: list[int] = []
    positions = [0, 0]
    while len(documents) < length and all(positions[team] < len(rankings[team]) for team in (0, 1)):
        team = first if positions[0] == positions[1] else int(positions[1] < positions[0])
        document = rankings[team][positions[team]]
        positions[team] += 1
        if document not in documents:
            documents.append(document)
    return InterleavedList(documents, [-1] * len(documents), None, ranks_of(documents, rankings))


def probabilistic(rankings: Sequence[Ranking], length: int, draw: Draw) -> InterleavedList:
    """Interleave by drawing a ranker, with replacement, then one of its unused documents with P(d) ∝ 1/rank³.

    A click credits each ranker with the probability that it contributed the document, P_r(d) / Σ_s P_s(d).
    This is the expectation over all assignments (Hofmann et al. 2011; Schuth et al. 2015). Documents that are
    drawn after a ranker has no document left are not credited.

    Args:
        rankings: Two or more rankings.
        length: Largest number of documents to show.
    """
    documents: list[int] = []
    positions = [{document: index for index, document in enumerate(ranking)} for ranking in rankings]
    weights = [_weights(len(ranking)) for ranking in rankings]
    n_credited = 0
    while len(documents) < length:
        available = [team for team, unused in enumerate(positions) if unused]
        if not available:
            break
        n_credited += len(available) == len(rankings)
        team = available[draw([1.0] * len(available))]
        document = rankings[team][draw(weights[team])]
        documents.append(document)
        for unused, ranking_weights in zip(positions, weights, strict=True):
            index = unused.pop(document, None)
            if index is not None:
                ranking_weights[index] = 0.0
    probabilities = contribution_probabilities(rankings, documents)
    totals = [sum(document_probabilities) for document_probabilities in zip(*probabilities, strict=True)]
    shares = [
        [
            p / total if index < n_credited else 0.0
            for index, (p, total) in enumerate(zip(row, totals, strict=True))
        ]
        for row in probabilities
    ]
    return InterleavedList(documents, [-1] * len(documents), shares, ranks_of(documents, rankings))


def contribution_probabilities(rankings: Sequence[Ranking], documents: Sequence[int]) -> list[list[float]]:
    """Return P_r(d): each ranker's probability of each document of a list, given the documents above."""
    probabilities: list[list[float]] = []
    for ranking, ranks in zip(rankings, ranks_of(documents, rankings), strict=True):
        total = sum(_weights(len(ranking)))
        row = []
        for rank in ranks:
            weight = rank**-DECAY if rank <= len(ranking) else 0.0
            row.append(weight / total if weight else 0.0)
            total -= weight
        probabilities.append(row)
    return probabilities


def _weights(n: int) -> list[float]:
    return [rank**-DECAY for rank in range(1, n + 1)]


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
