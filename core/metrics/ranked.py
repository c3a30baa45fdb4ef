"""Rank labels by score, once for all metrics."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow.compute as pc

from core.data.texts import Texts
from core.errors import InvalidInput
from core.gains import Gain, gains
from core.jit import compiled
from core.ranges import for_kernels, over_ranges, per_query
from core.sorting import SORT_PADDING, rank_highest, sort_counters
from core.types import Float64Array, FloatArray, Int64Array

_LARGEST_LABEL = 1000.0  # float64 overflows at 2^1024, and gains are summed over documents


def label_gains(gain: Gain, labels: FloatArray) -> Float64Array:
    """Return the gains of labels >= 0.

    Raises:
        InvalidInput: At `/contract/gain`, when a label is too large, or missing in the list of gains, or when
            the list has a gain below 0.
    """
    if gain == "exp2":
        return _exp2_gains(np.asarray(labels, np.float64))
    if not isinstance(gain, str) and not min(gain) >= 0.0:
        raise InvalidInput.at("/contract/gain", "must hold gains of at least 0, so that NDCG is from 0 to 1")
    try:
        return gains(gain, labels)
    except InvalidInput as error:
        raise InvalidInput.at("/contract/gain", error.problems[0].detail) from error


def _exp2_gains(labels: Float64Array) -> Float64Array:
    largest = float(labels.max(initial=0.0))
    if largest > _LARGEST_LABEL:
        raise InvalidInput.at(
            "/contract/gain",
            f"the gain 2^y − 1 overflows for labels above {_LARGEST_LABEL:g}; the largest label is"
            f" {largest:g}. Map the labels to grades, or choose metrics of binary relevance",
        )
    values = np.empty(len(labels))
    over_ranges(_power_gains, len(labels), labels, np.exp2(np.arange(largest + 1.0)) - 1.0, values)
    return values


@compiled
def _power_gains(
    first: int, last: int, labels: Float64Array, whole_gains: Float64Array, values: Float64Array
) -> None:
    """Store 2^y − 1 in `values`, from a table for whole labels."""
    for i in range(first, last):
        whole = np.int64(labels[i])
        values[i] = whole_gains[whole] if whole == labels[i] else np.exp2(labels[i]) - 1.0


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels in some order, with their gains.

    Attributes:
        labels: (n_documents,) labels; NaN where not judged.
        boundaries: (n_queries + 1,) offsets into them.
    """

    labels: Float64Array
    boundaries: Int64Array
    _gains: dict[Gain, Float64Array] = field(default_factory=dict, repr=False)

    def gains(self, gain: Gain) -> Float64Array:
        """Return the gain of each label, 0 for negative labels and NaN; cached.

        Raises:
            InvalidInput: See `label_gains`.
        """
        if gain not in self._gains:
            has_gain = self.labels >= 0.0
            gains = label_gains(gain, np.where(has_gain, self.labels, 0.0))
            gains[~has_gain] = 0.0  # a list may have a gain for label 0
            self._gains[gain] = gains
        return self._gains[gain]


@dataclass(frozen=True, eq=False)
class Ideal(Labels):
    """The judged labels of each query in descending order, which do not depend on scores.

    Attributes:
        documents: The labels of all documents in input order.
    """

    documents: Labels = field(kw_only=True)
    _cache: dict[Hashable, Float64Array] = field(default_factory=dict, repr=False)

    def once(self, key: Hashable, compute: Callable[[], Float64Array]) -> Float64Array:
        """Return the value of a key; compute and cache it on the first call."""
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]

    def count_above(self, threshold: float) -> Float64Array:
        """Count each query's labels above a threshold, (n_queries,)."""
        cutoff = np.iinfo(np.int32).max
        return self.once(
            ("count_above", threshold),
            lambda: per_query(count_above, self.boundaries, self.labels, threshold, cutoff),
        )

    @cached_property
    def largest(self) -> Float64Array:
        """The largest label, (1,); empty, (0,), without labels."""
        return np.asarray(self.labels.max(keepdims=True) if len(self.labels) else self.labels)


@dataclass(frozen=True, eq=False)
class Ranking:
    """The retrieved documents of each query by descending score, possibly only the top documents.

    Attributes:
        rows: (n_ranked,) positions of the documents in input order.
        boundaries: (n_queries + 1,) offsets into `rows`.
        documents: The labels of all documents in input order.
    """

    rows: Int64Array
    boundaries: Int64Array
    documents: Labels
    _gains: dict[Gain, Float64Array] = field(default_factory=dict, repr=False)

    @cached_property
    def labels(self) -> Float64Array:
        """(n_ranked,) labels; NaN where not judged."""
        return self.documents.labels[self.rows]

    def gains(self, gain: Gain) -> Float64Array:
        """Return the gain of each label, as `Labels.gains` does."""
        if gain not in self._gains:
            self._gains[gain] = self.documents.gains(gain)[self.rows]
        return self._gains[gain]


