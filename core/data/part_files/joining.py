"""Join several files to one dataset; the rows and values of a query are gathered from all files."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.data.categories import MAX_CATEGORIES, Categories
from core.data.dataset import RankingDataset
from core.data.features import new_matrix
from core.data.letor import feature_names
from core.data.letor_comments import MAX_COLUMNS
from core.data.options import Limits, ReadingOptions
from core.data.parquet import read_parquet
from core.data.part_files.part import Part
from core.data.result import MAX_EXAMPLES, Grouping, Reading, group_rows
from core.data.tables.table import line_unit
from core.data.texts import Texts, row_numbers
from core.errors import MAX_PROBLEMS, DatasetError, DatasetProblem
from core.names import shortened
from core.types import Float32Array, Float64Array, Int64Array, OnProgress

_WEIGHT = "query_weight"


class QueryValues:
    """Weights and columns of queries, which must have the same value in all parts.

    Args:
        n_queries: Number of queries of the joined dataset.
    """

    def __init__(self, n_queries: int) -> None:
        self._n_queries = n_queries
        self._values: dict[str, list[Any]] = {}
        self._weights: list[float | None] | None = None
        self._files: list[str] = []
        self._first_file = np.full(n_queries, -1, np.int64)
        self._problems: list[DatasetProblem] = []

    @property
    def weights(self) -> Float64Array | None:
        """(n_queries,) weights, None where there are none."""
        return None if self._weights is None else np.array(self._weights, np.float64)

    @property
    def columns(self) -> Mapping[str, tuple[str, ...]]:
        """The texts of the queries by name of the column."""
        return MappingProxyType({name: tuple(values) for name, values in self._values.items()})

    def add(self, part: Part, dataset: RankingDataset, queries: Int64Array) -> None:
        """Add the values of a part.

        Args:
            queries: (n_queries of the part,) their positions in the joined dataset.
        """
        self._files.append(part.file)
        if dataset.query_weights is not None:
            self._weights = self._weights or [None] * self._n_queries
            self._merge(part, _WEIGHT, self._weights, dataset.query_weights.tolist(), queries)
        for name, values in dataset.query_columns.items():
            joined = self._values.setdefault(name, [None] * self._n_queries)
            self._merge(part, name, joined, values, queries)
        is_new = self._first_file[queries] < 0
        self._first_file[queries[is_new]] = len(self._files) - 1

    def raise_problems(self) -> None:
        """Raise the collected problems, if any.

        Raises:
            DatasetError: A query has different values in several parts.
        """
        if self._problems:
            raise DatasetError(*self._problems[:MAX_PROBLEMS], more=len(self._problems) > MAX_PROBLEMS)

    def _merge(self, part: Part, name: str, joined: list[Any], values: Any, queries: Int64Array) -> None:
        """Store the values of a part in `joined`, and record those that differ from an earlier part's."""
        for query_of_part, (query, value) in enumerate(zip(queries.tolist(), values, strict=True)):
            if joined[query] is None:
                joined[query] = value
            elif joined[query] != value and len(self._problems) <= MAX_PROBLEMS:
                earlier = f"{shortened(str(joined[query]))} in {self._files[self._first_file[query]]}"
                text = shortened(str(value))
                self._problems.append(_different_values(part, name, query_of_part, text, earlier))


def _different_values(part: Part, name: str, query: int, value: str, earlier: str) -> DatasetProblem:
    row = int(part.run_starts[np.argmax(part.run_queries == query)])
    query_id = shortened(part.query_ids[query])
    return DatasetProblem(
        f"expected one value of {name!r} in query {query_id!r} in all files, but found {value!r} after"
        f" {earlier}",
        part.file,
        row + 1 if part.format == "parquet" else None,
        name,
        value,
        line_unit(part.format),
    )


def join_parts(
    parts: Sequence[Part],
    options: ReadingOptions,
    limits: Limits,
    on_progress: OnProgress | None = None,
) -> Reading:
    """Join parts to the dataset that a single file with all rows in this order would have.

    Features that a part of LETOR text lacks are 0. Documents without an id are numbered in the joined query.

    Args:
        parts: In the order of their rows.
        on_progress: Called with the number of documents done and their total; may raise to stop.

    Raises:
        DatasetError: The parts contradict each other, or the joined dataset would be too large.
        InvalidInput: `feature_names` names a feature that no part has.
    """
    grouping, scattered = _grouping_and_scattered(parts)
    _check_size(parts, limits)
    if scattered and options.non_contiguous_queries == "error":
        raise _scattered_error(parts, grouping, scattered)
    join = _Join(parts, grouping)
    done = 0
    for number, part in enumerate(parts):
        join.add_part(number)
        done += part.n_documents
        if on_progress is not None:
            on_progress(done, len(join.labels))
    return Reading(
        join.dataset(options),
        parts[0].format,
        scattered_queries=len(scattered),
        scattered_examples=tuple(grouping.query_ids[query] for query, _, _ in scattered[:MAX_EXAMPLES]),
        several_spellings=tuple(dict.fromkeys(name for part in parts for name in part.several_spellings)),
        size_bytes=sum(part.size_bytes for part in parts),
    )


