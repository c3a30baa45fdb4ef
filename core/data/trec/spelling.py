"""Spelling of ids in TREC files."""

from collections.abc import Iterable

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
        batches: Columns query_id and document_id.

    Raises:
        InvalidInput: Two queries, or two documents of a query, have one spelling.
    """
    spelling = TrecSpelling()
    for batch in batches:
        columns = [pc.cast(batch.column(name), pa.large_string()) for name in ("query_id", "document_id")]
        is_encoded = [pc.match_substring_regex(column, _ENCODED_OR_BLANK) for column in columns]
        rows = pc.or_(*is_encoded)
        try:
            for query, document in zip(*(column.filter(rows).to_pylist() for column in columns), strict=True):
                spelling.of(query, document)
        except EqualSpelling as error:
            raise InvalidInput.at("", f"{error}; download Parquet instead") from error
