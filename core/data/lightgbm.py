"""LightGBM's data file, `2 0:0.5 3:1e-2`, and its query file, which lists the size of each query."""

import numpy as np

from core.data.dataset import RankingDataset
from core.data.file_text import FileText, Span
from core.data.letor import document_ids, document_names, feature_names
from core.data.letor_comments import document_columns
from core.data.options import Limits, ReadingOptions
from core.data.result import Reading
from core.data.rows import Rows
from core.errors import MAX_PROBLEMS, DatasetError
from core.text.bytes_kernel import Text
from core.types import Int64Array, OnProgress

_MAX_DIGITS = 13  # of the size of a query


def read_lightgbm(
    text: Text,
    file: str,
    query_sizes: Int64Array,
    options: ReadingOptions | None = None,
    limits: Limits | None = None,
    *,
    threads: int = 1,
    on_progress: OnProgress | None = None,
) -> Reading:
    """Parse LightGBM's text of pairs `id:value`. Ids may start at 0; then the first feature is f0.

    Query ids are 1, 2, …; the rest is read like LETOR text, see `read_letor`.

    Args:
        text: (n_bytes,) the bytes of the file, read-only.
        file: The file's name for error messages.
        query_sizes: (n_queries,) documents of each query, from `read_query_sizes`.
        options: How to treat repeated features; names of features by id.
        on_progress: Called with the number of bytes done and their total; may raise to stop.

    Raises:
        DatasetError: With up to 100 invalid tokens, or where the sizes do not add up to the number of rows.
        InvalidInput: See `read_letor`.
    """
    options, source = options or ReadingOptions(), FileText(text, file)
    rows = Rows(
        source,
        has_queries=False,
        reject_repeated=options.repeated_features == "reject",
        limits=limits or Limits(),
        threads=threads,
        on_progress=on_progress,
    )
    boundaries = query_boundaries(query_sizes, len(rows.labels), file)
    names = document_names(source, rows.document_starts, rows.document_lengths)
    comments = rows.document_starts + rows.document_lengths
    dataset = RankingDataset(
        features=rows.features,
        labels=rows.labels,
        query_boundaries=boundaries,
        query_ids=tuple(str(number) for number in range(1, len(query_sizes) + 1)),
        document_ids=document_ids(names, boundaries),
        feature_names=feature_names(rows.first_id, rows.features.shape[1], options.feature_names),
        document_columns=document_columns(source, comments) if rows.has_longer_comments else {},
    )
    return Reading(dataset, "lightgbm")


def query_boundaries(query_sizes: Int64Array, n_rows: int, file: str) -> Int64Array:
    """Convert sizes of queries to offsets, (n_queries + 1,).

    Raises:
        DatasetError: The sizes do not add up to the number of rows of the data file.
    """
    total = query_sizes.sum(dtype=np.float64)  # a sum in int64 may wrap around to the number of rows
    if total != n_rows:
        raise DatasetError.at(
            f"expected {total:,.0f} documents, the sum of the sizes in the query file, but found {n_rows:,}",
            file=file,
        )
    return np.concatenate(([0], np.cumsum(query_sizes)))


def read_query_sizes(text: Text, file: str) -> Int64Array:
    """Read LightGBM's query file: the number of documents of each query, one per line.

    Returns:
        (n_queries,) sizes; lines with 0 are skipped, as in LightGBM.

    Raises:
        DatasetError: With up to 100 lines that are not a number of documents.
    """
    source = FileText(text, file)
    sizes: list[int] = []
    spans: list[Span] = []
    at = source.start
    for line in text[at:].tobytes().split(b"\n"):
        token = line.strip()
        if token.isdigit() and len(token) <= _MAX_DIGITS:
            sizes.append(int(token))
        elif token:
            start = at + line.index(token)
            spans.append(("expected the number of documents of a query", start, start + len(token)))
        at += len(line) + 1
    if spans:
        raise DatasetError(*source.errors(spans[:MAX_PROBLEMS]), more=len(spans) > MAX_PROBLEMS)
    positive = np.array([size for size in sizes if size], np.int64)
    if not len(positive):
        raise DatasetError.at("expected the number of documents of each query, but found none", file=file)
    return positive
