"""Documents gathered into queries, by the sizes of queries or by the query of each document."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankery.errors import InvalidArgument
from rankery.identifiers import EXPECTED, spell

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from core.types import Int64Array

_SIZES = "the number of documents of each query, in order"


@dataclass(frozen=True, eq=False)
class QueryGroups:
    """Documents by query.

    Attributes:
        query_ids: As texts, in the order in which they first appear.
        boundaries: (n_queries + 1,) offsets of the queries in the order of documents below.
        order: (n_documents,) rows by query, in input order within each; None where they are in this order
            already.
    """

    query_ids: tuple[str, ...]
    boundaries: "Int64Array"
    order: "Int64Array | None" = None

    def gather(self, values: "NDArray[Any]") -> "NDArray[Any]":
        """Return values of documents, in input order, by query."""
        return values if self.order is None else values[self.order]


def group_by_sizes(group: Any, n_documents: int) -> QueryGroups:
    """Cut contiguous documents into queries, numbered from 1.

    Args:
        group: (n_queries,) documents of each query, as LightGBM takes them.
        n_documents: Number of documents.

    Raises:
        InvalidArgument: As for `query_sizes`.
    """
    import numpy as np

    boundaries = np.concatenate(([0], np.cumsum(query_sizes(group, n_documents))))
    return QueryGroups(tuple(str(number) for number in range(1, len(boundaries))), boundaries)


def group_by_ids(query_ids: Any, n_documents: int, argument: str = "query_ids") -> QueryGroups:
    """Gather documents by query; documents of a query need not be contiguous.

    Args:
        query_ids: (n_documents,) numbers or texts.
        n_documents: Number of documents.
        argument: Name of the argument, for messages.

    Raises:
        InvalidArgument: As for `spelled_ids`.
    """
    import numpy as np
    import pyarrow.compute as pc

    from core.data.grouping import group_rows

    encoded: Any = pc.dictionary_encode(spelled_ids(argument, query_ids, n_documents, "query"))
    codes = encoded.indices.to_numpy()
    starts: Int64Array = np.flatnonzero(np.diff(codes, prepend=-1))
    found = group_rows(encoded.dictionary.take(encoded.indices.take(starts)).to_pylist(), starts, n_documents)
    return QueryGroups(found.query_ids, found.query_boundaries, found.order)


def spelled_ids(argument: str, ids: Any, n_documents: int, what: str) -> "pa.LargeStringArray":
    """Return the id of each document as a text, (n_documents,); warn of one that is spelled in several ways.

    Args:
        argument: Name of the argument, for messages.
        ids: As `rankery.identifiers.spell` takes them.
        n_documents: Number of documents.
        what: They are ids of.

    Raises:
        InvalidArgument: One is missing or no id, or there is not one a document.
    """
    import numpy as np

    check_one_a_document(argument, np.asarray(ids), n_documents)
    found = spell(ids)
    for place in found.unfit[:1].tolist():
        value = np.asarray(ids, object)[place]
        raise InvalidArgument(
            f"{argument}: expected {EXPECTED}, but document {place}, counted from 0, has {value!r}"
        )
    if found.texts.null_count:
        place = int(np.argmax(found.texts.is_null().to_numpy(zero_copy_only=False)))
        raise InvalidArgument(f"{argument}: has no {what} for document {place}, counted from 0")
    if found.respelled:
        from rankery.client.frames.cells import warn_of_spellings  # the client takes a third of a second

        warn_of_spellings(argument, ids, found)
    texts: pa.LargeStringArray = found.texts
    return texts


def check_one_a_document(argument: str, values: "NDArray[Any]", n_documents: int) -> None:
    """Check that an argument has one value a document.

    Args:
        argument: Name of the argument, for messages.
        values: An array of any shape.
        n_documents: Number of documents.

    Raises:
        InvalidArgument: Its shape is not (n_documents,).
    """
    if values.shape != (n_documents,):
        raise InvalidArgument(f"{argument}: is of shape {values.shape}; there are {n_documents:,} documents")


def query_sizes(group: Any, n_documents: int) -> "Int64Array":
    """Return the documents of each query, (n_queries,).

    Args:
        group: As LightGBM takes it.
        n_documents: The documents in all.

    Raises:
        InvalidArgument: It is missing, or its numbers are not sizes of these documents' queries.
    """
    import numpy as np

    if group is None:
        raise InvalidArgument(f"group is missing: {_SIZES}, as in lightgbm.Dataset(X, y, group=[12, 7])")
    sizes = np.asarray(group)
    if sizes.ndim != 1 or not len(sizes) or not np.issubdtype(sizes.dtype, np.integer):
        raise InvalidArgument(f"group must be whole numbers: {_SIZES}")
    if empty := np.flatnonzero(sizes < 1).tolist():
        raise InvalidArgument(
            f"group holds {sizes[empty[0]]} for query {empty[0]}, counted from 0; each query has a document"
        )
    if (total := int(sizes.sum())) != n_documents:
        raise InvalidArgument(
            f"group is {_SIZES}: these {len(sizes):,} add up to {total:,}, and there are {n_documents:,}"
            " documents" + (", so they look like a query id a document" if len(sizes) == n_documents else "")
        )
    return sizes.astype(np.int64)
