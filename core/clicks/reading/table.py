"""Reader of long tables (CSV, TSV and Parquet) with one impression or action per row."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from core.clicks.reading.builder import UNKNOWN, UNWEIGHTED, LogBuilder
from core.clicks.reading.codes import IMPRESSION_ACTIONS, ONE_QUERY, Codes
from core.clicks.reading.options import ROLES, LogOptions
from core.clicks.reading.spool import IMPRESSION, NO_RANK, NO_TEAM, TEAM_BOUND, rows_of
from core.clicks.reading.times import times_of
from core.data.tables.cells import cell_text, kind_of, numbers, plain_texts
from core.data.tables.problems import Problems, listed
from core.data.tables.table import Table, line_unit
from core.errors import DatasetError, InvalidInput
from core.names import shortened
from core.types import Float64Array, Int32Array, Int64Array, OnProgress
from rankery.identifiers import EXPECTED, normalise_column

_CLICK = "click"
_IMPRESSION_COUNTS = "impressions"
_ID_ROLES = frozenset({"query", "document", "user"})
_RANK_BOUND = 2**31
_NO_PREVIOUS_RANK = -1  # below all ranks of impressions
_UNIT_SEPARATOR = "\x1f"  # between the name and the query of a list with several queries
# Columns of Open Bandit's files (Saito et al. 2021, table 2).
OPEN_BANDIT = MappingProxyType(
    {
        "document": "item_id",
        "rank": "position",
        "click": "click",
        "time": "timestamp",
        "propensity": "propensity_score",
    }
)


def column_roles(table: Table, columns: Mapping[str, str]) -> dict[str, int]:
    """Return the positions of a table's columns by role.

    Args:
        columns: Requested column names by role; columns of other roles are detected by name.

    Raises:
        InvalidInput: A requested column does not exist.
        DatasetError: There is no column for the document, or none for clicks or actions; or each row has
            the total clicks and impressions of a document.
    """
    column_by_name = {name.lower(): column for column, name in reversed(list(enumerate(table.names)))}
    roles = {}
    for role, name in columns.items():
        if name not in table.names:
            raise InvalidInput.at(f"/columns/{role}", f"no column {name!r}; found {listed(table.names)}")
        roles[role] = table.names.index(name)
    for role, usual in ROLES.items():
        detected = (column_by_name[name] for name in usual if name in column_by_name)
        free = (column for column in detected if column not in roles.values())
        if role not in roles and (column := next(free, None)) is not None:
            roles[role] = column
    for needed in (("document",), ("click", "action")):
        if not roles.keys() & set(needed):
            expected = " or ".join(f"a column for the {one}, such as {ROLES[one][0]}" for one in needed)
            fields = " or ".join(f"columns.{one}" for one in needed)
            raise DatasetError.at(
                f"expected {expected}, but found {listed(table.names)}; name it in {fields}",
                file=table.file,
                line=table.header_line,
            )
    if "click" not in columns and "click" in roles and _IMPRESSION_COUNTS in column_by_name:
        sums = [table.names[column] for column in (roles["click"], column_by_name[_IMPRESSION_COUNTS])]
        raise DatasetError.at(
            f"expected a row for each impression, but found sums in the columns {' and '.join(sums)}; write a"
            " row for each impression, or name the column of clicks in columns.click if it is 1 for a click",
            file=table.file,
            line=table.header_line,
        )
    return roles


class TableReader:
    """Reads tables into a builder.

    Rows of a list whose query differs from that of its first row with a query become a separate list for each
    query.
    Without a column of lists, a list begins with each file and with each change of the query or user. It also
    begins with each impression whose rank is not above that of the previous impression. Without a column of
    ranks, ranks are the order of the impressions of a list.

    Args:
        rows_are_lists: Whether each row is a list of one document.
    """

    def __init__(self, builder: LogBuilder, options: LogOptions, *, rows_are_lists: bool = False) -> None:
        self._builder = builder
        self._options = options
        self._rows_are_lists = rows_are_lists
        # Query and user of the last row, and rank of the last impression of its list.
        self._last: tuple[int, int, int] | None = None

    def read(self, table: Table, columns: Mapping[str, str], on_progress: OnProgress | None = None) -> None:
        """Read a table.

        Raises:
            DatasetError: With up to 100 problems by line and column.
            InvalidInput: A requested column does not exist, or the table has a column of clicks and
                `options` has no weight for the action `click`.
        """
        roles = column_roles(table, columns)
        if "click" in roles and _CLICK not in self._builder.action_codes:
            raise InvalidInput.at(
                "/actions", f"must have a weight for {_CLICK}, since the file has a click column"
            )
        self._builder.has_propensities |= "propensity" in roles
        self._builder.has_teams |= "team" in roles
        problems, row = Problems(), 0
        for block in table.blocks(list(roles.values()), problems, on_progress):
            if len(block[0]):
                cells = _Block(dict(zip(roles, block, strict=True)), table, roles, problems, row)
                cells.refuse_empty_documents()
                self._add(cells)
            row += len(block[0])
        if problems:
            problems.fail(table.file, table.lines, line_unit(table.format))

    def _add(self, cells: "_Block") -> None:
        builder = self._builder
        queries = cells.queries(builder)
        ranks = cells.ranks()
        users = cells.codes("user", builder.users)
        actions = cells.actions_in_lists(builder)
        lists = self._lists_of(cells, queries, users, ranks, actions)
        n_lists = builder.n_lists
        builder.list_queries.set_where_absent(lists, queries, n_lists)
        if "time" in cells.roles:
            builder.list_times.set_least(lists, cells.times(), n_lists)
        builder.list_users.set_where_absent(lists, users, n_lists)
        builder.list_versions.set_where_absent(lists, cells.codes("version", builder.versions), n_lists)
        if not cells.has_ranks:
            ranks[actions == IMPRESSION] = self._ranks_by_order(lists[actions == IMPRESSION])
        rows = rows_of(
            lists,
            builder.documents.of_array(cells.ids("document")),
            ranks,
            actions,
            cells.propensities(),
            cells.teams(),
        )
        clicked = rows[cells.clicks()]
        clicked["action"] = builder.action_codes.get(_CLICK, IMPRESSION)
        if "click" in cells.roles:
            builder.action_counts[_CLICK] += len(clicked)
        builder.spool.add(np.concatenate([rows[rows["action"] >= 0], clicked]))

    def _lists_of(
        self,
        cells: "_Block",
        queries: Int32Array,
        users: Int32Array,
        ranks: Int64Array,
        actions: Int32Array,
    ) -> Int32Array:
        """Return the index of the list of each row; create lists as needed."""
        builder, n_rows = self._builder, len(queries)
        if "list" in cells.roles:
            return self._named_lists(cells, queries)
        starts = np.ones(n_rows, np.bool_)
        previous_rank = _NO_PREVIOUS_RANK
        if not self._rows_are_lists:
            starts[1:] = (np.diff(queries) != 0) | (np.diff(users) != 0)
            if self._last is not None:
                query, user, previous_rank = self._last
                starts[0] = (queries[0], users[0]) != (query, user)
        parts = np.cumsum(starts)
        ranked = np.flatnonzero((actions == IMPRESSION) & (ranks >= 0))
        previous = np.concatenate([[previous_rank], ranks[ranked]])
        parts_of_ranked = np.concatenate([[0], parts[ranked]])
        starts[ranked] |= (np.diff(parts_of_ranked) == 0) & (np.diff(previous) <= 0)
        list_numbers: Int32Array = (builder.n_lists - 1 + np.cumsum(starts)).astype(np.int32)
        builder.n_lists = int(list_numbers[-1]) + 1
        is_same_list = parts_of_ranked[-1] == parts[-1]
        previous_rank = int(previous[-1]) if is_same_list else _NO_PREVIOUS_RANK
        self._last = int(queries[-1]), int(users[-1]), previous_rank
        return list_numbers

    def _named_lists(self, cells: "_Block", queries: Int32Array) -> Int32Array:
        """Return the index of each row's list.

        The query of a list is that of its first row with a query. Rows with the name of a list and its query,
        or no query, are that list. Rows with another query are a separate list for each query.
        """
        builder, names = self._builder, cells.texts("list")
        lists = builder.keys.of_array(names).copy()
        builder.n_lists = len(builder.keys)
        builder.list_queries.set_where_absent(lists, queries, builder.n_lists)
        of_lists, empty = builder.list_queries.reserve(builder.n_lists), builder.queries.find("")
        named = np.flatnonzero((of_lists[lists] == empty) & (queries != empty))[::-1]
        of_lists[lists[named]] = queries[named]
        others = np.flatnonzero((queries != of_lists[lists]) & (queries != empty))
        if len(others):
            parts = (
                names.take(others),
                cells.ids("query").take(others),
                pa.scalar(_UNIT_SEPARATOR, names.type),
            )
            lists[others] = builder.keys.of_array(pc.binary_join_element_wise(*parts))
            builder.n_lists = len(builder.keys)
        return lists

    def _ranks_by_order(self, lists: Int32Array) -> Int64Array:
        """Return the rank of each row by its order in its list, and add the rows to the lists' lengths."""
        counts = self._builder.list_lengths.reserve(self._builder.n_lists)
        order = np.argsort(lists, kind="stable")
        ordered = lists[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1) != 0)
        lengths = np.diff(starts, append=len(lists))
        within = np.arange(len(lists)) - np.repeat(starts, lengths)
        ranks = np.empty(len(lists), np.int64)
        ranks[order] = self._builder.first_rank + counts[ordered] + within
        counts[ordered[starts]] += lengths
        return ranks


