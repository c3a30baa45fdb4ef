"""Spelling of ids in TREC files."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from core.errors import InvalidInput
from rankery.identifiers import EqualSpelling, TrecSpelling

# Whitespace of Python's str.split, as an RE2 expression.
BLANK = r"[\s\pZ\x0b\x1c-\x1f\x{85}]"
_ENCODED_OR_BLANK = f"%|{BLANK}"


def refuse_equal_spellings(batches: Iterable[pa.RecordBatch]) -> None:
    """Refuse ids that a TREC file would not distinguish, such as `a b` and `a%20b`.

    Args:
        batches: Columns query_id and document_id; the rows of a query follow each other.

    Raises:
        InvalidInput: Two queries, or two documents of a query, have one spelling.
    """
    of_queries, of_documents, last_query = TrecSpelling(), TrecSpelling(), None
    try:
        for batch in batches:
            columns: list[Any] = [batch.column(name) for name in ("query_id", "document_id")]
            queries, documents = (column.cast(pa.large_string()) for column in columns)
            for query in queries.filter(_may_be_equal(queries)).unique().to_pylist():
                of_queries.of_id(query)
            rows = _may_be_equal(documents)
            for query, document in zip(
                queries.filter(rows).to_pylist(), documents.filter(rows).to_pylist(), strict=True
            ):
                if query != last_query:
                    of_documents, last_query = TrecSpelling(), query
                of_documents.of_id(document)
    except EqualSpelling as error:
        raise InvalidInput.at("", f"{error}; download Parquet instead") from error


def _may_be_equal(ids: Any) -> Any:
    return pc.match_substring_regex(ids, _ENCODED_OR_BLANK)
