"""Candidates of an Arrow table, and the Arrow table of the response."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from starlette.responses import Response

from app.http.bodies import JsonRequest
from app.scoring.arrow_headers import DeclaredStream, damaged, validated_stream
from app.scoring.candidates import CandidateIds, CandidateReader
from app.scoring.limits import max_documents
from app.scoring.schemas import MAX_TOP_K
from app.scoring.served_models import FEATURES_MEMBER, ServedModel
from app.scoring.threads import MAX_INLINE_TABLE_BYTES, run_inline_or_threaded
from app.served.rankings import Viewer
from app.served.routes import MAX_ID_LENGTH
from app.settings import ApiSettings
from core.data.tables.cells import read_lists
from core.errors import InvalidInput, pointer_of
from core.types import Float64Array, FloatArray, Int64Array


def read_table(stream: DeclaredStream, pointer: str) -> pa.Table:
    """Read the record batches of a stream with validated headers.

    Raises:
        InvalidInput: The stream is damaged, or two columns have the same name.
    """
    try:
        with pa.ipc.open_stream(stream.content) as reader:
            _check_names(reader.schema.names, pointer)
            batches = list(reader)
            for batch in batches:
                batch.validate(full=True)
            return pa.Table.from_batches(batches, reader.schema)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise damaged(pointer, error) from error


def _check_names(names: list[str], pointer: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidInput.at(f"{pointer}{name}", "two columns have this name")
        seen.add(name)


MEDIA_TYPE = "application/vnd.apache.arrow.stream"
QUERY, DOCUMENT = "query_id", "document_id"
_POINTER = "/"


@dataclass(frozen=True)
class ArrowReader(CandidateReader):
    """A body that is an Arrow IPC stream.

    A row is a document. `query_id` is required for several queries, and `document_id` is optional. A
    feature is a column of numbers, a categorical feature a column of texts, and a block of features a column
    of fixed-size lists. A single column `features` may have lists of all features in the model's order.
    Omitted columns and nulls are missing values.

    Attributes:
        request: The request, whose parameter `top_k` is the number of documents to return per query.
    """

    request: JsonRequest

    async def read(self, model: ServedModel, settings: ApiSettings) -> "TableCandidates":
        """Return the candidates. Only the headers are read here: they declare the number of rows."""
        content = await self.request.body()
        top_k = _top_k(self.request.query_params.get("top_k"))
        n_features = len(model.feature_names)
        max_columns, max_rows = n_features + len((QUERY, DOCUMENT)), max_documents(n_features, settings)
        return await run_inline_or_threaded(
            lambda: TableCandidates(validated_stream(content, _POINTER, max_columns, max_rows), top_k),
            fits_event_loop=len(content) <= MAX_INLINE_TABLE_BYTES,
        )


@dataclass(frozen=True)
class TableCandidates:
    """A table of candidates with validated headers.

    Attributes:
        top_k: Documents to return per query, or None for all.
    """

    stream: DeclaredStream
    top_k: int | None

    @property
    def n_documents(self) -> int:
        """The number of rows of all batches."""
        return self.stream.rows

    @cached_property
    def _table(self) -> pa.Table:
        return read_table(self.stream, _POINTER)

    @cached_property
    def _query_numbers(self) -> Int64Array:
        return _query_numbers_of(self._table)

    def matrix(self, model: ServedModel) -> FloatArray:
        """Return the features.

        Raises:
            InvalidInput: The stream is damaged, or its columns do not fit the model.
        """
        features = _features(self._table, model)
        _check_document_ids(self._table, self._query_numbers)
        return features

    def ids(self) -> CandidateIds:
        """Return the ids of the queries and documents."""
        starts = np.flatnonzero(np.diff(self._query_numbers, prepend=-1)).tolist()
        queries, documents = (_texts(self._table, name) for name in (QUERY, DOCUMENT))
        ends = [*starts[1:], len(self._table)]
        return CandidateIds(
            [queries[start] for start in starts],
            [documents[start:end] for start, end in zip(starts, ends, strict=True)],
        )

    @property
    def keep(self) -> bool:
        """Whether users see the rankings: the entry `keep` of the table's metadata is `true`."""
        return self._entry("keep") == "true"

    @property
    def viewer(self) -> Viewer:
        """The viewer: the entries `user` and `session` of the table's metadata."""
        return Viewer(self._entry("user"), self._entry("session"))

    def _entry(self, name: str) -> str | None:
        value = (self._table.schema.metadata or {}).get(name.encode())
        if value is None:
            return None
        if len(value) > MAX_ID_LENGTH:
            raise InvalidInput.at(pointer_of(name), f"must have at most {MAX_ID_LENGTH} bytes")
        return str(value.decode(errors="replace"))

    def rankings(self, scores: Float64Array) -> list[tuple[str, list[str]]]:
        """Return each query with its returned documents, best first.

        Raises:
            InvalidInput: The table has no column `query_id` or no column `document_id`.
        """
        for name in (QUERY, DOCUMENT):
            if name not in self._table.column_names:
                raise InvalidInput.at(pointer_of(name), "required to store the rankings")
        ids, (order, _) = self.ids(), self._ordered(scores)
        documents = _texts(self._table, DOCUMENT)
        ranked: list[list[str]] = [[] for _ in ids.queries]
        for row, query in zip(order.tolist(), self._query_numbers[order].tolist(), strict=True):
            ranked[query].append(str(documents[row]))
        return list(zip(map(str, ids.queries), ranked, strict=True))

    def _ordered(self, scores: Float64Array) -> tuple[Int64Array, Int64Array]:
        """Return the indices of the returned rows, by query and rank, and their 1-based ranks."""
        order = np.lexsort((-scores, self._query_numbers))
        starts = np.flatnonzero(np.diff(self._query_numbers, prepend=-1))
        ranks = np.arange(1, len(order) + 1) - starts[self._query_numbers]
        if self.top_k is not None:
            order, ranks = order[ranks <= self.top_k], ranks[ranks <= self.top_k]
        return order, ranks

    def answer(
        self, model: ServedModel, scores: Float64Array, ranking_ids: Sequence[str] | None = None
    ) -> Response:
        """Return an Arrow IPC stream ordered by query and rank.

        Columns: `query_id` and `document_id` as sent, `row` in the request, `rank` from 1, `score`, and
        `ranking_id` for kept rankings.
        """
        order, ranks = self._ordered(scores)
        added: dict[str, Any] = {
            "row": pa.array(order),
            "rank": pa.array(ranks.astype(np.int32)),
            "score": pa.array(scores[order]),
        }
        if ranking_ids is not None:
            added["ranking_id"] = np.asarray(ranking_ids, object)[self._query_numbers[order]]
        return Response(_serialised(self._table, model, order, added), media_type=MEDIA_TYPE)


