"""Assembly of a click log: number the pairs, sort the rows into lists, and write the columns."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.clicks.files import LogWriter
from core.clicks.log import MAX_RANK
from core.clicks.reading.builder import NO_TIME, UNKNOWN, LogBuilder
from core.clicks.reading.codes import IMPRESSION_ACTIONS
from core.clicks.reading.report import MAX_EXAMPLES, Examples, ReadingReport
from core.clicks.reading.spool import HIT, IMPRESSION, LISTS_PER_PART, Rows
from core.clicks.reading.times import with_dates_in_digits
from core.errors import DatasetError
from core.names import first_names
from core.types import Int32Array, Int64Array, OnProgress

_BLOCK = 2**22  # keys
_DOCUMENT_BITS = 32


def pair_keys(queries: Int32Array, documents: Any) -> Int64Array:
    """Return a sort key for each pair, which orders pairs by query and document."""
    keys: Int64Array = (queries.astype(np.int64) << _DOCUMENT_BITS) | documents.astype(np.int64)
    return keys


class DistinctKeys:
    """The distinct values of many keys, 8 bytes each."""

    def __init__(self) -> None:
        self._distinct: Int64Array = np.empty(0, np.int64)
        self._pending: list[Int64Array] = []

    def add(self, keys: Int64Array) -> None:
        """Add keys, (n,)."""
        self._pending.append(np.unique(keys))
        # Merge when pending keys outnumber merged ones, so that each key is merged only a few times.
        if sum(map(len, self._pending)) > max(_BLOCK, len(self._distinct)):
            self.sorted()

    def sorted(self) -> Int64Array:
        """Return the distinct keys, ascending."""
        self._distinct = np.unique(np.concatenate([self._distinct, *self._pending]))
        self._pending.clear()
        return self._distinct


class PairKeys:
    """The pairs of all impressions in their order, on disk; distinct pairs are in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._keys = DistinctKeys()

    def __enter__(self) -> "PairKeys":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, keys: Int64Array) -> None:
        """Add the keys of the pairs of impressions, (n,)."""
        self._file.write(keys.data)
        self._keys.add(keys)

    def write(self, writer: LogWriter) -> None:
        """Write the distinct pairs, sorted by query and document, and the index of each impression's pair."""
        self._file.flush()
        distinct = self._keys.sorted()
        writer.append("pair_queries", (distinct >> _DOCUMENT_BITS).astype(np.int32))
        writer.append("pair_documents", (distinct & (2**_DOCUMENT_BITS - 1)).astype(np.int32))
        with self._path.open("rb") as file:
            while len(keys := np.fromfile(file, np.int64, _BLOCK)):
                distinct_keys, inverse = np.unique(keys, return_inverse=True)
                writer.append("pairs", np.searchsorted(distinct, distinct_keys).astype(np.int32)[inverse])


@dataclass(frozen=True)
class _ShownImpressions:
    """The impressions of one part, by list and rank.

    Attributes:
        actions: Actions on each impression as a bit set; bit i is action i + 1.
    """

    rows: Rows
    actions: npt.NDArray[np.uint32]


