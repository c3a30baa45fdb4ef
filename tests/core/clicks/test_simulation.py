"""Simulated click logs."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from core.clicks.log import ClickLog
from core.clicks.simulation import SimulationPlan, simulate
from core.clicks.users import PRESETS, UserModel
from core.data import RankingDataset
from core.errors import InvalidInput

LABELS = np.array([3.0, 0.0, 4.0, 1.0, 2.0, 0.0, 4.0])
DATASET = RankingDataset.from_arrays(np.zeros((7, 1)), LABELS, [0, 4, 7])
SCORES = np.array([4.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0])
LISTS = 200_000


def rates(log: ClickLog, query: int) -> np.ndarray:
    """Return the share of lists of a query with a click, by rank."""
    of_query = np.repeat(log.list_queries == query, np.diff(log.list_boundaries))
    counts = np.bincount(log.ranks[of_query])[1:]
    return np.bincount(log.ranks[of_query], log.clicks[of_query])[1:] / counts


def expected_rates(users: UserModel, labels: np.ndarray) -> np.ndarray:
    """Return the click probability by rank, summed over all patterns of clicks as the papers define it."""
    a, s = users.attractions(labels), users.satisfactions(labels)
    n, go_on = len(labels), users.continuation if users.kind == "dbn" else 1.0
    total = np.zeros(n)
    for clicks in itertools.product([0, 1], repeat=n):
        probability, examined = 1.0, 1.0  # of the clicks so far, and of them with a user who still reads
        left = 0.0
        for rank, click in enumerate(clicks):
            if click:
                probability, examined, left = (
                    examined * a[rank],
                    examined * a[rank] * (1 - s[rank]) * go_on,
                    examined * a[rank] * (1 - (1 - s[rank]) * go_on),
                )
            else:
                stayed = examined * (1 - a[rank])
                probability = stayed + left
                examined, left = stayed * go_on, left + stayed * (1 - go_on)
        total += probability * np.array(clicks)
    return total


@pytest.mark.parametrize("kind", ["pbm", "trust"])
def test_click_rates_of_independent_ranks_follow_the_formula(kind: str) -> None:
    """Ranks are clicked with θ_k (ε⁺_k a + ε⁻_k (1 − a)), within four standard errors."""
    users = UserModel(kind, severity=0.5)
    log, truth = simulate(DATASET, [SCORES], users, SimulationPlan(lists=LISTS))
    a = np.array([0.52, 0.1, 1.0, 0.16])
    theta = np.array([0.68, 0.61, 0.48, 0.34]) ** 0.5
    plus, minus = np.array([0.98, 0.97, 0.96, 0.95]), 0.65 / np.array([1, 2, 3, 4])
    expected = theta * (a if kind == "pbm" else plus * a + minus * (1 - a))
    assert np.abs(rates(log, 0) - expected).max() < 4 * 0.5 / np.sqrt(LISTS / 2)
    assert truth.slopes is not None
    assert truth.intercepts is not None
    np.testing.assert_allclose(truth.slopes * a + truth.intercepts, expected, rtol=1e-12)
    np.testing.assert_allclose(truth.examination, theta, rtol=1e-12)


@pytest.mark.parametrize(
    "users",
    [PRESETS["ultra-cascade"], PRESETS["navigational"], replace(PRESETS["informational"], continuation=0.7)],
)
def test_click_rates_of_cascade_and_dbn_follow_the_formula(users: UserModel) -> None:
    """Click rates of cascade and DBN users equal the sums over all patterns of clicks."""
    log, truth = simulate(DATASET, [SCORES], users, SimulationPlan(lists=LISTS))
    for query, labels in enumerate((LABELS[:4], LABELS[4:])):
        expected = expected_rates(users, labels)
        assert np.abs(rates(log, query) - expected).max() < 4 * 0.5 / np.sqrt(LISTS / 2)
    shown = np.array([2, 2, 2, 1])
    of_query = [
        expected_rates(users, labels) / users.attractions(labels) for labels in (LABELS[:4], LABELS[4:])
    ]
    mean = (of_query[0] + np.append(of_query[1], 0.0)) / shown
    np.testing.assert_allclose(truth.examination, mean, atol=0.005)
    if users.kind == "cascade":
        assert np.add.reduceat(log.clicks, log.list_boundaries[:-1]).max() == 1


@pytest.mark.parametrize("swaps", ["none", "first", "adjacent", "shuffle"])
def test_swaps_move_the_expected_share_of_documents(swaps: str) -> None:
    """Each kind of swap moves its documents in the requested share of lists; lists keep their documents."""
    plan = SimulationPlan(lists=20_000, swaps=swaps, swap_share=0.3)
    log, _ = simulate(DATASET, [SCORES], UserModel(), plan)
    of_first = np.repeat(log.list_queries == 0, np.diff(log.list_boundaries))
    lists = log.pairs[of_first].reshape(-1, 4)
    assert (np.sort(lists, axis=1) == [0, 1, 2, 3]).all()
    moved = (lists != [0, 1, 2, 3]).sum(axis=1)
    share = {"none": 0.0, "first": 0.3, "adjacent": 0.3, "shuffle": 0.3 * 23 / 24}[swaps]
    assert (moved > 0).mean() == pytest.approx(share, abs=0.02)
    if swaps == "first":
        assert (lists[moved > 0][:, 0] != 0).all()
    if swaps in ("first", "adjacent"):
        assert set(moved) == {0, 2}


def test_the_same_seed_gives_the_same_log() -> None:
    """The same arguments give the same log, and another seed gives another one."""
    plan = SimulationPlan(lists=70_000, users=9)  # two chunks
    rankers = [SCORES, -SCORES]
    one, other = (simulate(DATASET, rankers, UserModel(), plan)[0] for _ in range(2))
    for name in ("pairs", "clicks", "list_queries", "list_users", "list_versions"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.versions == ["ranker 1", "ranker 2"]
    starts = one.list_boundaries[:-1]
    assert one.list_versions is not None
    np.testing.assert_array_equal(
        one.pairs[starts] == np.array([0, 4])[one.list_queries], one.list_versions == 0
    )
    changed = simulate(DATASET, rankers, UserModel(), replace(plan, seed=1))[0]
    assert len(changed.clicks) != len(one.clicks) or (changed.clicks != one.clicks).any()


def test_documents_beyond_the_cutoff_are_not_shown() -> None:
    """Only documents within the cutoff of a ranker become pairs, with their own ids."""
    dataset = replace(DATASET, document_ids=DATASET.document_ids)
    log, truth = simulate(dataset, [SCORES], UserModel(), SimulationPlan(lists=50, cutoff=2))
    assert log.max_rank == 2
    pairs = [
        (log.query_ids[query], log.document_ids[document])
        for query, document in zip(log.pair_queries, log.pair_documents, strict=True)
    ]
    assert pairs == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    np.testing.assert_allclose(truth.attraction, [0.52, 0.1, 0.28, 0.1])


def test_unusable_scores_and_parameters_are_refused() -> None:
    """The error points at scores that cannot rank, and at parameters out of bounds."""
    with pytest.raises(InvalidInput, match="/rankers/1: must be one finite score"):
        simulate(DATASET, [SCORES, SCORES * np.nan], UserModel(), SimulationPlan())
    with pytest.raises(InvalidInput, match="/rankers: must name at least one"):
        simulate(DATASET, [], UserModel(), SimulationPlan())
    with pytest.raises(InvalidInput, match="/attraction: entry 0"):
        UserModel(attraction=(1.5,))
    with pytest.raises(InvalidInput, match="/kind"):
        UserModel("cascade").affine_parameters(3)
