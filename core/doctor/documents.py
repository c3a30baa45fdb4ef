"""Findings on duplicate and empty documents."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.data import RankingDataset
from core.doctor.columns import ColumnCounts
from core.doctor.hashing import Hashes, hash_texts
from core.doctor.report import Finding, query_examples
from core.jit import compiled
from core.ranges import over_ranges
from core.sorting import merge_sort
from core.types import Float32Array, Int64Array

_WARNING_SHARE = 0.1  # share of the documents from which a finding is a warning


def document_findings(dataset: RankingDataset, columns: ColumnCounts) -> Iterator[Finding]:
    """Report duplicate documents within queries, contradicting labels of duplicates, and empty documents."""
    labels, boundaries = dataset.labels, dataset.query_boundaries
    by_id = count_repeats(hash_texts(dataset.document_ids), labels, boundaries)
    if by_id.surplus.any():
        yield _finding(
            dataset,
            by_id.surplus,
            "repeated-documents",
            (
                "has the same id as an earlier document of its query",
                "have the same id as an earlier document of their query",
            ),
            "A duplicate document counts twice in the loss and in metrics. Often a join multiplied the rows,"
            " or two queries share an id; 1 and 1.0 are the same id. Keep one row per document and query.",
            severity="warning",
        )
    by_features = count_repeats(columns.hashes, labels, boundaries)
    if by_features.contradicting.any():
        yield _finding(
            dataset,
            by_features.contradicting,
            "contradicting-labels",
            (
                "has the same features as another document of its query but a different label",
                "have the same features as another document of their query but a different label",
            ),
            "No model can distinguish such documents, so it cannot rank all of them correctly. Add a feature"
            " that distinguishes them, or give all copies of a document the same label.",
        )
    if by_features.surplus.any():
        yield _finding(
            dataset,
            by_features.surplus,
            "identical-documents",
            (
                "has exactly the same features as an earlier document of its query",
                "have exactly the same features as an earlier document of their query",
            ),
            "Such documents always get the same score and are ranked in input order. Remove copies of a"
            " document; if the documents differ, add a feature that distinguishes them.",
        )
    if not columns.filled.all():
        yield _finding(
            dataset,
            np.add.reduceat(~columns.filled, boundaries[:-1], dtype=np.int64),
            "empty-documents",
            ("has no features: each is 0 or missing", "have no features: each is 0 or missing"),
            "Often these documents were not found when the features were computed. Compute the features, or"
            " remove the documents.",
        )


def _finding(
    dataset: RankingDataset,
    per_query: Int64Array,
    code: str,
    predicate: tuple[str, str],
    advice: str,
    *,
    severity: str | None = None,
) -> Finding:
    count, total = int(per_query.sum()), dataset.n_documents
    return Finding.of_share(
        code,
        severity or ("warning" if count >= _WARNING_SHARE * total else "info"),
        (count, total, "documents"),
        predicate,
        advice=advice,
        examples=query_examples(dataset, per_query > 0),
    )


@dataclass(frozen=True, eq=False)
class Repeats:
    """Equal documents, query by query.

    Attributes:
        surplus: (n_queries,) number of documents that equal an earlier document.
        contradicting: (n_queries,) number of documents that equal a document with another label; documents
            without a label are ignored.
    """

    surplus: Int64Array
    contradicting: Int64Array


@compiled
def _count(
    first_query: int,
    last_query: int,
    hashes: Hashes,
    labels: Float32Array,
    query_boundaries: Int64Array,
    surplus: Int64Array,
    contradicting: Int64Array,
) -> None:
    for query in range(first_query, last_query):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        n = stop - start
        order = np.empty(n, np.int64)
        merge_sort(hashes, start, n, order, np.empty(n, np.int64))
        first = 0
        while first < n:
            same = hashes[start + order[first]]
            lowest, highest = np.float32(np.inf), np.float32(-np.inf)
            last, judged = first, 0
            while last < n and hashes[start + order[last]] == same:
                label = labels[start + order[last]]
                lowest = label if label < lowest else lowest
                highest = label if label > highest else highest
                judged += not np.isnan(label)
                last += 1
            surplus[query] += last - first - 1
            if lowest < highest:
                contradicting[query] += judged
            first = last


def count_repeats(hashes: Hashes, labels: Float32Array, query_boundaries: Int64Array) -> Repeats:
    """Count documents with equal hashes within each query.

    Args:
        hashes: (n_documents,) hash of each document.
        labels: (n_documents,) labels.
        query_boundaries: (n_queries + 1,) offsets.
    """
    n_queries = len(query_boundaries) - 1
    surplus, contradicting = np.zeros(n_queries, np.int64), np.zeros(n_queries, np.int64)
    counts = surplus, contradicting
    over_ranges(_count, n_queries, hashes, labels, query_boundaries, *counts, work=len(labels))
    return Repeats(surplus, contradicting)
