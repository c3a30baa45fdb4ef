"""Build a dataset from a table: labels, queries, features and other columns."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from core.data.categories import MAX_CATEGORIES, MAX_CHARACTERS
from core.data.dataset import RankingDataset
from core.data.feature_blocks import block_features
from core.data.features import new_matrix
from core.data.grouping import Grouping, group_rows, permute_rows
from core.data.lightgbm import query_boundaries
from core.data.options import DOCUMENT_TITLE, DOCUMENT_URL, QUERY_TEXT, Limits, ReadingOptions
from core.data.packing import Progress
from core.data.result import MAX_EXAMPLES, Reading
from core.data.tables.category_column import CategoryColumn
from core.data.tables.cells import Kind, are_decimal_commas, cell_text, kind_of, numbers, plain_texts
from core.data.tables.number_lists import read_lists
from core.data.tables.problems import MAX_PROBLEMS, Problems, cause_of_columns, listed, shortened
from core.data.tables.roles import Roles, find_roles
from core.data.tables.table import Table
from core.data.texts import Texts, row_numbers
from core.errors import DatasetError, InputProblem, InvalidInput
from core.types import Float32Array, Float64Array, Int64Array
from rankery.identifiers import EXPECTED, NormalisedIds, SeveralSpellings, normalise_column

_FLOAT32_MAX = float(np.finfo(np.float32).max)
# Per column and block; one cell more than is shown reveals that there are more.
_MAX_REPORTED_CELLS = MAX_PROBLEMS + 1
_HALFWAY = _FLOAT32_MAX + 2.0**103  # from here on float32 rounds to infinity


def read_table(
    table: Table,
    options: ReadingOptions | None = None,
    limits: Limits | None = None,
    *,
    query_sizes: Int64Array | None = None,
    labelled: bool = True,
    on_progress: Progress | None = None,
) -> Reading:
    """Build a dataset from a table.

    Args:
        table: The rows.
        options: Column roles, treatment of scattered queries, and feature names by column.
        limits: Size limits of the matrix.
        query_sizes: (n_queries,) documents of each query, where the table has no query column.
        labelled: Whether a label column is required; without a label column, all labels are 0.
        on_progress: Called with the number of bytes or rows done and their total; may raise to stop.

    Raises:
        DatasetError: With up to 100 invalid cells, or problems of the columns.
        InvalidInput: When `feature_names` names a column that is not a feature.
    """
    options, limits = options or ReadingOptions(), limits or Limits()
    limits.check_documents(table.n_rows, table.file)
    if len(table.names) > limits.features:
        raise DatasetError.at(
            f"expected at most {limits.features:,} columns, but found {len(table.names):,}", file=table.file
        )
    columns = _columns(table, options, has_sizes=query_sizes is not None, labelled=labelled)
    if columns.n_features > limits.features:
        raise DatasetError.at(
            f"expected at most {limits.features:,} features, but the columns and their lists hold"
            f" {columns.n_features:,}",
            file=table.file,
        )
    names = _feature_names(table, columns, options)
    oversize = limits.oversize(table.n_rows, columns.n_features, table.size_bytes)
    if oversize is not None:
        raise DatasetError.at(oversize, file=table.file)
    if query_sizes is not None:
        boundaries = query_boundaries(query_sizes, table.n_rows, table.file)
        rows = _Rows(table, columns, on_progress, boundaries)
        return Reading(rows.with_sizes(names, boundaries), "lightgbm")
    rows = _Rows(table, columns, on_progress)
    grouping = rows.grouping()
    if grouping.scattered and options.non_contiguous_queries == "error":
        rows.refuse_scattered(grouping)
    dataset = rows.grouped(names, grouping)
    return Reading(
        dataset,
        table.format,
        scattered_queries=len(grouping.scattered),
        scattered_examples=tuple(grouping.query_ids[found[0]] for found in grouping.scattered[:MAX_EXAMPLES]),
        several_spellings=tuple(rows.spellings.several),
        grouping=grouping,
        named=rows.named(grouping.order),
        size_bytes=table.size_bytes,
    )


@dataclass(frozen=True)
class _Columns:
    """Positions of columns by role.

    Attributes:
        roles: Roles that were requested or detected.
        features: Positions of the feature columns.
        query_columns: Positions of the columns that are stored as query metadata.
        widths: Length of the lists of each feature column, None for columns without lists.
    """

    roles: Roles
    features: tuple[int, ...]
    query_columns: tuple[int, ...]
    widths: tuple[int | None, ...]

    @property
    def n_features(self) -> int:
        return sum(width or 1 for width in self.widths)

    @property
    def spans(self) -> list[slice]:
        """Slice of the feature matrix of each feature column."""
        bounds = accumulate((width or 1 for width in self.widths), initial=0)
        return [slice(first, last) for first, last in pairwise(bounds)]

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of all columns that are read."""
        roles = self.roles
        return (*roles.by_role.values(), *self.query_columns, *roles.document_columns, *self.features)


