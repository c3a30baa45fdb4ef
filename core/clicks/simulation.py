"""Simulation of click logs on judged documents with known true parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.clicks.log import ClickLog, Int16Array
from core.clicks.users import UserModel
from core.data import RankingDataset
from core.data.texts import Texts
from core.errors import InvalidInput
from core.losses.ranks import descending_order
from core.parameters import check, parameter
from core.types import BoolArray, Float64Array, FloatArray, Int32Array, Int64Array, OnProgress

_LISTS_PER_CHUNK = 65_536  # a chunk of ten ranks takes about 40 MB
_QUERIES, _CLICKS = 0, 1  # streams of random numbers
SWAPS = ("none", "first", "adjacent", "shuffle")


@dataclass(frozen=True)
class SimulationPlan:
    """Options of the lists of a simulation.

    Raises:
        InvalidInput: With one problem per option that is out of bounds.
    """

    lists: int = parameter(100_000, "Number of lists to show", minimum=1, maximum=100_000_000)
    cutoff: int = parameter(10, "Maximum number of documents in a list", minimum=1, maximum=1000)
    swaps: str = parameter(
        "none",
        "Randomisation of ranks: swap the first document with another (`first`), swap two neighbours"
        " (`adjacent`), or shuffle all (`shuffle`)",
        choices=SWAPS,
    )
    swap_share: float = parameter(1.0, "Share of the lists with randomised ranks", minimum=0.0, maximum=1.0)
    users: int | None = parameter(
        None,
        "Number of users among whom lists are distributed; without it, lists have no users",
        minimum=1,
        maximum=2**31 - 1,
    )
    seed: int = parameter(0, "Seed of all random choices", minimum=0, maximum=2**31 - 1)

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, eq=False)
class Truth:
    """The true parameters of a simulated log.

    Attributes:
        examination: (n_ranks,) probability of examination by rank, 0 at ranks that no list shows. If a
            probability depends on the ranks above, the mean over lists.
        slopes: (n_ranks,) α of P(click) = α_k a + β_k; None where examination depends on the ranks above.
        intercepts: (n_ranks,) β, or None.
        attraction: (n_pairs,) a, which is P(click | examined) for users without trust bias.
        satisfaction: (n_pairs,) probability of leaving after a click, or None where users never leave.
    """

    examination: Float64Array
    slopes: Float64Array | None
    intercepts: Float64Array | None
    attraction: Float64Array
    satisfaction: Float64Array | None

    @property
    def propensities(self) -> Float64Array:
        """Return the examination relative to rank 1, (n_ranks,)."""
        relative: Float64Array = self.examination / self.examination[0]
        return relative


def simulate(
    dataset: RankingDataset,
    rankers: Sequence[FloatArray],
    users: UserModel,
    plan: SimulationPlan,
    on_chunk: OnProgress = lambda _done, _total: None,
) -> tuple[ClickLog, Truth]:
    """Draw a click log and return it with its true parameters.

    Each list is a query drawn uniformly, ranked by one ranker and shown to one user. The same arguments give
    the same log. Lists are drawn in chunks; the log takes 7 bytes per impression and some bytes per list.

    Args:
        rankers: (n_documents,) scores of each production ranker. Each list is ranked by one of them, drawn
            uniformly; with several rankers, `list_versions` has the index of the list's ranker.
        on_chunk: Called with the number of lists done and their total; may raise to stop.

    Raises:
        InvalidInput: There is no ranker, or a ranker does not have one finite score for each document.

    Example:
        >>> from core.data.synthetic import synthetic_dataset
        >>> dataset = synthetic_dataset(5, seed=0)
        >>> log, truth = simulate(dataset, [dataset.labels], UserModel(), SimulationPlan(lists=20))
        >>> log.n_impressions, truth.propensities[:2].round(3).tolist()
        (200, [1.0, 0.897])
    """
    tops, rows = _tops(dataset, rankers, plan.cutoff)
    drawn = _DrawnLists.of(dataset.n_queries, len(rankers), plan)
    lengths = np.minimum(np.diff(dataset.query_boundaries), plan.cutoff)
    boundaries = np.concatenate([[0], np.cumsum(lengths[drawn.queries])]).astype(np.int64)
    simulation = _Simulation(users, plan, tops, users.attractions(dataset.labels[rows]), dataset.labels[rows])
    n_impressions = int(boundaries[-1])
    pairs, clicks = np.empty(n_impressions, np.int32), np.empty(n_impressions, np.bool_)
    ranks = np.empty(n_impressions, np.int16)
    for number, first in enumerate(range(0, plan.lists, _LISTS_PER_CHUNK)):
        last = min(first + _LISTS_PER_CHUNK, plan.lists)
        part = slice(boundaries[first], boundaries[last])
        pairs[part], ranks[part], clicks[part] = simulation.chunk(
            number, drawn.rankers[first:last], drawn.queries[first:last]
        )
        on_chunk(last, plan.lists)
    document_ids, ids = _numbered(dataset.document_ids.take(rows))
    log = ClickLog(
        list_boundaries=boundaries,
        list_queries=drawn.queries,
        pairs=pairs,
        ranks=ranks,
        clicks=clicks,
        pair_queries=(np.searchsorted(dataset.query_boundaries, rows, side="right") - 1).astype(np.int32),
        pair_documents=ids,
        query_ids=Texts.of(dataset.query_ids),
        document_ids=document_ids,
        list_users=drawn.users,
        list_versions=drawn.rankers if len(rankers) > 1 else None,
        versions=Texts.of([f"ranker {number}" for number in range(1, len(rankers) + 1)])
        if len(rankers) > 1
        else None,
    )
    return log, simulation.truth()


@dataclass(frozen=True, eq=False)
class _DrawnLists:
    """The queries, rankers and users of the lists."""

    queries: Int32Array
    rankers: Int32Array
    users: Int32Array | None

    @classmethod
    def of(cls, n_queries: int, n_rankers: int, plan: SimulationPlan) -> "_DrawnLists":
        stream = np.random.default_rng([plan.seed, _QUERIES])
        return cls(
            stream.integers(n_queries, size=plan.lists, dtype=np.int32),
            stream.integers(n_rankers, size=plan.lists, dtype=np.int32),
            None if plan.users is None else stream.integers(plan.users, size=plan.lists, dtype=np.int32),
        )


class _Simulation:
    """Draws chunks of lists and sums the examination probabilities of ranks."""

    def __init__(
        self,
        users: UserModel,
        plan: SimulationPlan,
        tops: Int32Array,
        attraction: Float64Array,
        labels: FloatArray,
    ) -> None:
        self._users, self._plan, self._tops, self._attraction = users, plan, tops, attraction
        self._satisfaction = users.satisfactions(labels)
        n_ranks = tops.shape[2]
        self._examination = users.examinations(n_ranks)
        self._upper, self._lower = users.click_bounds(n_ranks)
        self._examined, self._shown = np.zeros(n_ranks), np.zeros(n_ranks, np.int64)

    def chunk(
        self, number: int, rankers: Int32Array, queries: Int32Array
    ) -> tuple[Int32Array, Int16Array, BoolArray]:
        """Draw a chunk of lists; return its pairs, ranks and clicks, list after list."""
        stream = np.random.default_rng([self._plan.seed, _CLICKS, number])
        lists = self._tops[rankers, queries]
        _swap(lists, self._plan, stream)
        is_shown = lists >= 0
        clicks = self._clicks(lists, is_shown, stream)
        ranks = np.broadcast_to(np.arange(1, lists.shape[1] + 1, dtype=np.int16), lists.shape)
        return lists[is_shown], ranks[is_shown], clicks[is_shown]

    def _clicks(self, lists: Int32Array, is_shown: BoolArray, stream: np.random.Generator) -> BoolArray:
        """Draw clicks rank by rank; (n_lists, n_ranks)."""
        clicks = np.zeros(lists.shape, np.bool_)
        examining = np.ones(len(lists), np.bool_)
        reached = np.ones(len(lists))  # probability that the user has not left before the rank
        continuation = self._users.continuation if self._users.kind == "dbn" else 1.0
        for rank in range(lists.shape[1]):
            pairs = lists[:, rank]
            attraction = self._attraction[pairs]
            bounds = self._upper[rank], self._lower[rank]
            probability = self._examination[rank] * (bounds[0] * attraction + bounds[1] * (1.0 - attraction))
            clicked = examining & is_shown[:, rank] & (stream.random(len(lists)) < probability)
            clicks[:, rank] = clicked
            self._examined[rank] += (self._examination[rank] * reached)[is_shown[:, rank]].sum()
            self._shown[rank] += is_shown[:, rank].sum()
            if self._users.is_sequential:
                satisfaction = self._satisfaction[pairs]
                leaves = clicked & (stream.random(len(lists)) < satisfaction)
                examining &= ~leaves & (stream.random(len(lists)) < continuation)
                reached *= continuation * (1.0 - attraction * satisfaction)
        return clicks

    def truth(self) -> Truth:
        """Return the true parameters."""
        users, n_ranks = self._users, self._tops.shape[2]
        slopes, intercepts = (None, None) if users.is_sequential else users.affine_parameters(n_ranks)
        return Truth(
            self._examined / np.maximum(self._shown, 1),
            slopes,
            intercepts,
            self._attraction,
            self._satisfaction if users.is_sequential else None,
        )


def _swap(lists: Int32Array, plan: SimulationPlan, stream: np.random.Generator) -> None:
    """Randomise ranks of a share of the lists in place; positions without a document stay last."""
    if plan.swaps == "none" or lists.shape[1] < 2:
        return
    lengths = (lists >= 0).sum(axis=1)
    chosen = np.flatnonzero((stream.random(len(lists)) < plan.swap_share) & (lengths > 1))
    if plan.swaps == "shuffle":
        keys = stream.random((len(chosen), lists.shape[1]))
        keys[lists[chosen] < 0] = 2.0
        lists[chosen] = np.take_along_axis(lists[chosen], np.argsort(keys, axis=1), axis=1)
        return
    other = 1 + (stream.random(len(chosen)) * (lengths[chosen] - 1)).astype(np.int64)
    one = np.zeros_like(other) if plan.swaps == "first" else other - 1
    lists[chosen, one], lists[chosen, other] = lists[chosen, other], lists[chosen, one]


def _tops(
    dataset: RankingDataset, rankers: Sequence[FloatArray], cutoff: int
) -> tuple[Int32Array, Int64Array]:
    """Return the pair at each rank, (n_rankers, n_queries, n_ranks), -1 for none, and each pair's row."""
    if not rankers:
        raise InvalidInput.at("/rankers", "must name at least one ranking of the documents")
    lengths = np.diff(dataset.query_boundaries)
    n_ranks = int(min(cutoff, lengths.max()))
    queries = np.repeat(np.arange(dataset.n_queries), lengths)
    tops = np.full((len(rankers), dataset.n_queries, n_ranks), -1, np.int64)
    for number, scores in enumerate(rankers):
        if len(scores) != dataset.n_documents or not np.isfinite(scores).all():
            raise InvalidInput.at(f"/rankers/{number}", "must be one finite score for each document")
        order = descending_order(scores, dataset.query_boundaries)
        ranks = np.arange(dataset.n_documents) - dataset.query_boundaries[queries]
        is_top = ranks < n_ranks
        tops[number, queries[is_top], ranks[is_top]] = order[is_top]
    rows = np.unique(tops[tops >= 0])
    numbers = np.searchsorted(rows, tops).astype(np.int32)
    numbers[tops < 0] = -1
    return numbers, rows


def _numbered(texts: Texts) -> tuple[Texts, Int32Array]:
    """Return the distinct texts, and the position of each text among them."""
    encoded: Any = texts.array.dictionary_encode()
    return Texts(encoded.dictionary), np.asarray(encoded.indices, np.int32)
