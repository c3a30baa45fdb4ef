"""Click logs: ranked lists that users saw, and their clicks."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.data.texts import Texts
from core.types import Float32Array, Int32Array, Int64Array

BoolArray = npt.NDArray[np.bool_]
Int16Array = npt.NDArray[np.int16]


@dataclass(frozen=True)
class ClickLog:
    """Impressions of ranked lists, ordered by list and by rank within a list.

    A list is one ranking of one query as one user saw it. An impression is one document of a list. All
    arrays may be memory-mapped from files.

    Attributes:
        list_boundaries: (n_lists + 1,) offsets of the lists into the arrays of impressions.
        list_queries: (n_lists,) positions in `query_ids`.
        pairs: (n_impressions,) position of each impression's query-document pair in `pair_queries` and
            `pair_documents`.
        ranks: (n_impressions,) ranks from 1, in ascending order within a list; a list may skip ranks, and
            several documents may share a rank.
        clicks: (n_impressions,) whether the document was clicked, or had another action with a weight.
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
        query_ids: Ids of the queries.
        document_ids: Ids of the documents.
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

    def take_lists(self, lists: Int64Array) -> "ClickLog":
        """Return a log of some lists, in their order; queries, documents and pairs keep their positions.

        Args:
            lists: Positions of lists; one may occur several times, as in a bootstrap sample.
        """
        starts, stops = self.list_boundaries[:-1][lists], self.list_boundaries[1:][lists]
        lengths = stops - starts
        boundaries = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        rows = np.arange(boundaries[-1]) - np.repeat(boundaries[:-1] - starts, lengths)
        of_impressions = ("pairs", "ranks", "clicks", "gains", "propensities", "teams")
        of_lists = ("list_queries", "list_times", "list_users", "list_versions")
        taken: dict[str, Any] = {
            name: None if (values := getattr(self, name)) is None else values[places]
            for names, places in ((of_impressions, rows), (of_lists, lists))
            for name in names
        }
        return replace(self, list_boundaries=boundaries, **taken)