@dataclass(frozen=True, eq=False)
class RankedLabels:
    """Labels ranked by score, shared by all metrics.

    Attributes:
        ranking: The retrieved documents by descending score.
        document_scores: (n_documents,) scores in input order.
    """

    ranking: Ranking
    document_scores: Float64Array
    ideal: Ideal
    _firsts: dict[int, "RankedLabels"] = field(default_factory=dict, repr=False)

    @cached_property
    def scores(self) -> Float64Array:
        """(n_ranked,) scores of the ranked documents."""
        return self.document_scores[self.ranking.rows]

    @cached_property
    def with_absent(self) -> "RankedLabels":
        """The rankings followed by the judged documents that they lack, in input order, as one tie."""
        documents = self.ideal.documents
        is_absent = documents.labels >= 0.0
        is_absent[self.ranking.rows] = False
        if not is_absent.any():
            return self
        rows = np.concatenate((self.ranking.rows, np.flatnonzero(is_absent)))
        queries = np.searchsorted(documents.boundaries, rows, side="right") - 1
        counts = np.bincount(queries, minlength=len(documents.boundaries) - 1)
        boundaries = np.concatenate(([0], np.cumsum(counts)))
        ranking = Ranking(rows[np.argsort(queries, kind="stable")], boundaries, documents)
        return RankedLabels(ranking, np.where(is_absent, -np.inf, self.document_scores), self.ideal)

    def first(self, depth: int | None) -> "RankedLabels":
        """Return the top `depth` documents of each ranking, all documents for None; cached."""
        if depth is None:
            return self
        if depth not in self._firsts:
            rows, boundaries = self.ranking.rows, self.ranking.boundaries
            ranks = np.arange(len(rows)) - np.repeat(boundaries[:-1], np.diff(boundaries))
            ranking = Ranking(
                rows[ranks < depth], _boundaries_of_first(depth, boundaries), self.ideal.documents
            )
            self._firsts[depth] = RankedLabels(ranking, self.document_scores, self.ideal)
        return self._firsts[depth]


def order_by_score(
    scores: FloatArray,
    query_boundaries: Int64Array,
    *,
    ties: str = "stable",
    document_ids: Sequence[str] | None = None,
    depth: int | None = None,
) -> Int64Array:
    """Return row numbers by query, then descending score.

    Args:
        scores: (n_documents,) scores, no NaN.
        query_boundaries: (n_queries + 1,) offsets.
        ties: `docid` puts the larger document id first, scores compared as float32; else input order.
        document_ids: (n_documents,) ids for `docid`; without ids, ties are in input order.
        depth: Number of top rows of each query to return; None for all. All rows are returned if ids break
            ties.
    """
    boundaries, values = for_kernels(query_boundaries, np.int64), for_kernels(scores, np.float64)
    if ties != "docid" or document_ids is None:
        return _ordered(values, boundaries, _boundaries_of_first(depth, boundaries))
    values = values.astype(np.float32).astype(np.float64)
    order = _ordered(values, boundaries, boundaries)
    _break_ties(order, values, boundaries, document_ids)
    return order


def ideal_labels(labels: FloatArray, query_boundaries: Int64Array) -> Ideal:
    """Sort the judged labels of each query in descending order.

    Args:
        labels: (n_documents,) graded relevance; NaN where a document was retrieved but not judged.
        query_boundaries: (n_queries + 1,) offsets.
    """
    judged, boundaries = for_kernels(labels, np.float64), for_kernels(query_boundaries, np.int64)
    documents = Labels(judged, boundaries)
    missing = np.isnan(judged)
    if missing.any():
        boundaries = _boundaries_of_mask(~missing, boundaries)
        judged = judged[~missing]
    order = order_by_score(judged, boundaries)
    return Ideal(judged[order], boundaries, documents=documents)


