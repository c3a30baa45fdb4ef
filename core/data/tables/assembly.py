"""Build a dataset from a table: labels, queries, features and other columns."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from core.data.categories import FLOAT32_EXACT_LIMIT, MAX_CATEGORIES, MAX_CHARACTERS
from core.data.dataset import RankingDataset
from core.data.features import new_matrix
from core.data.lightgbm import query_boundaries
from core.data.options import DOCUMENT_TITLE, DOCUMENT_URL, QUERY_TEXT, ROLES, Limits, ReadingOptions
from core.data.result import MAX_EXAMPLES, Grouping, Reading, group_codes, permute_rows
from core.data.tables.cells import CategoryColumn, kind_of
from core.data.tables.checked_cells import CheckedCells
from core.data.tables.columns import SelectedColumns, feature_names, find_columns
from core.data.tables.problems import cause_of_columns
from core.data.tables.table import Table, line_unit
from core.data.texts import Texts, row_numbers
from core.errors import MAX_PROBLEMS, DatasetError, DatasetProblem
from core.names import shortened
from core.types import Float32Array, Int64Array, OnProgress
from rankery.identifiers import SeveralSpellings


def read_table(
    table: Table,
    options: ReadingOptions | None = None,
    limits: Limits | None = None,
    *,
    query_sizes: Int64Array | None = None,
    labelled: bool = True,
    on_progress: OnProgress | None = None,
) -> Reading:
    """Build a dataset from a table.

    Args:
        options: Column roles, treatment of scattered queries, and feature names by column.
        query_sizes: (n_queries,) documents of each query, where the table has no query column.
        labelled: Whether a label column is required; without a label column, all labels are 0, and a
            categorical feature may have more values than a model can learn.
        on_progress: Called with the number of bytes or rows done and their total; may raise to stop.

    Raises:
        DatasetError: With up to 100 invalid cells, or problems of the columns.
        InvalidInput: `feature_names` names a column that is not a feature, or makes two names equal.
    """
    options, limits = options or ReadingOptions(), limits or Limits()
    limits.check_documents(table.n_rows, table.file)
    _check_number_of_columns(table, options, limits)
    columns = find_columns(table, options, has_sizes=query_sizes is not None, labelled=labelled)
    if columns.n_features > limits.features:
        raise DatasetError.at(
            f"expected at most {limits.features:,} features, but the columns and their lists hold"
            f" {columns.n_features:,}",
            file=table.file,
        )
    names = feature_names(table, columns, options)
    oversize = limits.oversize(table.n_rows, columns.n_features, table.size_bytes)
    if oversize is not None:
        raise DatasetError.at(oversize, file=table.file)
    # The codes of categories are float32.
    max_categories = MAX_CATEGORIES if labelled else FLOAT32_EXACT_LIMIT
    if query_sizes is not None:
        boundaries = query_boundaries(query_sizes, table.n_rows, table.file)
        rows = _Rows(table, columns, max_categories, on_progress, boundaries)
        return Reading(rows.with_sizes(names, boundaries), "lightgbm")
    rows = _Rows(table, columns, max_categories, on_progress)
    grouping = rows.grouping()
    if grouping.scattered and options.non_contiguous_queries == "error":
        rows.refuse_scattered(grouping)
    dataset = rows.grouped(names, grouping)
    return Reading(
        dataset,
        table.format,
        scattered_queries=len(grouping.scattered),
        scattered_examples=grouping.scattered_ids[:MAX_EXAMPLES],
        several_spellings=tuple(rows.spellings.several),
        grouping=grouping,
        named=rows.has_document_ids(grouping.order),
        size_bytes=table.size_bytes,
    )


def _check_number_of_columns(table: Table, options: ReadingOptions, limits: Limits) -> None:
    """Refuse too many columns before they are examined, which takes a quarter of a millisecond for each.

    Columns that are ignored or have another role than a feature do not count, nor those found by usual names.
    """
    others = {name for pointer, name in options.columns.pointers_and_names() if "features/" not in pointer}
    n_columns = sum(name not in others for name in table.names)
    if n_columns > limits.features + len(ROLES):
        raise DatasetError.at(
            f"expected at most {limits.features:,} features, but found {n_columns:,} columns", file=table.file
        )


class _Rows:
    """All rows of a table as arrays, in file order."""

    def __init__(
        self,
        table: Table,
        columns: SelectedColumns,
        max_categories: int,
        on_progress: OnProgress | None,
        boundaries: Int64Array | None = None,
    ) -> None:
        self._table = table
        self._columns = columns
        self._cells = CheckedCells(table, columns)
        n_rows, roles = table.n_rows, columns.roles
        self.features: Float32Array = new_matrix(n_rows, columns.n_features)
        self.labels: Float32Array = np.zeros(n_rows, np.float32)
        self.queries: Int64Array = np.zeros(n_rows, np.int64)
        self.query_ids: dict[str, int] = {}
        self.spellings = SeveralSpellings()
        if boundaries is not None:
            n_queries = len(boundaries) - 1
            self.queries = np.repeat(np.arange(n_queries), np.diff(boundaries))
            self.query_ids = {str(query + 1): query for query in range(n_queries)}
        self.document_id_blocks: list[Any] = []
        document_columns = {
            role: roles.by_role[role] for role in (DOCUMENT_TITLE, DOCUMENT_URL) if role in roles.by_role
        } | {table.names[position]: position for position in roles.document_columns}
        # Position and texts of document columns, by stored name.
        self._document_texts: dict[str, tuple[int, list[Any]]] = {
            name: (position, []) for name, position in document_columns.items()
        }
        self._max_categories = max_categories
        self._categories = {position: CategoryColumn() for position in roles.categorical_features}
        self.document_weights = np.empty(n_rows) if "document_weight" in roles.by_role else None
        self._query_values: dict[int, list[Any]] = {
            position: []
            for position in (
                *columns.query_columns,
                *self._positions_of("query_weight"),
                *self._positions_of(QUERY_TEXT),
            )
        }
        self._read(on_progress)
        self._cells.fail_if_wrong()

    def grouping(self) -> Grouping:
        """Gather the rows into queries."""
        return group_codes(self.queries, list(self.query_ids))

    def refuse_scattered(self, grouping: Grouping) -> None:
        """Refuse rows of queries that are not contiguous."""
        first = grouping.scattered[: MAX_PROBLEMS + 1]
        lines = self._table.lines([stop - 1 for _, stop, _ in first])
        for (query, _, row), line in zip(first, lines, strict=True):
            name = shortened(grouping.query_ids[query])
            stop = f"{line_unit(self._table.format)} {line}"
            detail = f"expected the rows of query {name!r} to be contiguous, but they stopped on {stop}"
            self._cells.problems.add("scattered_query", self._table.record(row), 0, None, detail, name)
        self._cells.problems.count("scattered_query", None, len(grouping.scattered) - len(first))
        self._cells.fail_if_wrong()

    def with_sizes(self, names: tuple[str, ...], boundaries: Int64Array) -> RankingDataset:
        """Build the dataset with the given query sizes."""
        return self._dataset(names, boundaries, tuple(self.query_ids), None)

    def grouped(self, names: tuple[str, ...], grouping: Grouping) -> RankingDataset:
        """Build the dataset with queries from the query column."""
        if grouping.order is not None:
            permute_rows(self.features, grouping.order)
        return self._dataset(names, grouping.query_boundaries, grouping.query_ids, grouping.order)

    def _dataset(
        self,
        names: tuple[str, ...],
        boundaries: Int64Array,
        query_ids: tuple[str, ...],
        order: Int64Array | None,
    ) -> RankingDataset:
        rows: Any = slice(None) if order is None else order
        weights = self._positions_of("query_weight")
        return RankingDataset(
            features=self.features,
            labels=self.labels[rows],
            query_boundaries=boundaries,
            query_ids=query_ids,
            document_ids=self._document_ids(boundaries, order),
            feature_names=names,
            query_weights=np.array(self._query_values[weights[0]], np.float64) if weights else None,
            document_weights=None if self.document_weights is None else self.document_weights[rows],
            query_columns={
                name: tuple(self._query_values[position]) for name, position in self._query_columns().items()
            },
            document_columns={
                name: _joined(chunks, order) for name, (_, chunks) in self._document_texts.items()
            },
            categories={
                names[span.start]: self._categories[position].categories
                for position, span in zip(self._columns.features, self._columns.spans, strict=True)
                if position in self._categories
            },
        )

    def has_document_ids(self, order: Int64Array | None) -> npt.NDArray[np.bool_] | None:
        """Return the mask of documents that have an id in the table, None without a document column."""
        if not self.document_id_blocks:
            return None
        is_empty = _is_empty(_joined(self.document_id_blocks, order).array)
        named: npt.NDArray[np.bool_] = ~is_empty.to_numpy(zero_copy_only=False)
        return named

    def _document_ids(self, boundaries: Int64Array, order: Int64Array | None) -> Texts:
        numbers = row_numbers(boundaries)
        if not self.document_id_blocks:
            return numbers
        named = _joined(self.document_id_blocks, order).array
        return Texts(pc.if_else(_is_empty(named), numbers.array, named))

    def _query_columns(self) -> dict[str, int]:
        """Return the positions of the query columns, and of the query text, by stored name."""
        columns = {self._table.names[position]: position for position in self._columns.query_columns}
        for position in self._positions_of(QUERY_TEXT):
            columns[QUERY_TEXT] = position
        return columns

    def _positions_of(self, role: str) -> tuple[int, ...]:
        position = self._columns.roles.by_role.get(role)
        return () if position is None else (position,)

    def _read(self, on_progress: OnProgress | None) -> None:
        positions = self._columns.positions
        first = 0
        for arrays in self._table.blocks(positions, self._cells.problems, on_progress):
            last = first + len(arrays[0])
            if last > self._table.n_rows:
                break
            by_position = dict(zip(positions, arrays, strict=True))
            try:
                self._store_block(by_position, first, last)
            except (UnicodeDecodeError, pa.ArrowInvalid) as error:
                self._refuse_other_bytes(by_position, first)
                detail = f"expected valid values in the rows from {first + 1:,} to {last:,}, but found others"
                raise DatasetError.at(detail, file=self._table.file) from error
            first = last
        if first != self._table.n_rows and not self._cells.problems:
            raise DatasetError.at(
                f"expected {self._table.n_rows:,} complete rows, but found a different number",
                file=self._table.file,
            )

    def _refuse_other_bytes(self, arrays: dict[int, Any], first: int) -> None:
        """Refuse the first column that has a text with other bytes than UTF-8, at the row of this text."""
        for position in (position for position, array in arrays.items() if kind_of(array.type) == "text"):
            row = next((row for row, cell in enumerate(arrays[position]) if not _is_utf8(cell)), None)
            if row is None:
                continue
            name, unit = self._table.names[position], line_unit(self._table.format)
            (line,) = self._table.lines([self._table.record(first + row)])
            is_needed = position in self._columns.roles.by_role.values()
            remedy = "" if is_needed else f"; or name {name!r} in columns.ignore"
            detail = f"expected UTF-8 text, but found other bytes{remedy}"
            raise DatasetError(DatasetProblem(detail, self._table.file, line, name, unit=unit))

    def _store_block(self, arrays: dict[int, Any], first: int, last: int) -> None:
        cells = self._cells
        for position in self._positions_of("label"):
            self.labels[first:last] = cells.labels(arrays[position], position, first)
        for role, expected in (("query", "a query id"), ("document", "a document id")):
            for position in self._positions_of(role):
                cells.refuse_nested(arrays[position], position, expected)
        for position in self._positions_of("query"):
            self.queries[first:last] = self._query_codes(arrays[position], position, first)
        for position in self._positions_of("document"):
            ids = cells.identifiers(arrays[position], position, first)
            self.document_id_blocks.append(pc.fill_null(ids.texts, ""))
        if self.document_weights is not None:
            (position,) = self._positions_of("document_weight")
            self.document_weights[first:last] = cells.weights(arrays[position], position, first)
        for position, chunks in self._document_texts.values():
            chunks.append(cells.texts(arrays[position], position))
        for position in (*self._positions_of(QUERY_TEXT), *self._columns.query_columns):
            self._store_constant(position, cells.texts(arrays[position], position), first, last, str)
        for position in self._positions_of("query_weight"):
            weights = pa.array(cells.weights(arrays[position], position, first))
            self._store_constant(position, weights, first, last, float)
        self._fill_features(arrays, first, last)

    @np.errstate(invalid="ignore")  # a signalling NaN becomes a quiet one
    def _fill_features(self, arrays: dict[int, Any], first: int, last: int) -> None:
        spans = zip(self._columns.features, self._columns.widths, self._columns.spans, strict=True)
        for position, width, span in spans:
            block = self.features[first:last, span]
            if position in self._categories:
                block[:, 0] = self._category_codes(arrays[position], position, first)
            elif width is not None:
                block[:] = self._cells.lists(arrays[position], position, first, width)
            else:
                block[:, 0] = self._cells.float32(arrays[position], position, first, "a number")

    def _category_codes(self, column: Any, position: int, first: int) -> Float32Array:
        expected = "a text, true, false or a whole number"
        self._cells.refuse_nested(column, position, expected)
        categories = self._categories[position].take(column)
        self._cells.report("not_a_category", column, position, first, categories.invalid, expected)
        limit = f"at most {MAX_CHARACTERS:,} characters as a category"
        self._cells.report("long_category", column, position, first, categories.too_long, limit)
        if len(self._categories[position]) > self._max_categories:
            name = self._table.names[position]
            raise DatasetError.at(
                f"expected at most {self._max_categories:,} different values of the categorical feature"
                f" {name!r}, but found more in the first {first + len(column):,} rows; name it in"
                " columns.ignore, or numbers in columns.features",
                file=self._table.file,
                causes=cause_of_columns("many_categories", [name]),
            )
        return categories.codes

    def _query_codes(self, column: Any, position: int, first: int) -> Int64Array:
        """Return the position of each row's query in `query_ids`, to which new ids are added."""
        normalised = self._cells.identifiers(column, position, first)
        if kind_of(column.type) == "text":
            self.spellings.take(column, normalised)
        ids = pc.fill_null(normalised.texts, "")
        empty = np.flatnonzero(_is_empty(ids).to_numpy(zero_copy_only=False))
        empty = np.setdiff1d(empty, normalised.invalid)  # reported as `inexact_id`
        self._cells.report("empty_query_id", ids, position, first, empty, "a query id")
        encoded: Any = pc.dictionary_encode(ids)
        distinct = encoded.dictionary.to_pylist()
        positions = [self.query_ids.setdefault(name, len(self.query_ids)) for name in distinct]
        codes: Int64Array = np.array(positions, np.int64)[encoded.indices.to_numpy()]
        return codes

    def _store_constant(
        self, position: int, values: Any, first: int, last: int, kind: Callable[[Any], Any]
    ) -> None:
        """Store the value of a column that must be constant in each query."""
        of_queries = self._query_values[position]
        queries = self.queries[first:last]
        encoded: Any = pc.dictionary_encode(values)
        codes = encoded.indices.to_numpy().astype(np.int64)
        _, rows = np.unique(queries * len(encoded.dictionary) + codes, return_index=True)
        dictionary = encoded.dictionary.to_pylist()
        of_queries.extend([None] * (len(self.query_ids) - len(of_queries)))
        for row in np.sort(rows).tolist():
            query, value = int(queries[row]), kind(dictionary[codes[row]])
            if of_queries[query] is None:
                of_queries[query] = value
            elif of_queries[query] != value:
                self._report_different(position, first + row, query, value, of_queries[query])

    def _report_different(self, position: int, row: int, query: int, value: Any, earlier: Any) -> None:
        name = self._table.names[position]
        if self._cells.problems.has_enough("several_values", name):
            self._cells.problems.count("several_values", name, 1)
            return
        is_weight = position in self._positions_of("query_weight")
        has_ids = self._positions_of("document")
        of_documents = "" if has_ids else "columns.document if it has the ids of documents, in "
        remedy = (
            f"name the column in {of_documents}columns.categorical_features if it is a feature, else in"
            " columns.ignore"
        )
        if is_weight:
            remedy = "name the column in columns.document_weight if it has weights of documents"
        elif position in self._positions_of(QUERY_TEXT):
            remedy = "name the column in columns.ignore"
        query_id = shortened(list(self.query_ids)[query])
        later, first = (f"{each:g}" if is_weight else shortened(each) for each in (value, earlier))
        detail = (
            f"expected one value of {name!r} in query {query_id!r}, but found"
            f" {later!r} after {first!r}; {remedy}"
        )
        self._cells.problems.add("several_values", self._table.record(row), position, name, detail, later)


def _joined(chunks: Sequence[Any], order: Int64Array | None) -> Texts:
    texts = Texts.of_chunks(chunks)
    return texts if order is None else texts.take(order)


def _is_empty(values: Any) -> Any:
    return pc.equal(pc.binary_length(values), pa.scalar(0))


def _is_utf8(cell: Any) -> bool:
    try:
        value = cell.as_py()
        if isinstance(value, bytes):
            value.decode()
    except UnicodeDecodeError:
        return False
    return True
