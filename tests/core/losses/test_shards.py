"""Losses of shards: neighbouring queries of a dataset, bound with the position of the first of them."""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from core.losses import LOSSES, Loss, make_loss
from core.losses.base import Objective
from core.ranges import use_threads

LENGTHS = [*range(14), 40, 1, 70, 2, 2_300, 3, 30, 30, 30, 5]
QUERIES = len(LENGTHS)
CUTS = [0, 3, 17, QUERIES]  # the longest query is in the last
BOUNDARIES = np.concatenate(([0], np.cumsum(LENGTHS)))
DOCUMENTS = int(BOUNDARIES[-1])
SOFT = {"assignment": "soft", "truncation_level": 7, "samples": 3}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "lambdarank": [
        {"normalization": "lightgbm", "truncation_level": 10},
        *({"target": target} for target in ("map", "mrr", "err", "rbp")),
        {"truncation_level": 4, "pair_selection": "random"},
        {"truncation_level": 30, "pair_selection": "all-random", "missed_labels": "set"},
        SOFT,
        {**SOFT, "ranking_model": "plackett-luce", "pair_selection": "random"},
        {"discount": "reciprocal", "gain": "linear", "ideal_cutoff": 5},
    ],
    "ranknet": [{"truncation_level": 4, "pair_selection": "random"}, {"normalization": "score-gap"}],
    "ranksvm": [SOFT],
    "ndcg-loss1": [SOFT],
    "ndcg-loss2++": [SOFT, {"truncation_level": 30, "pair_selection": "all-random", "missed_labels": "set"}],
    "listmle": [{"ties": "input"}],
    "listnet": [{"target": "softmax"}, {"target": "gain-softmax"}],
}
CASES = [(name, options) for name in LOSSES for options in [{}, *OPTIONS.get(name, [])]]
WEIGHTS = np.random.default_rng(1)
QUERY_WEIGHTS, DOCUMENT_WEIGHTS = WEIGHTS.random(QUERIES), WEIGHTS.random(DOCUMENTS)


@pytest.fixture
def threads(request: Any) -> Iterator[int]:
    """Threads of the kernels."""
    use_threads(request.param)
    yield request.param
    use_threads(2)


def _data() -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 5, DOCUMENTS).astype(np.float64)
    labels[BOUNDARIES[7] : BOUNDARIES[8]] = 2.0  # a query of one label
    return labels, generator.normal(size=DOCUMENTS)


def _bound(loss: Loss, first: int, last: int, first_query: int, *, weighted: bool) -> Objective:
    labels, _ = _data()
    rows = slice(*BOUNDARIES[[first, last]])
    return loss.prepare(
        labels[rows],
        BOUNDARIES[first : last + 1] - BOUNDARIES[first],
        QUERY_WEIGHTS[first:last] if weighted else None,
        DOCUMENT_WEIGHTS[rows] if weighted else None,
        first_query=first_query,
    )


def _seeded(name: str, options: dict[str, Any]) -> Loss:
    loss = make_loss(name, **options)
    return make_loss(name, **options, seed=5) if loss.is_random else loss


def _outcomes(objective: Objective, scores: Any, iteration: int) -> list[Any]:
    terms = objective.terms(scores, iteration)
    alone = [array.copy() for array in objective(scores, iteration)]
    with_value = [array.copy() for array in objective.with_value(scores, iteration)]
    by_query = [terms.value, with_value[2]]
    return [np.concatenate(by_query), terms.gradient, terms.hessian, *alone, *with_value[:2]]


def combinations() -> Iterator[Any]:
    """Alternate weights and threads over the cases; slow: every case with and without, on one and two."""
    for place, (name, options) in enumerate(CASES):
        for number, (weighted, threads) in enumerate(product((False, True), (1, 2))):
            marks = () if number == place % 4 else pytest.mark.slow
            yield pytest.param(name, options, weighted, threads, marks=marks)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "options", "weighted", "threads"), list(combinations()), indirect=["threads"], ids=str
)
def test_shards_have_the_terms_of_the_whole(
    name: str, options: dict[str, Any], weighted: bool, threads: int
) -> None:
    """Gradients, hessians and losses of three uneven shards are bit for bit those of the whole dataset."""
    loss = _seeded(name, options)
    _, scores = _data()
    whole = _bound(loss, 0, QUERIES, 0, weighted=weighted)
    shards = [
        (slice(*BOUNDARIES[[first, last]]), _bound(loss, first, last, first, weighted=weighted))
        for first, last in pairwise(CUTS)
    ]
    for iteration in (0, 7):
        expected = _outcomes(whole, scores, iteration)
        found = [_outcomes(objective, scores[rows], iteration) for rows, objective in shards]
        halves = zip(*(np.split(outcome[0], 2) for outcome in found), strict=True)
        assert np.concatenate([part for half in halves for part in half]).tobytes() == expected[0].tobytes()
        for place in range(1, len(expected)):
            joined = np.concatenate([outcome[place] for outcome in found])
            assert joined.tobytes() == expected[place].tobytes()


@pytest.mark.parametrize(
    ("name", "options"), [case for case in CASES if make_loss(case[0], **case[1]).is_random], ids=str
)
def test_random_numbers_follow_the_position_in_the_whole(name: str, options: dict[str, Any]) -> None:
    """A shard bound as if it were the whole draws other numbers: the position of its first query decides."""
    loss = _seeded(name, options)
    _, scores = _data()
    first, last = CUTS[1:3]
    scores = scores[slice(*BOUNDARIES[[first, last]])]
    placed, unplaced = (
        _bound(loss, first, last, first_query, weighted=False).terms(scores, 0) for first_query in (first, 0)
    )
    assert not np.array_equal(placed.gradient, unplaced.gradient)
