"""Findings on duplicate and empty documents."""

from collections.abc import Iterator

import numpy as np

from core.data import RankingDataset
from core.doctor.columns import ColumnCounts
from core.doctor.hashing import hash_texts
from core.doctor.repeats import count_repeats
from core.doctor.report import Finding, query_examples
from core.types import Int64Array

_MANY = 0.1  # of the documents


def document_findings(dataset: RankingDataset, columns: ColumnCounts) -> Iterator[Finding]:
    """Report duplicate documents within queries, and empty documents."""
    labels, boundaries = dataset.labels, dataset.query_boundaries
    by_id = count_repeats(hash_texts(dataset.document_ids), labels, boundaries)
    if by_id.surplus.any():
        yield _finding(
            dataset,
            by_id.surplus,
            "repeated-documents",
            ("has the id of an earlier one in its query", "have the id of an earlier one in their query"),
            "A document that comes twice counts twice in the loss and in metrics. Often a join multiplied the"
            " rows, or two queries share an id; 1 and 1.0 are one id. Keep one row a document and query.",
            severity="warning",
        )
    by_features = count_repeats(columns.hashes, labels, boundaries)
    if by_features.contradicting.any():
        yield _finding(
            dataset,
            by_features.contradicting,
            "contradicting-labels",
            (
                "has the features of another one in its query, but not its label",
                "have the features of another one in their query, but not its label",
            ),
            "No model can tell such documents apart, so it cannot put all of them right. A feature that"
            " distinguishes them would help; copies of a document need one judgment.",
        )
    if by_features.surplus.any():
        yield _finding(
            dataset,
            by_features.surplus,
            "identical-documents",
            (
                "has exactly the features of an earlier one in its query",
                "have exactly the features of an earlier one in their query",
            ),
            "They always get the same score, and keep the order of the input. Remove copies of a document;"
            " where the documents differ, add a feature that distinguishes them.",
        )
    if not columns.filled.all():
        yield _finding(
            dataset,
            np.add.reduceat(~columns.filled, boundaries[:-1], dtype=np.int64),
            "empty-documents",
            ("has no features: each is 0 or missing", "have no features: each is 0 or missing"),
            "Often these documents were not found when features were computed. Compute them, or leave the"
            " documents out.",
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
        severity or ("warning" if count >= _MANY * total else "info"),
        (count, total, "documents"),
        predicate,
        advice=advice,
        examples=query_examples(dataset, per_query > 0),
    )
