"""Findings on duplicate and empty documents."""

from collections.abc import Iterator

import numpy as np

from core.data import RankingDataset
from core.doctor.columns import ColumnCounts
from core.doctor.hashing import hash_texts
from core.doctor.repeats import count_repeats
from core.doctor.report import Finding, query_examples
from core.types import Int64Array

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