def _top_k(text: str | None) -> int | None:
    if text is None:
        return None
    digits = text.lstrip("0") if text.isascii() and text.isdecimal() else ""
    if not digits or not int(digits[:11]) <= MAX_TOP_K:  # Python parses no more than 4,300 digits
        raise InvalidInput.at("/top_k", f"must be a whole number from 1 to {MAX_TOP_K}")
    return int(digits)


def _serialised(table: pa.Table, model: ServedModel, order: Int64Array, added: Mapping[str, Any]) -> bytes:
    names = [name for name in (QUERY, DOCUMENT) if name in table.column_names]
    columns = [table.column(name).combine_chunks().take(order) for name in names]
    metadata = {"model_id": model.id, "model_name": model.name, "model_version": str(model.version)}
    batch = pa.RecordBatch.from_arrays([*columns, *added.values()], [*names, *added])
    batch = batch.replace_schema_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _texts(table: pa.Table, name: str) -> list[str | None]:
    """Return a column of ids as texts; without this column, None for each row."""
    if name not in table.column_names:
        return [None] * len(table)
    texts: list[str | None] = table.column(name).cast(pa.string()).to_pylist()
    return texts


def _features(table: pa.Table, model: ServedModel) -> FloatArray:
    names = [name for name in table.column_names if name not in (QUERY, DOCUMENT)]
    lists = [name for name in names if pa.types.is_fixed_size_list(table.schema.field(name).type)]
    if names == lists == [FEATURES_MEMBER] and FEATURES_MEMBER not in model.blocks:
        return _lists(table.column(FEATURES_MEMBER), model)
    columns = {name: column for column, name in enumerate(model.feature_names)}
    features = np.full((len(table), len(columns)), np.nan, model.scorer.precision)
    owners: dict[int, str] = {}
    for name in lists:
        block = model.blocks.get(name)
        if block is None:
            raise InvalidInput.at(pointer_of(name), "has lists, but is not a block of features of this model")
        features[:, block.start : block.stop] = _block(table.column(name), name, block, model)
        owners |= dict.fromkeys(block, name)
    for name in names:
        if name in lists:
            continue
        if name not in columns:
            raise InvalidInput.at(pointer_of(name), "not a feature of this model")
        if columns[name] in owners:
            raise InvalidInput.at(pointer_of(name), f"is also given by {owners[columns[name]]!r}")
        features[:, columns[name]] = _feature(table.column(name), name, model)
    return features