class _Block:
    """A block of a table's rows, with cells by role.

    Args:
        cells: Arrow arrays by role.
        roles: Positions of columns by role.
        row: Index of the first row, from 0.
    """

    def __init__(
        self, cells: Mapping[str, Any], table: Table, roles: Mapping[str, int], problems: Problems, row: int
    ) -> None:
        self._cells = dict(cells)
        self._table = table
        self._problems = problems
        self._row = row
        self.roles = roles
        for role in _ID_ROLES & roles.keys():
            self._read_numbers_as_ids(role)
        self.n_rows = len(next(iter(cells.values())))
        self.has_ranks = "rank" in roles

    def _read_numbers_as_ids(self, role: str) -> None:
        """Replace numbers by ids, which are null where a number is missing."""
        cells = self._cells[role]
        if kind_of(cells.type) == "number":
            normalised = normalise_column(cells)
            self._refuse(role, "inexact_id", normalised.invalid, f"expected {EXPECTED}")
            self._cells[role] = normalised.texts

    def refuse_empty_documents(self) -> None:
        """Record a problem for each row without a document."""
        empty = np.flatnonzero(self._are_empty("document"))
        self._refuse("document", "empty_document_id", empty, "expected a document id")

    def ids(self, role: str) -> Any:
        """Return the cells of a role as ids, with their blanks as in datasets; empty for missing cells."""
        return plain_texts(self._cells[role])

    def texts(self, role: str) -> Any:
        """Return the cells of a role as trimmed texts, empty for missing cells."""
        return pc.utf8_trim_whitespace(plain_texts(self._cells[role]))

    def _are_empty(self, role: str) -> npt.NDArray[np.bool_]:
        texts = self.texts(role)
        empty: npt.NDArray[np.bool_] = pc.equal(texts, pa.scalar("", texts.type)).to_numpy(
            zero_copy_only=False
        )
        return empty

    def queries(self, builder: LogBuilder) -> Int32Array:
        """Return the codes of the queries."""
        if "query" not in self.roles:
            return np.full(self.n_rows, builder.queries.of(ONE_QUERY), np.int32)
        return builder.queries.of_array(self.ids("query"))

    def codes(self, role: str, codes: Codes) -> Int32Array:
        """Return the codes of the texts of a role, `UNKNOWN` for missing cells."""
        codes_of_rows = np.full(self.n_rows, UNKNOWN, np.int32)
        if role in self.roles:
            has_text = ~self._are_empty(role)
            codes_of_rows[has_text] = codes.of_array(self.texts(role).filter(has_text))
        return codes_of_rows

    def ranks(self) -> Int64Array:
        """Return the ranks, `NO_RANK` for missing or invalid cells."""
        if not self.has_ranks:
            return np.full(self.n_rows, NO_RANK, np.int64)
        expected = "expected a whole number as a rank"
        return self._whole_numbers("rank", "not_a_rank", expected, _RANK_BOUND, NO_RANK)

    def clicks(self) -> Any:
        """Return the mask of the rows whose click column is above 0, all false without the column."""
        if "click" not in self.roles:
            return np.zeros(self.n_rows, np.bool_)
        return self._numbers("click", "not_a_number", "expected 0, 1 or a number of clicks")[0] > 0

    def actions_in_lists(self, builder: LogBuilder) -> Int32Array:
        """Return the code of each row's action, `UNWEIGHTED` for rows without a list id.

        Count actions without a list id; record a problem for each impression without one.
        """
        actions = self._actions(builder)
        if "list" not in self.roles:
            return actions
        empty = self._are_empty("list")
        impressions = np.flatnonzero(empty & (actions == IMPRESSION))
        self._refuse("list", "empty_list_id", impressions, "expected a list id")
        builder.without_list += int((empty & (actions > IMPRESSION)).sum())
        return np.where(empty, UNWEIGHTED, actions)

    def _actions(self, builder: LogBuilder) -> Int32Array:
        """Return the code of each row's action, `IMPRESSION` for impressions, or `UNWEIGHTED`."""
        if "action" not in self.roles:
            builder.action_counts[IMPRESSION_ACTIONS[0]] += self.n_rows
            return np.full(self.n_rows, IMPRESSION, np.int32)
        encoded = self.texts("action").dictionary_encode()
        names = encoded.dictionary.to_pylist()
        positions = encoded.indices.to_numpy()
        for name, count in zip(names, np.bincount(positions, minlength=len(names)).tolist(), strict=True):
            builder.action_counts[name] += count
        codes_of_names = np.array([builder.action_code(name) for name in names], np.int32)
        codes: Int32Array = codes_of_names[positions]
        return codes

    def propensities(self) -> Any:
        """Return the propensities, NaN without a column."""
        if "propensity" not in self.roles:
            return np.nan
        expected = "expected a propensity above 0 and up to 1"
        values, wrong = self._numbers("propensity", "not_a_propensity", expected)
        invalid = np.flatnonzero(~((values > 0) & (values <= 1)))
        self._refuse("propensity", "not_a_propensity", np.setdiff1d(invalid, wrong), expected)
        return values

    def teams(self) -> Any:
        """Return the teams, `NO_TEAM` for missing or invalid cells."""
        if "team" not in self.roles:
            return NO_TEAM
        expected = f"expected a whole number below {TEAM_BOUND:,} as a team"
        return self._whole_numbers("team", "not_a_team", expected, TEAM_BOUND, NO_TEAM)

    def times(self) -> Int64Array:
        """Return the times in milliseconds, `NO_TIME` for missing cells."""
        values, wrong = times_of(self._cells["time"])
        self._refuse("time", "not_a_time", wrong, "expected a time such as 2026-05-01T10:00:00Z")
        return values

    def _whole_numbers(self, role: str, cause: str, expected: str, bound: int, missing: int) -> Int64Array:
        """Return whole numbers between −bound and bound, `missing` for missing or invalid cells."""
        values, wrong = self._numbers(role, cause, expected)
        is_whole = (values == np.floor(values)) & (np.abs(values) < bound)
        others = np.setdiff1d(np.flatnonzero(~is_whole & ~np.isnan(values)), wrong)
        self._refuse(role, cause, others, expected)
        return np.where(is_whole, np.where(is_whole, values, 0).astype(np.int64), missing)

    def _numbers(self, role: str, cause: str, expected: str) -> tuple[Float64Array, Int64Array]:
        """Return numbers, NaN for missing or invalid cells, and the rows of the invalid cells."""
        values, wrong = numbers(self._cells[role])
        self._refuse(role, cause, wrong, expected)
        return values, wrong

    def _refuse(self, role: str, cause: str, rows: Int64Array, expected: str) -> None:
        """Record a problem for the cell of a role in each of these rows."""
        position = self.roles[role]
        column = self._table.names[position]
        for done, row in enumerate(rows.tolist()):
            if self._problems.has_enough(cause, column):
                self._problems.count(cause, column, len(rows) - done)
                return
            text = shortened(cell_text(self._cells[role], row))
            record = self._table.record(self._row + row)
            detail = f"{expected}, but found {text!r}" if text else f"{expected}, but the cell is empty"
            self._problems.add(cause, record, position, column, detail, text)