def _columns(table: Table, options: ReadingOptions, *, has_sizes: bool, labelled: bool) -> _Columns:
    required = [role for role, is_required in (("label", labelled), ("query", not has_sizes)) if is_required]
    kinds = table.kinds()
    roles = find_roles(
        table.names,
        options.columns,
        table.file,
        table.header_line,
        detect=not has_sizes,
        required=required,
        texts=_of_kind(table.names, kinds, "text"),
        lists=_of_kind(table.names, kinds, "list"),
    )
    if has_sizes and labelled:
        by_role = {**roles.by_role}
        by_role.setdefault("label", 0)
        rest = tuple(position for position in roles.rest if position != by_role["label"])
        roles = replace(roles, by_role=by_role, rest=rest)
    nested = [table.names[p] for p in roles.rest if kinds[p] == "neither"]
    if nested:
        raise DatasetError.at(
            f"expected columns of numbers, text or lists of numbers, but {listed(nested)} have"
            " other types; remove the columns or name them in columns.ignore",
            file=table.file,
            line=table.header_line,
            causes=cause_of_columns("nested_values", nested),
        )
    features = roles.features
    if features is None:
        of_numbers = tuple(position for position in roles.rest if kinds[position] in ("number", "list"))
        features = tuple(sorted((*of_numbers, *roles.categorical_features)))
    else:
        features = (*features, *roles.categorical_features)
    if not features:
        raise DatasetError.at(
            f"expected feature columns (numbers), but found none among {listed(table.names)}",
            file=table.file,
            line=table.header_line,
        )
    other_text_columns = tuple(p for p in roles.rest if kinds[p] == "text" and p not in features)
    query_columns = (*roles.query_columns, *other_text_columns)
    if QUERY_TEXT in roles.by_role and QUERY_TEXT in (table.names[position] for position in query_columns):
        raise DatasetError.at(
            f"expected no column {QUERY_TEXT!r} in addition to the column that columns.{QUERY_TEXT} names;"
            f" name {QUERY_TEXT!r} in columns.ignore",
            file=table.file,
            line=table.header_line,
            column=QUERY_TEXT,
        )
    widths = table.widths()
    of_lists = (widths[position] if kinds[position] == "list" else None for position in features)
    return _Columns(roles, features, query_columns, tuple(of_lists))


def _of_kind(names: Sequence[str], kinds: Sequence[Kind], kind: Kind) -> list[str]:
    return [name for name, each in zip(names, kinds, strict=True) if each == kind]


def _feature_names(table: Table, found: _Columns, options: ReadingOptions) -> tuple[str, ...]:
    columns = [table.names[position] for position in found.features]
    unknown = sorted(set(options.feature_names).difference(columns))
    if unknown:
        known = f"is not a feature column; feature columns are {listed(columns)}"
        raise InvalidInput(*(InputProblem(f"/feature_names/{name}", known) for name in unknown))
    names: list[str] = []
    for column, width in zip(columns, found.widths, strict=True):
        name = options.feature_names.get(column, column)
        names += [name] if width is None else block_features(name, width)
    if len(set(names)) < len(names):
        if not options.feature_names:
            raise _clash(table, columns, found.widths, names)
        raise InvalidInput.at("/feature_names", "must all be different")
    return tuple(names)


def _clash(
    table: Table, columns: Sequence[str], widths: Sequence[int | None], names: Sequence[str]
) -> DatasetError:
    """Build the error for a column of lists whose features have the name of another column."""
    repeated = {name for name, times in Counter(names).items() if times > 1}
    column, taken = next(
        (column, name)
        for column, width in zip(columns, widths, strict=True)
        if width is not None
        for name in block_features(column, width)
        if name in repeated
    )
    return DatasetError.at(
        f"expected no column {taken!r}, because the lists of column {column!r} become the features"
        f" {column}.0, {column}.1, …; rename one of the columns or name it in columns.ignore",
        file=table.file,
        line=table.header_line,
        column=column,
    )


