"""Losses of shards: neighbouring queries of a dataset, bound with the position of the first of them."""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from core.losses import LOSSES, Loss, make_loss
from core.losses.base import Objective
from core.losses.smooth_pairs import MIN_DOCUMENTS
from core.ranges import _MIN_PARALLEL_WORK as MIN_PARALLEL_WORK
from core.ranges import use_threads

# The whole dataset has enough documents to be divided among threads, and no shard has.
LENGTHS = [*range(14), 40, 1, 70, 2, 300, 3, *[30] * 280, 5]
QUERIES = len(LENGTHS)
CUTS = [0, 3, 17, 160, QUERIES]
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
SMOOTH = ("ranknet", "w-ranknet")  # these sum the pairs of long queries by interpolation


@pytest.fixture
def threads(request: Any) -> Iterator[int]:
    """The number of threads of the kernels."""
    use_threads(request.param)
    yield request.param
    use_threads(2)


class _Judged:
    """Queries with scores."""

    def __init__(self, name: str) -> None:
        lengths = [MIN_DOCUMENTS if name in SMOOTH and length == 300 else length for length in LENGTHS]
        self.boundaries = np.concatenate(([0], np.cumsum(lengths)))
        n_documents = int(self.boundaries[-1])
        generator = np.random.default_rng(0)
        self.labels = generator.integers(0, 5, n_documents).astype(np.float64)
        self.labels[self.rows(7, 8)] = 2.0  # a query of one label
        self.scores = generator.normal(size=n_documents)
        self.query_weights, self.document_weights = generator.random(QUERIES), generator.random(n_documents)

    def rows(self, first: int, last: int) -> slice:
        """Return the rows of neighbouring queries."""
        return slice(*self.boundaries[[first, last]])

    def bound(self, loss: Loss, first: int, last: int, first_query: int, *, weighted: bool) -> Objective:
        """Bind a loss to neighbouring queries."""
        rows = self.rows(first, last)
        return loss.prepare(
            self.labels[rows],
            self.boundaries[first : last + 1] - self.boundaries[first],
            self.query_weights[first:last] if weighted else None,
            self.document_weights[rows] if weighted else None,
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
    """Alternate weights and threads over the cases; slow: each with all four combinations."""
    for index, (name, options) in enumerate(CASES):
        for number, (weighted, threads) in enumerate(product((False, True), (1, 2))):
            marks = () if number == index % 4 else pytest.mark.slow
            yield pytest.param(name, options, weighted, threads, marks=marks)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "options", "weighted", "threads"), list(combinations()), indirect=["threads"], ids=str
)
def test_shards_have_the_terms_of_the_whole(
    name: str, options: dict[str, Any], weighted: bool, threads: int
) -> None:
    """Gradients, hessians and losses of four uneven shards are bit for bit those of the whole dataset."""
    loss = _seeded(name, options)
    judged = _Judged(name)
    scores = judged.scores
    assert len(scores) > MIN_PARALLEL_WORK
    whole = judged.bound(loss, 0, QUERIES, 0, weighted=weighted)
    shards = [
        (judged.rows(first, last), judged.bound(loss, first, last, first, weighted=weighted))
        for first, last in pairwise(CUTS)
    ]
    for iteration in (0, 7):
        expected = _outcomes(whole, scores, iteration)
        found = [_outcomes(objective, scores[rows], iteration) for rows, objective in shards]
        halves = zip(*(np.split(outcome[0], 2) for outcome in found), strict=True)
        assert np.concatenate([part for half in halves for part in half]).tobytes() == expected[0].tobytes()
        for index in range(1, len(expected)):
            joined = np.concatenate([outcome[index] for outcome in found])
            assert joined.tobytes() == expected[index].tobytes()


@pytest.mark.parametrize(
    ("name", "options"), [case for case in CASES if make_loss(case[0], **case[1]).is_random], ids=str
)
def test_random_numbers_follow_the_position_in_the_whole(name: str, options: dict[str, Any]) -> None:
    """A shard bound as if it were the whole draws other numbers: the position of its first query decides."""
    loss = _seeded(name, options)
    judged = _Judged(name)
    first, last = CUTS[1:3]
    scores = judged.scores[judged.rows(first, last)]
    placed, unplaced = (
        judged.bound(loss, first, last, first_query, weighted=False).terms(scores, 0)
        for first_query in (first, 0)
    )
    assert not np.array_equal(placed.gradient, unplaced.gradient)