class Assembly:
    """Sorts the rows of a builder into lists and writes the columns of the log.

    The lists are in the order of their first appearance, and the pairs in the order of their query and
    document. One part of the rows is in memory at a time.

    Args:
        report: Report whose counts are filled; its `rank_base` is the base of the rows.
        folder: An empty folder for temporary files.
    """

    def __init__(self, builder: LogBuilder, report: ReadingReport, folder: Path) -> None:
        self._builder = builder
        self._report = report
        self._keys = PairKeys(folder / "pairs.bin")
        self._queries = builder.list_queries.reserve(builder.n_lists)[: builder.n_lists]
        report.events_at_rank_0, report.events_at_rank_1 = builder.rank_counts[0], builder.rank_counts[1]
        self._weights = np.array(list(report.weights.values()), np.float32)
        self._lengths = np.zeros(builder.n_lists, np.int32)
        self._invalid_propensities = 0

    def write(self, writer: LogWriter, on_progress: OnProgress | None = None) -> None:
        """Write all columns.

        Raises:
            DatasetError: The log has no valid impression, or only some impressions have a propensity.
        """
        with self._keys:
            self._write(writer, on_progress)

    def _write(self, writer: LogWriter, on_progress: OnProgress | None) -> None:
        done = 0
        for first, rows in self._builder.spool.parts():
            shown = self._join_actions(first, rows)
            self._append(writer, shown)
            done += len(rows)
            if on_progress is not None:
                on_progress(done, self._builder.spool.n_rows)
        if not self._lengths.any():
            raise DatasetError.at(self._no_impressions())
        if self._invalid_propensities:
            expected = "expected either no propensities or one above 0 and up to 1 for each impression"
            raise DatasetError.at(
                f"{expected}, but {self._invalid_propensities:,} impressions have no such propensity"
            )
        self._write_lists(writer)
        self._keys.write(writer)
        writer.write_texts("query_ids", self._builder.queries.texts())
        writer.write_texts("document_ids", self._builder.documents.texts())

    def _no_impressions(self) -> str:
        if self._report.format == "ubi" and len(self._queries) and (self._queries == UNKNOWN).all():
            return (
                "expected `user_query` in an event or a query, but found none; add UBI's queries as the file"
                " `queries`, on the command line by `--queries`"
            )
        actions = list(self._report.rows_by_action)
        if actions and not set(actions) & set(IMPRESSION_ACTIONS):
            return (
                f"expected at least one impression, an action named {', '.join(IMPRESSION_ACTIONS)},"
                f" but found the actions {first_names(actions)}; rename that of impressions in the file"
            )
        return "expected at least one impression with a query, a document and a rank"

    def _join_actions(self, first: int, rows: Rows) -> _ShownImpressions:
        """Join the actions of a part with their impressions."""
        self._report.weighted_actions += int((rows["action"] > 0).sum())
        has_query = self._queries[rows["list"]] != UNKNOWN
        self._count(self._report.rows_without_query, rows[~has_query])
        rows = rows[has_query]
        is_shown = self._are_impressions(first, rows)
        rows["rank"][rows["action"] == HIT] += self._report.rank_base
        order = np.lexsort((rows["rank"], ~self._has_rank(rows), ~is_shown, rows["document"], rows["list"]))
        rows, is_shown = rows[order], is_shown[order]
        is_first = np.ones(len(rows), np.bool_)
        is_first[1:] = (np.diff(rows["list"]) != 0) | (np.diff(rows["document"]) != 0)
        starts = np.flatnonzero(is_first)
        bits = np.where(rows["action"] > 0, np.uint32(1) << np.maximum(rows["action"] - 1, 0), 0)
        actions = np.bitwise_or.reduceat(bits, starts) if len(starts) else bits
        has_impression, lengths = is_shown[starts], np.diff(starts, append=len(rows))
        is_joined = np.repeat(has_impression, lengths)
        self._count(self._report.orphaned_actions, rows[(rows["action"] > 0) & ~is_joined])
        self._count(self._report.moved_actions, rows[is_joined & self._are_moved(rows, starts, lengths)])
        self._count(self._report.repeated_impressions, rows[is_shown & ~is_first])
        return self._sort_by_rank(rows[starts[has_impression]], actions[has_impression].astype(np.uint32))

    def _are_impressions(self, first: int, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return whether each row is an impression.

        Search hits are impressions if their list has no impression events.
        """
        is_shown = rows["action"] == IMPRESSION
        has_impressions = np.zeros(LISTS_PER_PART, np.bool_)
        has_impressions[rows["list"][is_shown] - first] = True
        result: npt.NDArray[np.bool_] = is_shown | (
            (rows["action"] == HIT) & ~has_impressions[rows["list"] - first]
        )
        return result

    def _are_moved(self, rows: Rows, starts: Int64Array, lengths: Int64Array) -> npt.NDArray[np.bool_]:
        """Return whether each row is an action with another rank than the first row of its document.

        Actions on hits may have ranks from 0 or 1, as hits have none.
        """
        first = rows[np.repeat(starts, lengths)]
        is_ranked = (rows["action"] > 0) & self._has_rank(rows) & self._has_rank(first)
        distances = np.abs(rows["rank"].astype(np.int64) - first["rank"])
        is_moved: npt.NDArray[np.bool_] = is_ranked & (distances > (first["action"] == HIT))
        return is_moved

    def _has_rank(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return whether each row has a valid rank."""
        base = self._report.rank_base
        is_valid: npt.NDArray[np.bool_] = (rows["rank"] >= base) & (rows["rank"] - base < MAX_RANK)
        return is_valid

    def _sort_by_rank(self, rows: Rows, actions: npt.NDArray[np.uint32]) -> _ShownImpressions:
        """Sort impressions by list and rank, and drop and count those without a valid rank."""
        report = self._report
        is_valid = self._has_rank(rows)
        self._count(report.unranked, rows[~is_valid])
        rows, actions = rows[is_valid], actions[is_valid]
        order = np.lexsort((rows["rank"], rows["list"]))
        rows, actions = rows[order], actions[order]
        is_first = np.ones(len(rows), np.bool_)
        is_first[1:] = np.diff(rows["list"]) != 0
        lowest = rows["rank"][is_first & (rows["action"] == IMPRESSION)]
        report.lists_from_0 += int((lowest == 0).sum())
        report.lists_from_1 += int((lowest == 1).sum())
        if not self._builder.rank_counts:
            report.events_at_rank_0 += int((rows["rank"] == 0).sum())
            report.events_at_rank_1 += int((rows["rank"] == 1).sum())
        is_shared = np.zeros(len(rows), np.bool_)
        is_shared[1:] = ~is_first[1:] & (np.diff(rows["rank"]) == 0)
        self._count(report.shared_ranks, rows[is_shared])
        return _ShownImpressions(rows, actions)

    def _append(self, writer: LogWriter, shown: _ShownImpressions) -> None:
        rows, actions = shown.rows, shown.actions
        np.add.at(self._lengths, rows["list"], 1)
        self._keys.add(pair_keys(self._queries[rows["list"]], rows["document"]))
        writer.append("ranks", rows["rank"] - (self._report.rank_base - 1))
        gains = np.zeros(len(rows), np.float32)
        clicks = np.zeros(len(rows), np.bool_)
        for bit, weight in enumerate(self._weights):
            acted = (actions >> np.uint32(bit)) & np.uint32(1) != 0
            gains += weight * acted
            clicks |= acted & (weight > 0)
        writer.append("clicks", clicks)
        if len(self._weights) > 1 or (self._weights != 1).any():
            writer.append("gains", gains)
        if self._report.has_propensities:
            is_valid = (rows["propensity"] > 0) & (rows["propensity"] <= 1)
            self._invalid_propensities += int((~is_valid).sum())
            writer.append("propensities", rows["propensity"])
        if self._report.has_teams:
            writer.append("teams", rows["team"])

    def _write_lists(self, writer: LogWriter) -> None:
        builder, n_lists = self._builder, self._builder.n_lists
        kept = self._lengths > 0
        boundaries: Int64Array = np.concatenate([[0], np.cumsum(self._lengths[kept], dtype=np.int64)])
        writer.append("list_boundaries", boundaries)
        writer.append("list_queries", self._queries[kept])
        times = builder.list_times.reserve(n_lists)[:n_lists][kept]
        n_without = int(np.count_nonzero(times == NO_TIME))
        if not n_without:
            writer.append("list_times", with_dates_in_digits(times))
        elif n_without < len(times):
            self._report.lists_without_time = n_without
        users = builder.list_users.reserve(n_lists)[:n_lists][kept]
        if (users != UNKNOWN).any():
            writer.append("list_users", _numbered(users))
        if len(builder.versions):
            writer.append("list_versions", builder.list_versions.reserve(n_lists)[:n_lists][kept])
            writer.write_texts("versions", builder.versions.texts())

    def _count(self, examples: Examples, rows: Rows) -> None:
        """Count rows, and keep the query and document of the first ones as examples."""
        examples.count += len(rows)
        for row in rows[:MAX_EXAMPLES]:
            if len(examples.names) == MAX_EXAMPLES:
                return
            query = int(self._queries[row["list"]])
            examples.add(self._builder.name_of(query, int(row["document"])), 0)


def _numbered(users: Int32Array) -> Int32Array:
    """Number the users from 0; each list without a user counts as a separate user."""
    is_unknown = users == UNKNOWN
    own = users.astype(np.int64)
    own[is_unknown] = 2**32 + np.arange(is_unknown.sum())
    numbers: Int32Array = np.unique(own, return_inverse=True)[1].astype(np.int32)
    return numbers