def rank_labels(
    scores: FloatArray,
    ideal: Ideal,
    *,
    ties: str = "stable",
    document_ids: Sequence[str] | None = None,
    depth: int | None = None,
) -> RankedLabels:
    """Rank the labels by score.

    Args:
        scores: (n_documents,) scores; NaN where the document was judged but not retrieved.
        ideal: The documents' labels, as `ideal_labels` returned them.
        ties: Order of tied documents, see `order_by_score`.
        document_ids: (n_documents,) ids, for `docid`.
        depth: Minimum number of top documents of each query to rank; None for all.
    """
    documents = ideal.documents
    boundaries, values = documents.boundaries, np.asarray(scores, np.float64)
    if ties == "docid" and document_ids is not None:
        depth = None
    absent = np.isnan(values)
    if absent.any():
        retrieved = np.flatnonzero(~absent)
        boundaries = _boundaries_of_mask(~absent, boundaries)
        if document_ids is not None and ties == "docid":
            document_ids = _ids_of_rows(document_ids, retrieved)
        order = order_by_score(
            values[retrieved], boundaries, ties=ties, document_ids=document_ids, depth=depth
        )
        rows = retrieved[order]
    else:
        rows = order_by_score(values, boundaries, ties=ties, document_ids=document_ids, depth=depth)
    return RankedLabels(Ranking(rows, _boundaries_of_first(depth, boundaries), documents), values, ideal)


@compiled
def count_above(
    first: int,
    last: int,
    query_boundaries: Int64Array,
    labels: Float64Array,
    threshold: float,
    cutoff: int,
    counts: Float64Array,
) -> None:
    """Count the labels above a threshold among the first `cutoff` of each query."""
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        count = 0.0
        for row in range(start, min(stop, start + cutoff)):
            if labels[row] > threshold:
                count += 1.0
        counts[query] = count


def _ordered(scores: Float64Array, query_boundaries: Int64Array, first_boundaries: Int64Array) -> Int64Array:
    """Return the rows of each query's top scores; `first_boundaries` define the number for each query."""
    rows = np.empty(first_boundaries[-1], np.int64)
    n_queries = len(query_boundaries) - 1
    over_ranges(_order, n_queries, scores, query_boundaries, first_boundaries, rows, work=len(scores))
    return rows


@compiled
def _order(
    first_query: int,
    last_query: int,
    scores: Float64Array,
    query_boundaries: Int64Array,
    first_boundaries: Int64Array,
    rows: Int64Array,
) -> None:
    longest = np.int64(0)  # int64, because the kernel would be compiled again for an int literal
    for query in range(first_query, last_query):
        longest = max(longest, query_boundaries[query + 1] - query_boundaries[query])
    size = longest + SORT_PADDING
    order, spare = np.empty(size, np.int64), np.empty(size, np.int64)
    keys, counters = np.empty(size), sort_counters(longest)
    for query in range(first_query, last_query):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        first, end = first_boundaries[query], first_boundaries[query + 1]
        if stop > start:
            rank_highest(scores, start, stop, end - first, order, spare, keys, counters)
            for index in range(end - first):
                rows[first + index] = start + order[index]


def _boundaries_of_first(depth: int | None, boundaries: Int64Array) -> Int64Array:
    """Return the boundaries of the top `depth` documents of each query."""
    if depth is None:
        return boundaries
    return np.concatenate(([0], np.cumsum(np.minimum(np.diff(boundaries), depth))))


def _boundaries_of_mask(mask: np.ndarray, boundaries: Int64Array) -> Int64Array:
    """Return the boundaries of the queries after all rows outside the mask are removed."""
    counts = np.concatenate(([0], np.cumsum(mask)))
    return np.ascontiguousarray(counts[boundaries], np.int64)


def _ids_of_rows(document_ids: Sequence[str], rows: Int64Array) -> Texts:
    if isinstance(document_ids, Texts):
        return document_ids.take(rows)
    return Texts.of([document_ids[row] for row in rows.tolist()])


def _break_ties(
    order: Int64Array, scores: Float64Array, boundaries: Int64Array, document_ids: Sequence[str]
) -> None:
    """Sort rows of equal score, which are contiguous, in descending order of document id."""
    ranked = scores[order]
    ties_with_previous = np.zeros(len(order) + 1, np.bool_)
    ties_with_previous[1:-1] = ranked[1:] == ranked[:-1]
    ties_with_previous[boundaries] = False
    tied = np.flatnonzero(ties_with_previous[:-1] | ties_with_previous[1:])
    if not len(tied):
        return
    group = np.cumsum(~ties_with_previous[tied])
    rows = order[tied]
    # Arrow compares UTF-8 bytes, like strcmp in trec_eval.
    by_id = pc.array_sort_indices(_ids_of_rows(document_ids, rows).array, order="descending").to_numpy()
    position = np.empty(len(rows), np.int64)
    position[by_id] = np.arange(len(rows))
    order[tied] = rows[np.lexsort((position, group))]
