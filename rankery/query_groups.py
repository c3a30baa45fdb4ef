"""Documents gathered into queries by the query id of each."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankery.errors import InvalidArgument

if TYPE_CHECKING:
    from core.types import Int64Array


@dataclass(frozen=True, eq=False)
class QueryGroups:
    """Documents by query.

    Attributes:
        query_ids: In the order in which they first appear, as texts.
        boundaries: (n_queries + 1,) offsets of the queries in the order of documents below.
        order: (n_documents,) rows of the documents by query, in input order within each.
    """

    query_ids: tuple[str, ...]
    boundaries: "Int64Array"
    order: "Int64Array"

    @classmethod
    def of_sizes(cls, sizes: "Int64Array") -> "QueryGroups":
        """Number queries whose documents stand together, from 1.

        Args:
            sizes: (n_queries,) documents of each.
        """
        import numpy as np

        boundaries = np.concatenate(([0], np.cumsum(sizes)))
        return cls(
            tuple(str(number) for number in range(1, len(sizes) + 1)), boundaries, np.arange(boundaries[-1])
        )


def group_documents(query_ids: Any, n_documents: int, argument: str = "query_ids") -> QueryGroups:
    """Gather documents by query; those of a query need not stand together.

    Args:
        query_ids: (n_documents,) numbers or texts.
        n_documents: How many there are.
        argument: What the caller calls them.

    Raises:
        InvalidArgument: One is missing, or there is not one a document.
    """
    import numpy as np

    from core.data.grouping import group_rows

    given = np.asarray(query_ids)
    if given.shape != (n_documents,):
        raise InvalidArgument(f"{argument}: is of shape {given.shape}; there are {n_documents:,} documents")
    missing = given != given
    if given.dtype == object:
        missing = missing | np.fromiter((one is None for one in given), bool, n_documents)
    if missing.any():
        raise InvalidArgument(
            f"{argument}: has no query for document {int(np.argmax(missing))}, counted from 0"
        )
    starts: Int64Array = np.flatnonzero(np.concatenate(([True], given[1:] != given[:-1])))
    found = group_rows([str(one) for one in given[starts].tolist()], starts, n_documents)
    order = np.arange(n_documents) if found.order is None else found.order
    return QueryGroups(found.query_ids, found.query_boundaries, order)