class _Rows:
    """All rows of a table as arrays, in file order."""

    def __init__(
        self,
        table: Table,
        columns: _Columns,
        on_progress: Progress | None,
        boundaries: Int64Array | None = None,
    ) -> None:
        self._table = table
        self._columns = columns
        self._problems = Problems()
        for position in columns.positions:
            if position not in (columns.roles.by_role.get("label"), columns.roles.by_role.get("query")):
                self._problems.may_ignore(table.names[position])
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
        shown = {
            role: roles.by_role[role] for role in (DOCUMENT_TITLE, DOCUMENT_URL) if role in roles.by_role
        }
        # Position and texts of document columns, by stored name.
        self._document_texts: dict[str, tuple[int, list[Any]]] = {
            name: (position, [])
            for name, position in {
                **shown,
                **{table.names[position]: position for position in roles.document_columns},
            }.items()
        }
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
        if self._problems:
            self._problems.fail(table.file, table.lines)

    def grouping(self) -> Grouping:
        """Gather the rows into queries."""
        starts = np.flatnonzero(np.diff(self.queries, prepend=-1))
        ids = list(self.query_ids)
        return group_rows([ids[query] for query in self.queries[starts].tolist()], starts, len(self.queries))

    def refuse_scattered(self, grouping: Grouping) -> None:
        """Refuse rows of queries that are not contiguous."""
        for query, stop, row in grouping.scattered:
            name = grouping.query_ids[query]
            before = self._table.lines([stop - 1])[0]
            detail = (
                f"expected the rows of query {shortened(name)!r} to be contiguous, but they stopped on line"
            )
            record = self._table.record(row)
            self._problems.add("scattered_query", record, 0, None, f"{detail} {before}", shortened(name))
        self._problems.fail(self._table.file, self._table.lines)

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
                name: tuple(self._query_values[position]) for name, position in self._kept_columns().items()
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

    def named(self, order: Int64Array | None) -> npt.NDArray[np.bool_] | None:
        """Return the mask of documents that have an id in the table, None where no document has one."""
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

    def _kept_columns(self) -> dict[str, int]:
        """Return the positions of the query columns, and of the query text, by stored name."""
        columns = {self._table.names[position]: position for position in self._columns.query_columns}
        for position in self._positions_of(QUERY_TEXT):
            columns[QUERY_TEXT] = position
        return columns

    def _positions_of(self, role: str) -> tuple[int, ...]:
        position = self._columns.roles.by_role.get(role)
        return () if position is None else (position,)

    def _read(self, on_progress: Progress | None) -> None:
        positions = self._columns.positions
        first = 0
        for arrays in self._table.blocks(positions, self._problems, on_progress):
            last = first + len(arrays[0])
            if last > self._table.n_rows:
                break
            try:
                self._take(dict(zip(positions, arrays, strict=True)), first, last)
            except (UnicodeDecodeError, pa.ArrowInvalid) as error:
                detail = (
                    f"expected UTF-8 text in the rows from {first + 1:,} to {last:,}, but found other bytes"
                )
                raise DatasetError.at(detail, file=self._table.file) from error
            first = last
        if first != self._table.n_rows and not self._problems:
            raise DatasetError.at(
                f"expected {self._table.n_rows:,} complete rows, but found a different number",
                file=self._table.file,
            )

    def _take(self, arrays: dict[int, Any], first: int, last: int) -> None:
        by_role = self._columns.roles.by_role
        if "label" in by_role:
            label = self._float32(arrays, by_role["label"], first, "a label, a number such as 2")
            self._refuse_infinite(arrays[by_role["label"]], label, by_role["label"], first)
            self.labels[first:last] = label
        for role, expected in (("query", "a query id"), ("document", "a document id")):
            if role in by_role:
                self._refuse_nested(arrays[by_role[role]], by_role[role], expected)
        if "query" in by_role:
            self.queries[first:last] = self._query_codes(arrays[by_role["query"]], by_role["query"], first)
        if "document" in by_role:
            found = self._identifiers(arrays[by_role["document"]], by_role["document"], first)
            self.document_id_blocks.append(pc.fill_null(found.texts, ""))
        if self.document_weights is not None:
            position = by_role["document_weight"]
            self.document_weights[first:last] = self._weights(arrays, position, first)
        for position, chunks in self._document_texts.values():
            self._refuse_nested(arrays[position], position, "a text")
            chunks.append(plain_texts(arrays[position]))
        for position in (*self._positions_of(QUERY_TEXT), *self._columns.query_columns):
            self._refuse_nested(arrays[position], position, "a text")
            self._keep_constant(position, plain_texts(arrays[position]), first, last, str)
        for position in self._positions_of("query_weight"):
            weights = pa.array(self._weights(arrays, position, first))
            self._keep_constant(position, weights, first, last, float)
        self._fill_features(arrays, first, last)

    @np.errstate(invalid="ignore")  # a signalling NaN becomes a quiet one
    def _fill_features(self, arrays: dict[int, Any], first: int, last: int) -> None:
        spans = zip(self._columns.features, self._columns.widths, self._columns.spans, strict=True)
        for position, width, span in spans:
            block = self.features[first:last, span]
            if position in self._categories:
                block[:, 0] = self._category_codes(arrays[position], position, first)
            elif width is not None:
                block[:] = self._lists(arrays[position], position, first, width)
            else:
                block[:, 0] = self._float32(arrays, position, first, "a number")

    def _category_codes(self, column: Any, position: int, first: int) -> Float32Array:
        expected = "a text, true, false or a whole number"
        self._refuse_nested(column, position, expected)
        found = self._categories[position].take(column)
        self._refuse("not_a_category", position, first, column, found.unfit, expected)
        most = f"at most {MAX_CHARACTERS:,} characters as a category"
        self._refuse("long_category", position, first, column, found.too_long, most)
        if self._categories[position].is_full:
            name = self._table.names[position]
            raise DatasetError.at(
                f"expected at most {MAX_CATEGORIES:,} different values of the categorical feature {name!r},"
                f" but found more in the first {first + len(column):,} rows; name it in columns.ignore",
                file=self._table.file,
                causes=cause_of_columns("many_categories", [name]),
            )
        return found.codes

    def _refuse_nested(self, column: Any, position: int, expected: str) -> None:
        if kind_of(column.type) in ("list", "neither"):
            raise DatasetError.at(
                f"expected {expected}, but column {self._table.names[position]!r} holds {column.type}",
                file=self._table.file,
            )

    def _numbers(self, arrays: dict[int, Any], position: int, first: int, expected: str) -> Float64Array:
        column = arrays[position]
        self._refuse_nested(column, position, expected)
        values, wrong = numbers(column)
        if len(wrong):
            commas = are_decimal_commas(column.take(pa.array(wrong)))
            self._refuse("not_a_number", position, first, column, wrong[~commas], expected)
            with_point = f"{expected}, with a point instead of a comma"
            self._refuse("decimal_comma", position, first, column, wrong[commas], with_point)
        return values

    def _float32(self, arrays: dict[int, Any], position: int, first: int, expected: str) -> Float64Array:
        values = self._numbers(arrays, position, first, expected)
        column = arrays[position]
        large = np.flatnonzero(np.isfinite(values) & (np.abs(values) >= _HALFWAY))
        within = f"{expected} within float32's range of 3.4e38"
        self._refuse("out_of_range", position, first, column, large, within)
        values[large] = np.nan
        return values

    def _lists(self, column: Any, position: int, first: int, width: int) -> Float64Array:
        found = read_lists(column, width)
        expected = f"expected a list of {width:,} numbers as in the first rows"
        for row in found.unfit[:_MAX_REPORTED_CELLS].tolist():
            length = f"a list of {found.lengths[row]:,}"
            self._add("list_length", position, first + row, f"{expected}, but found {length}", length)
        self._problems.count(
            "list_length", self._table.names[position], len(found.unfit[_MAX_REPORTED_CELLS:])
        )
        self._refuse_large(found.values, position, first)
        return found.values

    def _refuse_large(self, values: Float64Array, position: int, first: int) -> None:
        """Add a problem for list numbers that float32 rounds to infinity, and replace them by NaN."""
        is_large = np.isfinite(values) & (np.abs(values) >= _HALFWAY)
        if not is_large.any():
            return
        name = self._table.names[position]
        large = np.argwhere(is_large)
        for row, number in large[:_MAX_REPORTED_CELLS].tolist():
            found = str(values[row, number])
            expected = f"expected {name}.{number} within float32's range of 3.4e38"
            self._add("out_of_range", position, first + row, f"{expected}, but found {found}", found)
        self._problems.count("out_of_range", name, len(large[_MAX_REPORTED_CELLS:]))
        values[is_large] = np.nan

    def _refuse(
        self, cause: str, position: int, first: int, column: Any, wrong: Int64Array, expected: str
    ) -> None:
        """Add the wrong cells of a block, whose first row is `first`; `wrong` are rows within the block."""
        for row in wrong[:_MAX_REPORTED_CELLS].tolist():
            found = cell_text(column, row)
            shown = repr(shortened(found)) if found else "an empty cell"
            self._add(cause, position, first + row, f"expected {expected}, but found {shown}", found)
        self._problems.count(cause, self._table.names[position], len(wrong[_MAX_REPORTED_CELLS:]))

    def _add(self, cause: str, position: int, row: int, detail: str, found: str) -> None:
        """Add a wrong cell; `row` is counted from the first row of the table."""
        name = self._table.names[position]
        is_required = position in self._columns.roles.by_role.values()
        remedy = "" if is_required else f"; or name {name!r} in columns.ignore"
        self._problems.add(cause, self._table.record(row), position, name, detail + remedy, shortened(found))

    def _refuse_infinite(self, column: Any, labels: Float64Array, position: int, first: int) -> None:
        infinite = np.flatnonzero(np.isinf(labels))
        self._refuse("infinite_label", position, first, column, infinite, "a finite label")

    def _weights(self, arrays: dict[int, Any], position: int, first: int) -> Float64Array:
        column = arrays[position]
        weights = self._numbers(arrays, position, first, "a weight of at least 0")
        unfit = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        self._refuse("unfit_weight", position, first, column, unfit, "a finite weight of at least 0")
        return weights

    def _query_codes(self, column: Any, position: int, first: int) -> Int64Array:
        spelling = self._identifiers(column, position, first)
        if kind_of(column.type) == "text":
            self.spellings.take(column, spelling)
        values = pc.fill_null(spelling.texts, "")
        empty = np.flatnonzero(_is_empty(values).to_numpy(zero_copy_only=False))
        self._refuse("empty_query_id", position, first, values, empty, "a query id")
        encoded: Any = pc.dictionary_encode(values)
        names = encoded.dictionary.to_pylist()
        known = [self.query_ids.setdefault(name, len(self.query_ids)) for name in names]
        codes: Int64Array = np.array(known, np.int64)[encoded.indices.to_numpy()]
        return codes

    def _identifiers(self, column: Any, position: int, first: int) -> NormalisedIds:
        found = normalise_column(column)
        self._refuse("inexact_id", position, first, column, found.unfit, EXPECTED)
        return found

    def _keep_constant(
        self, position: int, values: Any, first: int, last: int, kind: Callable[[Any], Any]
    ) -> None:
        """Store the value of a column that must be constant in each query."""
        kept = self._query_values[position]
        queries = self.queries[first:last]
        encoded: Any = pc.dictionary_encode(values)
        codes = encoded.indices.to_numpy().astype(np.int64)
        _, rows = np.unique(queries * len(encoded.dictionary) + codes, return_index=True)
        dictionary = encoded.dictionary.to_pylist()
        kept.extend([None] * (len(self.query_ids) - len(kept)))
        for row in np.sort(rows).tolist():
            query, value = int(queries[row]), kind(dictionary[codes[row]])
            if kept[query] is None:
                kept[query] = value
            elif kept[query] != value:
                self._differs(position, first + row, query, kept[query], value)

    def _differs(self, position: int, row: int, query: int, kept: Any, value: Any) -> None:
        name = self._table.names[position]
        if self._problems.enough("several_values", name):
            self._problems.count("several_values", name, 1)
            return
        is_weight = position in self._positions_of("query_weight")
        remedy = "name the column in columns.categorical_features if it is a feature, else in columns.ignore"
        if is_weight:
            remedy = "name the column in columns.document_weight if it has weights of documents"
        elif position in self._positions_of(QUERY_TEXT):
            remedy = "name the column in columns.ignore"
        query_id = shortened(list(self.query_ids)[query])
        found, before = (f"{each:g}" if is_weight else shortened(each) for each in (value, kept))
        detail = (
            f"expected one value of {name!r} in query {query_id!r}, but found"
            f" {found!r} after {before!r}; {remedy}"
        )
        self._problems.add("several_values", self._table.record(row), position, name, detail, found)


def _joined(chunks: Sequence[Any], order: Int64Array | None) -> Texts:
    array: Any = pa.chunked_array(chunks, pa.large_string()).combine_chunks()
    return Texts(array) if order is None else Texts(array).take(order)


def _is_empty(values: Any) -> Any:
    return pc.equal(pc.binary_length(values), pa.scalar(0))
