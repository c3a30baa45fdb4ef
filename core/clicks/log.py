"""Click logs: ranked lists that users saw, and their clicks."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from core.data.texts import Texts
from core.types import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array

Int16Array = npt.NDArray[np.int16]
MAX_RANK = np.iinfo(np.int16).max
_OF_IMPRESSIONS = ("pairs", "ranks", "clicks", "gains", "propensities", "teams")
_OF_LISTS = ("list_queries", "list_times", "list_users", "list_versions")


@dataclass(frozen=True)
class ClickLog:
    """Impressions of ranked lists, ordered by list and by rank within a list.

    A list is the ranking of a query that one user saw. An impression is one document of a list. All
    arrays may be memory-mapped from files.

    Attributes:
        list_boundaries: (n_lists + 1,) offsets of the lists into the arrays of impressions.
        list_queries: (n_lists,) positions in `query_ids`.
        pairs: (n_impressions,) position of each impression's query-document pair in `pair_queries` and
            `pair_documents`.
        ranks: (n_impressions,) ranks from 1, in ascending order within a list; a list may skip ranks, and
            several documents may share a rank.
        clicks: (n_impressions,) whether the document had an action of a weight above 0, such as a click.
        gains: (n_impressions,) sum of the weights of the different actions on the document, or None where
            they equal `clicks`.
        propensities: (n_impressions,) logged probability of the document at its rank, in (0, 1], or None.
        teams: (n_impressions,) team of an interleaving that contributed the document, -1 for none, or None.
        list_times: (n_lists,) milliseconds since 1970 in UTC, or None.
        list_users: (n_lists,) numbers of users from 0, or None.
        list_versions: (n_lists,) positions in `versions` of the models that ranked the lists, -1 for unknown;
            None without versions.
        pair_queries: (n_pairs,) positions in `query_ids`.
        pair_documents: (n_pairs,) positions in `document_ids`.
        versions: Names of the models that ranked, or None.
    """

    list_boundaries: Int64Array
    list_queries: Int32Array
    pairs: Int32Array
    ranks: Int16Array
    clicks: BoolArray
    pair_queries: Int32Array
    pair_documents: Int32Array
    query_ids: Texts
    document_ids: Texts
    gains: Float32Array | None = None
    propensities: Float32Array | None = None
    teams: Int16Array | None = None
    list_times: Int64Array | None = None
    list_users: Int32Array | None = None
    list_versions: Int32Array | None = None
    versions: Texts | None = None

    @property
    def n_lists(self) -> int:
        """Return the number of lists."""
        return len(self.list_queries)

    @property
    def n_units(self) -> int:
        """Return the number of units to resample: users, or lists in a log without users."""
        return self.n_lists if self.list_users is None else int(self.list_users.max(initial=-1)) + 1

    @property
    def n_impressions(self) -> int:
        """Return the number of impressions."""
        return len(self.pairs)

    @property
    def n_pairs(self) -> int:
        """Return the number of different pairs of a query and a document."""
        return len(self.pair_queries)

    @property
    def max_rank(self) -> int:
        """Return the greatest rank, 0 for an empty log."""
        return int(self.ranks.max(initial=0))

    @property
    def list_of_impression(self) -> Int64Array:
        """Return the position of each impression's list, (n_impressions,)."""
        return np.repeat(np.arange(self.n_lists), np.diff(self.list_boundaries))

    @property
    def rewards(self) -> Float64Array:
        """Return the gain of each impression, (n_impressions,), or 1 for a click where there are no gains."""
        return np.asarray(self.clicks if self.gains is None else self.gains, np.float64)

    def take_lists(self, lists: Int64Array) -> "ClickLog":
        """Return a log of some lists, in their order; queries, documents and pairs keep their positions.

        Args:
            lists: Positions of lists; one may occur several times, as in a bootstrap sample.
        """
        starts, stops = self.list_boundaries[:-1][lists], self.list_boundaries[1:][lists]
        lengths = stops - starts
        boundaries = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        rows = np.arange(boundaries[-1]) - np.repeat(boundaries[:-1] - starts, lengths)
        of_lists = self._taken(_OF_LISTS, lists)
        return replace(self, list_boundaries=boundaries, **self._taken(_OF_IMPRESSIONS, rows), **of_lists)

    def up_to_rank(self, rank: int) -> "ClickLog":
        """Return a log of the impressions at ranks up to `rank`; lists keep their positions."""
        kept = self.ranks <= rank
        if kept.all():
            return self
        boundaries = np.concatenate([[0], np.cumsum(kept)])[self.list_boundaries]
        return replace(self, list_boundaries=boundaries, **self._taken(_OF_IMPRESSIONS, kept))

    def _taken(self, names: Iterable[str], positions: Int64Array | BoolArray) -> dict[str, Any]:
        return {
            name: None if (values := getattr(self, name)) is None else values[positions] for name in names
        }

    def pairs_of(
        self, query_ids: Iterable[str], document_ids: Iterable[str], query_boundaries: Int64Array
    ) -> Int64Array:
        """Return the pair of each document of a dataset, by query id and document id.

        Args:
            query_ids: (n_queries,) ids of the dataset's queries.
            document_ids: (n_documents,) ids of its documents.
            query_boundaries: (n_queries + 1,) offsets.

        Returns:
            (n_documents,) positions of pairs, -1 for documents that the log lacks.
        """
        queries = np.repeat(_positions(query_ids, self.query_ids), np.diff(query_boundaries))
        documents = _positions(document_ids, self.document_ids)
        width = max(1, len(self.document_ids))
        wanted = np.where((queries < 0) | (documents < 0), -1, queries * width + documents)
        keys = self.pair_queries.astype(np.int64) * width + self.pair_documents
        order = np.argsort(keys)
        # Beyond the last key is position -1, whose key -2 equals no wanted one.
        pairs = np.append(order, -1)[np.searchsorted(keys, wanted, sorter=order)]
        return np.where(np.append(keys, -2)[pairs] == wanted, pairs, -1)


def _positions(ids: Iterable[str], known_ids: Texts) -> Int64Array:
    """Return the position of each id in `known_ids`, -1 where absent."""
    positions: Any = pc.index_in(Texts.of(ids).array, value_set=known_ids.array)
    return np.asarray(positions.fill_null(-1), np.int64)
