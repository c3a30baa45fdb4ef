"""Prepare a frame of candidates for scoring, and tables of scores and interleaved lists."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from rankery.client.frames import cells
from rankery.client.frames.incoming import as_table
from rankery.client.frames.judged import (
    COLUMNS_BY_ROLE,
    declared_categories,
    query_codes,
    single_column,
)
from rankery.client.frames.outgoing import row_features
from rankery.client.references import mapping_of
from rankery.errors import DataUnusable, InvalidArgument, RankeryApiError
from rankery.identifiers import normalise_ids
from rankery.usual_columns import columns_for

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


Order = Literal["rank", "rows"]
QUERY, DOCUMENT = "query_id", "document_id"
_ROLES = ("query", "document", "ignore")
_ALL_FEATURES = "features"  # a column of lists in the model's order
_SHOWN_MISSING = 5
_ROW = re.compile(r"row ([0-9]+): (.*)", re.DOTALL)
_ROUNDED = 10**15  # JSON may round whole numbers of more digits


@dataclass(frozen=True, eq=False)
class Candidates:
    """A table of candidates in the form of scoring requests.

    Attributes:
        table: `query_id`, `document_id` and the features; the rows of a query are contiguous.
        rows: (n_documents,) row of the frame for each row of the table; None if the order is the same.
    """

    table: "pa.Table"
    rows: "np.ndarray[Any, Any] | None"

    def with_frame_rows(self, answer: "pa.Table", order: Order) -> "pa.Table":
        """Return a response in which `row` is the row of the frame, and ids have the types of the frame.

        Args:
            answer: Response of the service, sorted by query and rank.
            order: `rank`, or `rows` for the order of the frame.
        """
        from rankery.client.frames.arrow import pa

        rows = answer.column("row").combine_chunks()
        rows = rows if self.rows is None else pa.array(self.rows).take(rows)
        answer = answer.set_column(answer.column_names.index("row"), "row", rows)
        for index, name in enumerate(answer.column_names):
            if name in (QUERY, DOCUMENT):  # booleans were sent as numbers
                kind = self.table.schema.field(name).type
                answer = answer.set_column(index, name, answer.column(name).cast(kind))
        return answer.sort_by("row") if order == "rows" else answer

    def with_row_of_frame_in_message(self, error: RankeryApiError, first: int) -> RankeryApiError:
        """Return the refusal of a part of the table, with the row of the frame in the message."""
        problems = error.problem.get("errors") or []
        found = _ROW.match(str(problems[0].get("detail"))) if len(problems) == 1 else None
        if found is None:
            return error
        row = first + int(found[1])
        row = row if self.rows is None else int(self.rows[row])
        located = {**problems[0], "detail": f"row {row}: {found[2]}"}
        sentence = f"{located['pointer']}: {located['detail']}"
        return RankeryApiError(error.status, {**error.problem, "detail": sentence, "errors": [located]})


def check_order(order: object) -> None:
    """Refuse an unknown order of a response, which would assign scores to the wrong rows.

    Raises:
        InvalidArgument: The order is unknown.
    """
    if order not in get_args(Order):
        raise InvalidArgument(f"order must be 'rank' or 'rows', not {order!r:.60}")


def prepare_candidates(
    frame: Any,
    features: Sequence[str],
    columns: Mapping[str, Any] | None,
    model: str,
    *,
    allow_absent_features: bool,
) -> Candidates:
    """Return the columns of a frame that a model needs, with the rows of each query together.

    Args:
        columns: Columns of the `query` and the `document`, and columns to `ignore`.
        model: The model's name and version, for messages.
        allow_absent_features: Whether features without a column are missing values.

    Raises:
        DataUnusable: A column or a value is missing or wrong; the message has its location.
    """
    table = as_table(frame)
    query, document, ignored = _roles(table, columns, features)
    used, extra = _feature_columns(table, features, {query, document} - {None} | ignored)
    _refuse_absent(used, extra, table, features, model, allowed=allow_absent_features)
    if extra:
        left_out = (
            f"column {extra[0]!r}, not a feature" if len(extra) == 1 else f"columns {extra}, not features"
        )
        cells.warn(f"left out the {left_out} of {model}; to silence this, columns={{'ignore': {extra}}}")
    declared = declared_categories(frame)
    for name in used:
        if cells.is_text(table.column(name).type) and name not in declared:
            cells.refuse_text(frame, name, table.column(name), "; categories need a categorical type")
    ids = {query: QUERY, document: DOCUMENT}
    selected = [name for name in (query, document, *used) if name is not None]
    sent = table.select(selected)
    for index, name in enumerate(selected):
        if name in ids:
            sent = sent.set_column(index, ids[name], identifiers(frame, name, sent.column(index)))
    sent = _with_texts_of_categories(sent, used, declared)
    order = None if query is None else _order_by_query(sent.column(QUERY))
    return Candidates(sent if order is None else sent.take(order), order)


def _with_texts_of_categories(
    table: "pa.Table", features: Sequence[str], declared: Collection[str]
) -> "pa.Table":
    """Convert dates, times and categories with long whole numbers, which JSON would round, to texts."""
    from rankery.client.frames.arrow import pa

    types = pa.types
    for name in features:
        column = table.column(name)
        is_time = any(is_kind(column.type) for is_kind in (types.is_date, types.is_timestamp, types.is_time))
        if is_time or (name in declared and types.is_integer(column.type) and _is_long(column)):
            table = table.set_column(table.schema.get_field_index(name), name, column.cast(pa.string()))
    return table


def _is_long(column: "pa.ChunkedArray[Any]") -> bool:
    """Return whether a column of whole numbers has one of more than 15 digits."""
    from rankery.client.frames.arrow import pc

    limits: Any = pc.min_max(column)
    return any(abs(limit) >= _ROUNDED for limit in limits.as_py().values() if limit is not None)


def _roles(
    table: "pa.Table", columns: Mapping[str, Any] | None, features: Collection[str]
) -> tuple[str | None, str | None, set[str]]:
    """Return the columns of the query and the document, None if there are none, and the ignored columns."""
    names, given = table.column_names, mapping_of(columns or {}, COLUMNS_BY_ROLE)
    for role in given:
        if role not in _ROLES:
            raise DataUnusable(f"columns takes query, document and ignore here, not {role}")
    ignored = given.get("ignore") or ()
    ignored = {ignored} if isinstance(ignored, str) else set(ignored)
    named = {role: name for role, name in given.items() if role != "ignore" and name is not None}
    for name in (*named.values(), *sorted(ignored)):
        if name not in names:
            raise DataUnusable(
                f"there is no column {name!r}{cells.suggestion(name, names)}"
                f" (the frame has {cells.listed(names)})"
            )
    feature_names = {*features, *_blocks(features)}
    free = [name for name in names if name not in ignored and name not in feature_names]
    texts = cells.text_columns(table)
    query, document = (
        named.get(role) or single_column(role, columns_for(role, free, texts))
        for role in ("query", "document")
    )
    return query, document, ignored


def identifiers(frame: Any, name: str, column: "pa.ChunkedArray[Any]") -> Any:
    """Return ids; floats, which pandas makes of whole numbers beside missing values, become whole numbers.

    Raises:
        DataUnusable: An id is missing, a number is no id, or the column has another type.
    """
    from rankery.client.frames.arrow import pa, pc

    if (row := cells.first_missing(column)) is not None:
        raise DataUnusable(f"{cells.row_text(frame, row)}, column {name!r}: the id is missing")
    kind = column.type
    if cells.is_text(kind) or cells.is_whole_number(kind) or pa.types.is_boolean(kind):
        return column
    if not pa.types.is_floating(kind):
        raise DataUnusable(
            f"column {name!r}: ids are texts or whole numbers, not {kind}; convert them to texts"
        )
    found = normalise_ids(column)
    cells.refuse_invalid_ids(frame, name, column, found)
    return pc.cast(found.texts, pa.int64())


def _blocks(features: Iterable[str]) -> set[str]:
    """Return the names of columns of lists with features, such as `emb` for `emb.0`."""
    return {name.rpartition(".")[0] for name in features if name.rpartition(".")[2].isdigit()}


def _feature_columns(
    table: "pa.Table", features: Sequence[str], excluded: Collection[Any]
) -> tuple[list[str], list[str]]:
    """Return the columns that are features of the model, and those that are not."""
    feature_names = set(features)
    blocks = _blocks(features)
    names = [name for name in table.column_names if name not in excluded]
    lists = {name for name in names if "list" in str(table.schema.field(name).type)}
    if lists == {_ALL_FEATURES} and _ALL_FEATURES not in blocks:
        return [_ALL_FEATURES], [name for name in names if name != _ALL_FEATURES]
    feature_names |= lists & blocks
    used = [name for name in names if name in feature_names]
    return used, [name for name in names if name not in feature_names]


def _refuse_absent(
    used: Sequence[str],
    extra: Sequence[str],
    table: "pa.Table",
    features: Sequence[str],
    model: str,
    *,
    allowed: bool,
) -> None:
    covered = set(used)
    lists = {name for name in used if "list" in str(table.schema.field(name).type)}
    absent = [name for name in features if name not in covered and name.rpartition(".")[0] not in lists]
    if not absent or lists == {_ALL_FEATURES} or (allowed and used):
        return
    meant = "".join(cells.suggestion(name, extra) for name in absent[:_SHOWN_MISSING])
    more = ", …" if len(absent) > _SHOWN_MISSING else ""
    raise DataUnusable(
        f"the frame lacks {len(absent)} of the {len(features)} features of {model}:"
        f" {', '.join(map(repr, absent[:_SHOWN_MISSING]))}{more}; rename its columns, or pass"
        f" allow_absent_features=True to count them as missing values{meant}"
    )


def _order_by_query(query: "pa.ChunkedArray[Any]") -> "np.ndarray[Any, Any] | None":
    """Return the order of the rows that gathers each query; None if queries are contiguous already."""
    from rankery.client.frames.arrow import np

    codes = query_codes(query)
    return np.argsort(codes, kind="stable") if (np.diff(codes) < 0).any() else None


def split_into_requests(
    table: "pa.Table", max_rows: int, max_bytes: int, *, keep_queries: bool = True
) -> list[tuple[int, int]]:
    """Split a table of candidates into parts for one scoring request each.

    Args:
        table: The rows of a query are contiguous.
        max_rows: Maximum rows of a part, unless a single query has more.
        max_bytes: Approximate maximum bytes of a part.
        keep_queries: Whether to split only between queries. Ranks need all rows of a query; scores do not.

    Returns:
        First row and end of each part.
    """
    from rankery.client.frames.arrow import np

    rows = len(table)
    rows_per_part = max(1, min(max_rows, max_bytes * rows // max(1, table.nbytes)))
    if rows <= rows_per_part:
        return [(0, rows)]
    if not keep_queries:
        return [(first, min(first + rows_per_part, rows)) for first in range(0, rows, rows_per_part)]
    if QUERY not in table.column_names:
        return [(0, rows)]
    parts, first, end = [], 0, 0
    for next_end in [*(np.flatnonzero(np.diff(query_codes(table.column(QUERY)))) + 1).tolist(), rows]:
        if end > first and next_end - first > rows_per_part:
            parts.append((first, end))
            first = end
        end = next_end
    return [*parts, (first, rows)]


def check_ids(table: "pa.Table") -> None:
    """Refuse candidates without ids, which stored lists and events need.

    Raises:
        DataUnusable: A column is missing.
    """
    for role, name in (("query", QUERY), ("document", DOCUMENT)):
        if name not in table.column_names:
            raise DataUnusable(
                f"stored and interleaved lists need the id of each {role}: give a column {name!r}, or name"
                f" one by columns={{{role!r}: …}}"
            )


def as_queries(table: "pa.Table") -> list[dict[str, Any]]:
    """Return candidates as queries of a scoring request in JSON.

    Args:
        table: `query_id`, `document_id` and the features.
    """
    features = table.select([name for name in table.column_names if name not in (QUERY, DOCUMENT)])
    queries: dict[str, list[dict[str, Any]]] = {}
    for query, document, row in zip(*_ids(table), features.to_pylist(), strict=True):
        queries.setdefault(query, []).append({"id": document, "features": row_features(row)})
    return [{"id": query, "documents": documents} for query, documents in queries.items()]


def as_response_table(table: "pa.Table", ranked: Sequence[Mapping[str, Any]]) -> "pa.Table":
    """Convert the lists of a JSON response to the table that a response in Arrow has.

    Returns:
        `query_id` and `document_id` in the types of the table, `row`, `rank`, `score` and `ranking_id`. A
        stored list may have documents that the table lacks: their row and score are null.
    """
    from rankery.client.frames.arrow import pa

    rows = {ids: row for row, ids in enumerate(zip(*_ids(table), strict=True))}
    shown = [(query, document) for query in ranked for document in query["ranking"]]
    queries = pa.array([query["id"] for query, _ in shown], pa.string())
    documents = pa.array([document["id"] for _, document in shown], pa.string())
    shown_rows = [rows.get((query["id"], document["id"])) for query, document in shown]
    return pa.table(
        {
            QUERY: queries.cast(table.schema.field(QUERY).type),
            DOCUMENT: documents.cast(table.schema.field(DOCUMENT).type),
            "row": pa.array(shown_rows, pa.int64()),
            "rank": pa.array([document["rank"] for _, document in shown], pa.int32()),
            "score": pa.array([document["score"] for _, document in shown], pa.float64()),
            "ranking_id": pa.array([query["ranking_id"] for query, _ in shown], pa.string()),
        }
    )


def _ids(table: "pa.Table") -> tuple[list[str], list[str]]:
    from rankery.client.frames.arrow import pa

    queries, documents = (table.column(name).cast(pa.string()).to_pylist() for name in (QUERY, DOCUMENT))
    return list(map(str, queries)), list(map(str, documents))
