"""Gathering the rows of a file into whole queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.types import Int64Array


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which rows belong to which query.

    Attributes:
        query_ids: In the order in which they first appear.
        query_boundaries: int64 (n_queries + 1,).
        order: The rows in the order of their queries, or None where they already are.
    """

    query_ids: tuple[str, ...]
    query_boundaries: Int64Array
    order: Int64Array | None


def group_rows(run_ids: Sequence[str], run_starts: Int64Array, n_rows: int) -> Grouping:
    """Gather runs of consecutive rows into queries, keeping the order of rows within a query.

    Args:
        run_ids: The query id of each run.
        run_starts: The first row of each run, increasing from 0.
        n_rows: The number of rows.
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
    return Grouping(tuple(positions), boundaries, order)
