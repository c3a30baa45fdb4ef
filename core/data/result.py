"""Result of reading a file: the dataset, and the rows of the file gathered into whole queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.data.dataset import RankingDataset
from core.jit import exact_nonallocating
from core.types import Float32Array, Int64Array


@dataclass(frozen=True, eq=False)
class Grouping:
    """Assignment of rows to queries.

    Attributes:
        query_ids: Ids in the order of first appearance.
        query_boundaries: int64 (n_queries + 1,).
        order: The rows sorted by query, None where the file is already sorted.
        scattered: The queries whose rows are not contiguous: position of the query, row after its first run,
            and first row of its second run. Sorted by the last of these.
        run_queries: int64 (n_runs,) position of the query of each run of rows, in the order of the file.
        run_starts: int64 (n_runs,) first row of each run.
    """

    query_ids: tuple[str, ...]
    query_boundaries: Int64Array
    order: Int64Array | None
    scattered: tuple[tuple[int, int, int], ...]
    run_queries: Int64Array
    run_starts: Int64Array

    @property
    def query_of_row(self) -> Int64Array:
        """Position of the query of each row, (n_rows,), in the order of the file."""
        return np.repeat(self.run_queries, np.diff(self.run_starts, append=self.query_boundaries[-1]))

    @property
    def scattered_ids(self) -> tuple[str, ...]:
        """Ids of the queries whose rows are not contiguous."""
        return tuple(self.query_ids[query] for query, _, _ in self.scattered)


def group_codes(codes: Int64Array, query_ids: Sequence[str]) -> Grouping:
    """Gather rows into queries; the query id of a row is `query_ids[codes[row]]`."""
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    return group_rows([query_ids[code] for code in codes[starts].tolist()], starts, len(codes))


def group_rows(run_ids: Sequence[str], run_starts: Int64Array, n_rows: int) -> Grouping:
    """Gather runs of consecutive rows into queries, keeping the order of rows within a query.

    Args:
        run_ids: The query id of each run; adjacent runs may have the same id.
        run_starts: The first row of each run, increasing from 0.
    """
    positions: dict[str, int] = {}
    run_queries = np.array([positions.setdefault(name, len(positions)) for name in run_ids], np.int64)
    run_lengths = np.diff(run_starts, append=n_rows)
    lengths = np.zeros(len(positions), np.int64)
    np.add.at(lengths, run_queries, run_lengths)
    boundaries = np.zeros(len(positions) + 1, np.int64)
    np.cumsum(lengths, out=boundaries[1:])
    order = None
    if np.any(np.diff(run_queries) < 0):
        order = np.argsort(np.repeat(run_queries, run_lengths), kind="stable")
    scattered = () if order is None else _scattered(run_queries, run_starts)
    return Grouping(tuple(positions), boundaries, order, scattered, run_queries, run_starts)


def permute_rows(matrix: Float32Array, order: Int64Array) -> None:
    """Permute rows in place, with a buffer of one row: the new row i is the old row `order[i]`."""
    _permute(matrix, order, np.zeros(len(order), np.bool_), np.empty(matrix.shape[1], np.float32))


def _scattered(run_queries: Int64Array, run_starts: Int64Array) -> tuple[tuple[int, int, int], ...]:
    scattered: dict[int, tuple[int, int, int]] = {}
    stops: dict[int, int] = {}
    previous = -1
    for query, start in zip(run_queries.tolist(), run_starts.tolist(), strict=True):
        if query != previous:
            if previous >= 0:
                stops.setdefault(previous, start)
            if query in stops:
                scattered.setdefault(query, (query, stops[query], start))
        previous = query
    return tuple(scattered.values())


@exact_nonallocating
def _permute(matrix: Float32Array, order: Int64Array, done: np.ndarray, row: Float32Array) -> None:
    for first in range(len(order)):
        if done[first]:
            continue
        # Follow each cycle of the permutation once, with its first row saved in the buffer.
        for column in range(len(row)):
            row[column] = matrix[first, column]
        target = first
        while order[target] != first:
            source = order[target]
            for column in range(len(row)):
                matrix[target, column] = matrix[source, column]
            done[target] = True
            target = source
        for column in range(len(row)):
            matrix[target, column] = row[column]
        done[target] = True


MAX_EXAMPLES = 10


@dataclass(frozen=True, eq=False)
class Reading:
    """A dataset, and properties of the file that it was read from.

    Attributes:
        format: Detected format: letor, lightgbm, csv, parquet or trec-qrels.
        scattered_queries: Number of queries whose rows were not contiguous and were gathered.
        scattered_examples: Ids of the first such queries, at most `MAX_EXAMPLES`.
        several_spellings: The ids of queries that the file spells in several ways: `1` and `1.0`.
        grouping: Assignment of the file's rows to queries; None where rows have no query id, and for qrels.
        named: (n_documents,) whether the document id is from the file; otherwise it is the row number within
            the query. None for tables without a document column, and without `grouping`.
        size_bytes: Size of the file, after unpacking gzip or Zstandard data; 0 without `grouping`.
        number_categories: Columns of numbers of an unjudged table that are read as categories.
    """

    dataset: RankingDataset
    format: str
    scattered_queries: int = 0
    scattered_examples: tuple[str, ...] = ()
    several_spellings: tuple[str, ...] = ()
    grouping: Grouping | None = None
    named: npt.NDArray[np.bool_] | None = None
    size_bytes: int = 0
    number_categories: frozenset[str] = frozenset()