def _block(column: Any, name: str, block: range, model: ServedModel) -> FloatArray:
    """Return the values of a block of features; in a null list all values are missing."""
    size = column.type.list_size
    if size != len(block):
        raise InvalidInput.at(pointer_of(name), f"has {size} values; the block has {len(block)} features")
    values = read_lists(column.combine_chunks(), size).values
    for index, feature in enumerate(model.feature_names[block.start : block.stop]):
        if feature in model.categories:
            values[:, index] = model.categories[feature].codes_of_numbers(values[:, index])
    return _rounded(values, name, model)


def _feature(column: Any, name: str, model: ServedModel) -> FloatArray:
    """Return a feature's values in the precision of the model, with codes in place of categories."""
    categories = model.categories.get(name)
    if categories is not None and categories.are_long_whole_numbers and pa.types.is_integer(column.type):
        column = column.cast(pa.string())
    if categories is None or not _is_text(column.type):
        numbers = _numbers(column, name)
        return _rounded(numbers if categories is None else categories.codes_of_numbers(numbers), name, model)
    parts = [categories.codes_of_texts(part) for part in column.chunks]
    return np.concatenate(parts) if parts else np.empty(0, np.float32)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _lists(column: Any, model: ServedModel) -> FloatArray:
    size = len(model.feature_names)
    if column.type.list_size != size:
        raise InvalidInput.at(
            f"/{FEATURES_MEMBER}", f"has {column.type.list_size} values; the model has {size} features"
        )
    lists = column.combine_chunks()
    if lists.null_count:
        raise InvalidInput.at(
            f"/{FEATURES_MEMBER}", "must have a list for each document; only values within a list may be null"
        )
    return _rounded(
        model.coded(_numbers(lists.flatten(), FEATURES_MEMBER).reshape(-1, size)), FEATURES_MEMBER, model
    )


def _numbers(column: Any, name: str) -> FloatArray:
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        found = "texts" if _is_text(column.type) else column.type
        raise InvalidInput.at(
            pointer_of(name), f"must be a column of numbers, not of {found}; convert its values to numbers"
        )
    numbers = np.asarray(
        column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
    )
    # Whole numbers are rounded to float64 first, as numbers of JSON are.
    return numbers.astype(np.float64) if numbers.dtype.kind in "iu" else numbers


def _rounded(values: FloatArray, name: str, model: ServedModel) -> FloatArray:
    rounded = model.rounded(values)
    if rounded is None:
        with np.errstate(over="ignore"):
            beyond = np.isinf(values.astype(np.float32)).reshape(len(values), -1).any(axis=1)
        row = int(beyond.argmax())
        raise InvalidInput.at(pointer_of(name), f"row {row}: has a value beyond the range of float32")
    return rounded


def _query_numbers_of(table: pa.Table) -> Int64Array:
    """Return the query index of each row, in the order of queries."""
    if QUERY not in table.column_names:
        return np.zeros(len(table), np.int64)
    codes = _codes(table, QUERY)
    back = np.flatnonzero(np.diff(codes) < 0)
    if back.size:
        row = int(back[0]) + 1
        query = table.column(QUERY)[row].as_py()
        raise InvalidInput.at(f"/{QUERY}", f"row {row}: documents of query {query!r} are not contiguous")
    return codes


def _check_document_ids(table: pa.Table, query_numbers: Int64Array) -> None:
    if DOCUMENT not in table.column_names:
        return
    documents = _codes(table, DOCUMENT)
    if documents.max(initial=-1) + 1 == len(documents):  # all ids of the table are distinct
        return
    _, first = np.unique(query_numbers * (len(table) + 1) + documents, return_index=True)
    if len(first) < len(documents):
        repeated = int(np.setdiff1d(np.arange(len(documents)), first)[0])
        document = table.column(DOCUMENT)[repeated].as_py()
        raise InvalidInput.at(f"/{DOCUMENT}", f"row {repeated}: {document!r} is in this query twice")


def _codes(table: pa.Table, name: str) -> Int64Array:
    column = table.column(name)
    if not (_is_text(column.type) or pa.types.is_integer(column.type)):
        raise InvalidInput.at(
            pointer_of(name), f"must be a column of texts or whole numbers, not of {column.type}"
        )
    if column.null_count:
        raise InvalidInput.at(pointer_of(name), "has a null")
    encoded: Any = pc.dictionary_encode(column.combine_chunks())
    return np.asarray(encoded.indices, np.int64)