def _grouping_and_scattered(
    parts: Sequence[Part],
) -> tuple[Grouping, tuple[tuple[int, int, int], ...]]:
    """Return the queries of the joined dataset, and those that are not contiguous in the files.

    The rows of each part are already sorted by query. Queries that were not contiguous in a file are found
    by the part's runs, which are in the order of the file.

    Returns:
        The grouping; and for each query that is not contiguous: position, the row after its first run, and
        the row at which it continues.
    """
    grouping = _grouped(parts, [(part.query_boundaries[:-1], part.query_ids) for part in parts])
    if not any(part.has_scattered_queries for part in parts):
        return grouping, grouping.scattered
    runs = [(part.run_starts, [part.query_ids[query] for query in part.run_queries]) for part in parts]
    return grouping, _grouped(parts, runs).scattered


def _grouped(parts: Sequence[Part], runs: Sequence[tuple[Int64Array, Sequence[str]]]) -> Grouping:
    ids = [name for _, names in runs for name in names]
    *first_rows, n_rows = _first_rows(parts)
    starts = np.concatenate(
        [first + part_starts for first, (part_starts, _) in zip(first_rows, runs, strict=True)]
    )
    return group_rows(ids, starts, n_rows)


def _first_rows(parts: Sequence[Part]) -> list[int]:
    """Return the first row of each part in the joined dataset, followed by the number of all rows."""
    return list(accumulate((part.n_documents for part in parts), initial=0))


def _feature_ids(parts: Sequence[Part]) -> range:
    """Return the ids of the features that any part has."""
    return range(min(part.first_id for part in parts), max(part.last_id for part in parts) + 1)


def _check_size(parts: Sequence[Part], limits: Limits) -> None:
    n_documents = sum(part.n_documents for part in parts)
    files = f"{parts[0].file} to {parts[-1].file}"
    limits.check_documents(n_documents, files)
    n_features = len(_feature_ids(parts))
    oversize = limits.oversize(n_documents, n_features, sum(part.size_bytes for part in parts))
    if oversize is not None:
        raise DatasetError.at(oversize, file=files)


def _scattered_error(
    parts: Sequence[Part], grouping: Grouping, scattered: Sequence[tuple[int, int, int]]
) -> DatasetError:
    """Build the error for queries whose rows are not contiguous in the files."""
    first_rows = np.array(_first_rows(parts))
    problems = []
    for query, stop, row in scattered[:MAX_PROBLEMS]:
        earlier, later = (np.searchsorted(first_rows, [stop - 1, row], "right") - 1).tolist()
        part, name = parts[later], grouping.query_ids[query]
        detail = (
            f"expected the rows of query {name!r} to be contiguous, but they stopped in {parts[earlier].file}"
        )
        line = row - int(first_rows[later]) + 1 if part.format == "parquet" else None
        problems.append(DatasetProblem(detail, part.file, line, None, name, line_unit(part.format)))
    return DatasetError(*problems, more=len(scattered) > MAX_PROBLEMS)


