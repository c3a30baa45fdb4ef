"""Interleaved lists of a data frame: its rows as queries of JSON, and the lists as a table."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankery.client.frames.candidates import DOCUMENT, QUERY
from rankery.client.frames.explanations import row_features
from rankery.errors import DataUnusable

if TYPE_CHECKING:
    import pyarrow as pa


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

    Args:
        table: The candidates.
        ranked: The queries of the response.

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
