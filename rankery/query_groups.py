"""Group documents by query, given query sizes or the query id of each document."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankery.errors import InvalidArgument
from rankery.identifiers import EXPECTED, normalise_ids

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from core.types import Int64Array

_SIZES = "the number of documents of each query, in order"


@dataclass(frozen=True, eq=False)
class QueryGroups:
    """Documents grouped by query.

    Attributes:
        query_ids: As texts, in the order in which they first appear.
        boundaries: (n_queries + 1,) offsets of the queries in the grouped documents.
        order: (n_documents,) input rows sorted by query, stable within each; None if already in this order.
    """

    query_ids: tuple[str, ...]
    boundaries: "Int64Array"
    order: "Int64Array | None" = None

    def gather(self, values: "NDArray[Any]") -> "NDArray[Any]":
        """Reorder values of documents from input order to grouped order."""
        return values if self.order is None else values[self.order]


def group_by_sizes(group: Any, n_documents: int) -> QueryGroups:
    """Group contiguous documents by query sizes; query ids are numbers from 1.

    Args:
        group: (n_queries,) number of documents of each query, as in LightGBM.

    Raises:
        InvalidArgument: As for `query_sizes`.
    """
    import numpy as np

    boundaries = np.concatenate(([0], np.cumsum(query_sizes(group, n_documents))))
    return QueryGroups(tuple(str(number) for number in range(1, len(boundaries))), boundaries)


def group_by_ids(query_ids: Any, n_documents: int, argument: str = "query_ids") -> QueryGroups:
    """Group documents by query ids; documents of a query need not be contiguous.

    Args:
        query_ids: (n_documents,) numbers or texts.
        argument: Name of the argument, for messages.

    Raises:
        InvalidArgument: As for `normalised_ids`.
    """
    import numpy as np
    import pyarrow.compute as pc

    from core.data.result import group_rows

    encoded: Any = pc.dictionary_encode(normalised_ids(argument, query_ids, n_documents, "query"))
    codes = encoded.indices.to_numpy()
    starts: Int64Array = np.flatnonzero(np.diff(codes, prepend=-1))
    grouping = group_rows(
        encoded.dictionary.take(encoded.indices.take(starts)).to_pylist(), starts, n_documents
    )
    return QueryGroups(grouping.query_ids, grouping.query_boundaries, grouping.order)


def normalised_ids(argument: str, ids: Any, n_documents: int, noun: str) -> "pa.LargeStringArray":
    """Return the normalised id of each document, (n_documents,); warn of ids with several spellings.

    Args:
        argument: Name of the argument, for messages.
        ids: Argument of `rankery.identifiers.normalise_ids`.
        noun: Noun for the ids, for messages.

    Raises:
        InvalidArgument: An id is missing or invalid, or the number of ids is not that of documents.
    """
    import numpy as np

    check_one_per_document(argument, np.asarray(ids), n_documents)
    normalised = normalise_ids(ids)
    for row in normalised.invalid[:1].tolist():
        value = np.asarray(ids, object)[row]
        raise InvalidArgument(
            f"{argument}: expected {EXPECTED}, but document {row}, counted from 0, has {value!r}"
        )
    if normalised.texts.null_count:
        row = int(np.argmax(normalised.texts.is_null().to_numpy(zero_copy_only=False)))
        raise InvalidArgument(f"{argument}: has no {noun} for document {row}, counted from 0")
    if normalised.respelled:
        from rankery.client.frames.cells import warn_of_spellings  # importing the client takes 0.3 s

        warn_of_spellings(argument, ids, normalised)
    texts: pa.LargeStringArray = normalised.texts
    return texts


def check_one_per_document(argument: str, values: "NDArray[Any]", n_documents: int) -> None:
    """Check that an argument has one value for each document.

    Args:
        argument: Name of the argument, for messages.
        values: An array of any shape.

    Raises:
        InvalidArgument: The shape is not (n_documents,).
    """
    if values.shape != (n_documents,):
        raise InvalidArgument(f"{argument}: is of shape {values.shape}; there are {n_documents:,} documents")


def query_sizes(group: Any, n_documents: int) -> "Int64Array":
    """Validate query sizes and return them as an array, (n_queries,).

    Args:
        group: Number of documents of each query, as in LightGBM.

    Raises:
        InvalidArgument: The sizes are missing or invalid, or do not add up to the number of documents.
    """
    import numpy as np

    if group is None:
        raise InvalidArgument(f"group is missing: {_SIZES}, as in lightgbm.Dataset(X, y, group=[12, 7])")
    sizes = np.asarray(group)
    if sizes.ndim != 1 or not len(sizes) or not np.issubdtype(sizes.dtype, np.integer):
        raise InvalidArgument(f"group must be whole numbers: {_SIZES}")
    if empty := np.flatnonzero(sizes < 1).tolist():
        raise InvalidArgument(
            f"group holds {sizes[empty[0]]} for query {empty[0]}, counted from 0; each query needs a document"
        )
    if (total := int(sizes.sum())) != n_documents:
        raise InvalidArgument(
            f"group is {_SIZES}: these {len(sizes):,} add up to {total:,}, and there are {n_documents:,}"
            " documents"
            + (", so they look like one query id per document" if len(sizes) == n_documents else "")
        )
    return sizes.astype(np.int64)