class _Join:
    """The arrays of the joined dataset, filled part by part."""

    def __init__(self, parts: Sequence[Part], grouping: Grouping) -> None:
        self._parts = parts
        self._grouping = grouping
        self._first_rows = _first_rows(parts)
        n_documents = self._first_rows[-1]
        self._target_rows: Int64Array | None = None
        if grouping.order is not None:
            self._target_rows = np.empty(n_documents, np.int64)
            self._target_rows[grouping.order] = np.arange(n_documents)
        self._query_numbers = {name: query for query, name in enumerate(grouping.query_ids)}
        self._first_id = _feature_ids(parts).start
        self.features: Float32Array = new_matrix(n_documents, len(_feature_ids(parts)))
        self.labels: Float32Array = np.empty(n_documents, np.float32)
        self._weights: Float64Array | None = None
        self._names: tuple[str, ...] = ()
        self._document_ids: list[Texts] = []
        self._document_columns: list[Mapping[str, Texts]] = []
        self._categories: dict[str, dict[str, None]] = {}
        self._query_values = QueryValues(len(grouping.query_ids))

    def add_part(self, number: int) -> None:
        """Copy the rows of a part to their target rows; parts are numbered from 0."""
        part = self._parts[number]
        dataset = read_parquet(pa.BufferReader(pa.py_buffer(part.rows)))  # type: ignore[arg-type]
        first, last = self._first_rows[number : number + 2]
        rows: Any = slice(first, last) if self._target_rows is None else self._target_rows[first:last]
        features = dataset.matrix
        for column in dataset.categorical_columns:
            name = dataset.feature_names[column]
            features[:, column] = self._recoded(part, name, dataset.categories[name], features[:, column])
        first_column = part.first_id - self._first_id
        self.features[rows, first_column : first_column + dataset.n_features] = features
        self.labels[rows] = dataset.labels
        if dataset.document_weights is not None:
            if self._weights is None:
                self._weights = np.empty(len(self.labels))
            self._weights[rows] = dataset.document_weights
        self._document_ids.append(dataset.document_ids)
        self._document_columns.append(dataset.document_columns)
        queries = np.array([self._query_numbers[name] for name in dataset.query_ids], np.int64)
        self._query_values.add(part, dataset, queries)
        self._names = max(self._names, dataset.feature_names, key=len)

    def dataset(self, options: ReadingOptions) -> RankingDataset:
        """Build the dataset of all parts.

        Raises:
            DatasetError: Parts have different weights or columns of a query.
            InvalidInput: `feature_names` names a feature that no part has.
        """
        self._query_values.raise_problems()
        boundaries = self._grouping.query_boundaries
        names = self._names
        if self._parts[0].format == "letor":
            names = feature_names(self._first_id, self.features.shape[1], options.feature_names)
        return RankingDataset(
            features=self.features,
            labels=self.labels,
            query_boundaries=boundaries,
            query_ids=self._grouping.query_ids,
            document_ids=self._ids(boundaries),
            feature_names=names,
            query_weights=self._query_values.weights,
            document_weights=self._weights,
            query_columns=self._query_values.columns,
            document_columns=self._columns(),
            categories=MappingProxyType(
                {name: Categories(tuple(values)) for name, values in self._categories.items()}
            ),
        )

    def _recoded(self, part: Part, name: str, categories: Categories, codes: Float32Array) -> Float32Array:
        """Recode a part's column to the categories of all parts, which are in order of first appearance."""
        values = self._categories.setdefault(name, {})
        values.update(dict.fromkeys(categories.values))
        if len(values) > MAX_CATEGORIES:
            raise DatasetError.at(
                f"expected at most {MAX_CATEGORIES:,} different values of the categorical feature {name!r} in"
                " all files, but found more; name it in columns.ignore",
                file=part.file,
                column=name,
            )
        return Categories(tuple(values)).recoded(codes, categories)

    def _ids(self, boundaries: Int64Array) -> Texts:
        numbers = row_numbers(boundaries)
        if all(part.named is None or not part.named.any() for part in self._parts):
            return numbers
        ids = self._ordered(self._document_ids)
        named = np.concatenate(
            [
                np.zeros(part.n_documents, np.bool_) if part.named is None else part.named
                for part in self._parts
            ]
        )
        if self._grouping.order is not None:
            named = named[self._grouping.order]
        return Texts(pc.if_else(pa.array(named), ids.array, numbers.array))

    def _columns(self) -> Mapping[str, Texts]:
        """Join the columns of documents; where a part lacks one, its texts are empty."""
        names = dict.fromkeys(name for columns in self._document_columns for name in columns)
        columns_by_name = {
            name: self._ordered(
                [
                    columns[name] if name in columns else Texts.of([""] * part.n_documents)
                    for part, columns in zip(self._parts, self._document_columns, strict=True)
                ]
            )
            for name in names
        }
        if self._parts[0].format == "letor":  # order columns by the first document with a value
            ordered = sorted(names, key=lambda name: _first_filled(columns_by_name[name]))
            names = dict.fromkeys(ordered[:MAX_COLUMNS])
        return MappingProxyType({name: columns_by_name[name] for name in names})

    def _ordered(self, texts: Sequence[Texts]) -> Texts:
        whole = Texts.of_parts(*texts)
        return whole if self._grouping.order is None else whole.take(self._grouping.order)


def _first_filled(texts: Texts) -> int:
    """Return the position of the first text that is not empty."""
    lengths: Any = pc.binary_length(texts.array)
    return int(np.argmax(lengths.to_numpy(zero_copy_only=False) > 0))
