"""Interleaved lists and credits against the vectors of mpkato/interleaving 7907f7d.

Lists, credits and probabilities are from the tests of that package; a comment marks numbers that the package
printed. The package samples distributions, our code computes them exactly.
"""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.interleaving import METHODS, InterleavedList, Method, interleave, seeded_draw
from core.interleaving.drafts import contribution_probabilities, probabilistic, team_draft
from core.interleaving.lists import Ranking, ranks_of
from core.interleaving.optimised import list_distribution, optimised
from tests.core.interleaving.distributions import exact_distribution, of_documents


def _lists(method: Method, rankings: Sequence[Ranking], length: int) -> dict[tuple[int, ...], float]:
    return of_documents(lambda draw: interleave(method, rankings, length, draw))


@pytest.mark.parametrize(
    ("rankings", "length", "lists"),
    [
        ([[1, 2], [2, 3]], 2, [(1, 2), (2, 1)]),
        ([[1, 2], [2, 3]], 3, [(1, 2, 3), (2, 1, 3)]),
        ([[1, 2], [2, 3]], 4, [(1, 2, 3), (2, 1, 3)]),
        ([[1, 2], [3, 4]], 2, [(1, 3), (3, 1)]),
        ([[1, 2], [3, 4]], 3, [(1, 3, 2), (1, 3, 4), (3, 1, 2), (3, 1, 4)]),
        ([[1, 2], [2, 3], [3, 4]], 2, [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)]),
        ([[1, 2], [3, 4], [5, 6]], 2, [(1, 3), (1, 5), (3, 1), (3, 5), (5, 1), (5, 3)]),
    ],
)
def test_one_of_the_smallest_teams_drafts_at_each_step(
    rankings: list[list[int]], length: int, lists: list[tuple[int, ...]]
) -> None:
    """One of the smallest teams is drawn at each step and adds its best unused document."""
    found = exact_distribution(lambda draw: team_draft(rankings, length, draw))
    assert {tuple(shown.documents) for shown, _ in found} == set(lists)
    assert sum(probability for _, probability in found) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_ranking_leaves_the_other_without_credits(method: Method) -> None:
    """The list is the other ranking; clicks cannot favour a ranker without documents."""
    for rankings in ([[1, 2, 3], []], [[], [1, 2, 3]]):
        shown = interleave(method, rankings, 2, seeded_draw(0))
        assert shown.documents == [1, 2]
        for each in (shown, InterleavedList.of_json(shown.to_json())):
            assert each.credits([0, 1]) == [0.0, 0.0]


def test_team_draft_lists_with_teams() -> None:
    """Two coins of two rankings of three documents make four lists with teams, each with probability ¼."""
    found = exact_distribution(lambda draw: team_draft([[1, 2, 3], [2, 3, 1]], 3, draw))
    assert len({(*shown.documents, *shown.teams) for shown, _ in found}) == 4
    assert [probability for _, probability in found] == [0.25] * 4


def test_a_click_credits_the_team_of_the_document() -> None:
    """Each click adds one to the credit of the ranker whose team has the document."""
    teams = [0, 1, 1]
    shown = InterleavedList([1, 3, 4], teams, [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], [])
    outcomes = {(0, 1, 2): (1, 2), (0, 1): (1, 1), (0, 2): (1, 1), (1, 2): (0, 2), (0,): (1, 0), (): (0, 0)}
    for clicked, expected in outcomes.items():
        assert tuple(shown.credits(clicked)) == expected


def test_common_top_ranks_have_no_credit() -> None:
    """Clicks at top ranks that all rankings share credit no team."""
    shown = team_draft([[7, 8, 1, 2], [7, 8, 2, 1]], 4, seeded_draw(0))
    assert shown.documents[:2] == [7, 8]
    assert shown.teams[:2] == [-1, -1]
    assert shown.credits([0, 1]) == [0.0, 0.0]
    assert sum(shown.credits([2])) == 1.0


@pytest.mark.parametrize(
    ("rankings", "length", "expected"),
    [
        ([[1, 2], [2, 3]], 2, {(1, 2): 0.5, (2, 1): 0.5}),
        ([[1, 2], [3, 4]], 2, {(1, 3): 0.5, (3, 1): 0.5}),
        ([[1, 2], [2, 3]], 3, {(1, 2): 0.5, (2, 1, 3): 0.5}),
        ([[1, 2], [3, 4]], 3, {(1, 3, 2): 0.5, (3, 1, 4): 0.5}),
    ],
)
def test_a_coin_decides_which_ranking_begins(
    rankings: list[list[int]], length: int, expected: dict[tuple[int, ...], float]
) -> None:
    """Balanced lists alternate between the rankings; either ranking begins with probability ½."""
    assert _lists("balanced", rankings, length) == expected


@pytest.mark.parametrize(
    ("documents", "rankings", "credits"),
    [
        ([1, 2], [[1, 2], [2, 3]], {(0, 1): (1, 1), (0,): (1, 0), (1,): (0, 1), (): (0, 0)}),
        (
            [2, 1, 3],
            [[1, 2], [2, 3]],
            {(0, 1, 2): (2, 2), (0, 1): (1, 1), (0, 2): (1, 2), (1, 2): (1, 1), (0,): (0, 1), (1,): (1, 0)},
        ),
        (
            # printed by compute_scores
            [3, 1, 2, 5],
            [[1, 2, 3, 4], [3, 1, 5, 2]],
            {(0,): (0, 1), (1,): (1, 0), (2,): (1, 0), (3,): (0, 1), (0, 2): (1, 1), (1, 3): (1, 2)},
        ),
    ],
)
def test_balanced_credits_are_clicks_in_the_top_k(
    documents: list[int], rankings: list[list[int]], credits: dict[tuple[int, ...], tuple[int, int]]
) -> None:
    """Clicks in the top k of each ranking are counted; k is the better rank of the lowest click."""
    shown = InterleavedList(documents, [], None, ranks_of(documents, rankings))
    for clicked, (first, second) in credits.items():
        ours = shown.credits(clicked)
        # The other implementation's test asserts only the sign of the second case.
        assert np.sign(ours[0] - ours[1]) == np.sign(first - second)
        if documents != [2, 1, 3]:
            assert tuple(ours) == (first, second)


def test_probabilistic_lists_follow_their_distribution() -> None:
    """Ranks are drawn with P ∝ 1/r³, and rankers with replacement."""
    first = {0: 0.0, 1: 0.0, 2: 0.0}
    for documents, probability in _lists("probabilistic", [[0, 1], [1, 2]], 2).items():
        first[documents[0]] += probability
    assert first == pytest.approx({0: 0.44444, 1: 0.5, 2: 0.05556}, abs=1e-5)
    one = of_documents(lambda draw: probabilistic([[0, 1, 2]], 1, draw))
    assert one == pytest.approx({(0,): 0.86056, (1,): 0.10757, (2,): 0.03187}, abs=1e-5)


def test_probabilities_of_assignments_are_products() -> None:
    """An assignment's probability is the product of P_r(d): vectors of two and of three rankers."""
    two = contribution_probabilities([[1, 2], [2, 3]], [1, 2])
    allocations = {(a, b): two[a][0] * two[b][1] for a in (0, 1) for b in (0, 1)}
    assert allocations == {
        (0, 0): 1 / (1 + 0.125) * (0.125 / 0.125),
        (0, 1): 1 / (1 + 0.125) * (1 / (1 + 0.125)),
        (1, 0): 0.0,
        (1, 1): 0.0,
    }
    three = contribution_probabilities([[1, 2], [2, 1], [2, 3]], [1, 2])
    expected = [[1 / 1.125, 1.0], [0.125 / 1.125, 1.0], [0.0, 1 / 1.125]]
    assert np.array(three) == pytest.approx(np.array(expected), abs=1e-15)


def test_probabilistic_credits_are_expected_clicks() -> None:
    """The credit is the expected number of clicks over all assignments."""
    rankings = [[1, 2, 3, 4], [3, 1, 5, 2], [2, 5, 1, 3]]
    probabilities = np.array(contribution_probabilities(rankings, [1, 3, 2]))
    expected = (probabilities / probabilities.sum(axis=0))[:, [0, 2]].sum(axis=1)
    # printed by compute_scores for the list [1, 3, 2] with clicks at 0 and 2
    printed = [1.2890451144216544, 0.2505950301208353, 0.4603598554575107]
    assert expected == pytest.approx(printed, abs=1e-14)
    for seed in range(40):
        shown = probabilistic(rankings, 3, seeded_draw(seed))
        if shown.documents == [1, 3, 2]:
            assert shown.credits([0, 2]) == pytest.approx(printed, abs=1e-14)
            return
    pytest.fail("no seed shows the list")


@pytest.mark.parametrize(
    ("rankings", "expected"),
    [
        ([[1, 2], [2, 3]], {(1, 2): 0.4285714, (2, 1): 0.3714286, (2, 3): 0.2}),
        # printed by _compute_probabilities for all lists
        ([[1, 2, 3], [2, 3, 1]], {(1, 2, 3): 0.428571, (2, 1, 3): 0.371429, (2, 3, 1): 0.2}),
        ([[1, 2, 3, 4], [4, 3, 2, 1]], {(1, 4, 3, 2): 0.5, (4, 1, 2, 3): 0.5}),
    ],
)
def test_the_linear_programme_has_the_printed_solution(
    rankings: list[list[int]], expected: dict[tuple[int, ...], float]
) -> None:
    """The lists have the probabilities that the other implementation prints."""
    found = list_distribution(rankings, len(rankings[0]))
    shown = {key: p for key, p in zip(found.lists, found.probabilities, strict=True) if p > 1e-9}
    assert shown == pytest.approx(expected, abs=1e-6)


def test_a_click_credits_each_ranking_by_inverse_rank() -> None:
    """A click adds 1/rank of the document in each ranking."""
    shown = optimised([[1, 2], [2, 3]], 2, lambda _: 0)
    assert shown.documents == [1, 2]
    assert shown.shares == [[1.0, 0.5], [1.0 / 3.0, 1.0]]
    assert shown.credits([0]) == [1.0, 1.0 / 3.0]


@pytest.mark.parametrize("method", ["team_draft", "probabilistic", "optimised"])
@settings(max_examples=25, deadline=None)
@given(orders=st.lists(st.permutations(range(5)), min_size=2, max_size=2), length=st.integers(1, 4))
def test_random_clicks_are_fair(method: Method, orders: list[list[int]], length: int) -> None:
    """A click at a rank, on whatever document, has the same expected credit for both rankers."""
    lists = exact_distribution(lambda draw: interleave(method, orders, length, draw))
    for index in range(length):
        expected = np.sum(
            [probability * np.array(shown.credits([index])) for shown, probability in lists], axis=0
        )
        assert expected[0] == pytest.approx(expected[1], abs=1e-7)


@settings(max_examples=25, deadline=None)
@given(
    orders=st.tuples(st.permutations(range(5)), st.permutations(range(2, 7))),
    sizes=st.tuples(st.integers(1, 5), st.integers(1, 5)),
)
def test_rankings_of_different_lengths_are_optimised_down_to_the_shorter(
    orders: tuple[list[int], list[int]], sizes: tuple[int, int]
) -> None:
    """Each list has all documents, and random clicks give both rankers the same expected credit."""
    rankings = [order[:size] for order, size in zip(orders, sizes, strict=True)]
    lists = exact_distribution(lambda draw: interleave("optimised", rankings, 10, draw))
    assert all(set(shown.documents) == set(rankings[0]) | set(rankings[1]) for shown, _ in lists)
    for index in range(len(set(rankings[0]) | set(rankings[1]))):
        expected = np.sum(
            [probability * np.array(shown.credits([index])) for shown, probability in lists], axis=0
        )
        assert expected[0] == pytest.approx(expected[1], abs=1e-7)
        assert (expected[0] > 0.0) == (index < min(sizes))


@pytest.mark.parametrize("method", ["team_draft", "probabilistic"])
@settings(max_examples=25, deadline=None)
@given(
    orders=st.tuples(st.permutations(range(4)), st.permutations(range(2, 6)), st.permutations(range(4))),
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)),
    n_rankers=st.integers(2, 3),
)
def test_random_clicks_are_fair_beyond_the_end_of_a_ranking(
    method: Method, orders: tuple[list[int], ...], sizes: tuple[int, ...], n_rankers: int
) -> None:
    """Each list has all documents; a click at any rank has the same expected credit for all rankers."""
    rankings = [order[:size] for order, size in zip(orders, sizes, strict=True)][:n_rankers]
    documents = {document for ranking in rankings for document in ranking}
    lists = exact_distribution(lambda draw: interleave(method, rankings, 10, draw))
    assert all(set(shown.documents) == documents for shown, _ in lists)
    for index in range(len(documents)):
        expected = np.sum(
            [probability * np.array(shown.credits([index])) for shown, probability in lists], axis=0
        )
        assert expected == pytest.approx(np.full(n_rankers, expected[0]), abs=1e-7)


def test_team_draft_credits_down_to_the_end_of_the_shorter_ranking() -> None:
    """No click is credited from the first round in which a team may have no document left."""
    shown = team_draft([[1, 2, 3, 4], [5, 6, 7, 8, 9, 10]], 10, seeded_draw(0))
    assert [team >= 0 for team in shown.teams] == [True] * 6 + [False] * 4
    same = team_draft([[1, 2, 3], [3, 1, 2]], 3, seeded_draw(0))
    assert -1 not in same.teams


@pytest.mark.parametrize("method", list(METHODS))
def test_lists_depend_on_the_key_alone(method: Method) -> None:
    """The same key gives the same list; other keys give others."""
    rankings = [list(range(20)), list(range(19, -1, -1))]
    lists = {user: interleave(method, rankings, 10, seeded_draw(3, user, "q")) for user in range(20)}
    again = {user: interleave(method, rankings, 10, seeded_draw(3, user, "q")) for user in range(20)}
    assert lists == again
    assert len({tuple(shown.documents) for shown in lists.values()}) > 1
    assert all(len(set(shown.documents)) == 10 for shown in lists.values())


def test_unusable_numbers_of_rankers_and_lists_are_refused() -> None:
    """One ranker, a third ranker, too many lists and rankings without a fair distribution are refused."""
    with pytest.raises(InvalidInput, match="at least two rankers"):
        interleave("team_draft", [[1]], 1, seeded_draw(0))
    methods: list[Method] = ["balanced", "optimised"]
    for method in methods:
        with pytest.raises(InvalidInput, match="supports two rankers"):
            interleave(method, [[1], [2], [3]], 1, seeded_draw(0))
    with pytest.raises(InvalidInput, match="at most 64"):
        list_distribution([list(range(9)), list(range(9, 18))], 7)
    with pytest.raises(InvalidInput, match="equal credit"):
        list_distribution([[1, 0, 3, 4], [3, 5, 0, 2], [3, 2, 1, 4]], 3)
