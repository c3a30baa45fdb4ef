"""Examine one dataset."""

from collections.abc import Sequence

import numpy as np

from core.data import RankingDataset
from core.data.statistics import QueryLabels
from core.doctor.columns import ColumnCounts, measure_columns
from core.doctor.corpora import corpus_findings
from core.doctor.documents import document_findings
from core.doctor.features import feature_findings
from core.doctor.labels import label_findings
from core.doctor.queries import query_findings
from core.doctor.report import FeatureProfile, Report, by_severity
from core.doctor.single_feature import SingleFeatures, rank_by_single_features
from core.ranges import use_threads


def examine(
    dataset: RankingDataset,
    *,
    scattered_queries: int = 0,
    scattered_examples: Sequence[str] = (),
    several_spellings: Sequence[str] = (),
    threads: int = 1,
) -> Report:
    """Examine a dataset for common problems of judged data.

    The whole feature matrix is read once, in parallel, and a sample of queries is copied. The report does not
    depend on the number of threads.

    Args:
        scattered_queries: Number of queries whose rows were not contiguous in the file.
        scattered_examples: Ids of some of these queries.
        several_spellings: Ids of queries that the file spells in several ways.

    Example:
        >>> from core.data import RankingDataset
        >>> dataset = RankingDataset.from_arrays([[1, 7], [2, 7], [3, 7], [4, 7]], [0, 1, 2, 0], [0, 2, 4])
        >>> for finding in examine(dataset).findings:
        ...     print(f"{finding.severity}: {finding.title}")
        info: 1 of 2 features has the same value in every document
    """
    use_threads(threads)
    labels = QueryLabels.of(dataset)
    findings = (
        *label_findings(dataset),
        *query_findings(dataset, labels, scattered_queries, scattered_examples, several_spellings),
    )
    if not dataset.n_features:  # judgments without features
        return Report(by_severity(findings), ())
    columns = measure_columns(dataset)
    single = rank_by_single_features(dataset, seed=0)
    findings = (
        *findings,
        *document_findings(dataset, columns),
        *feature_findings(dataset, columns, single),
        *corpus_findings(dataset),
    )
    return Report(by_severity(findings), _profile_features(dataset, columns, single))


def _profile_features(
    dataset: RankingDataset, columns: ColumnCounts, single: SingleFeatures
) -> tuple[FeatureProfile, ...]:
    """Return a profile of each feature from its measured counts."""
    finite = dataset.n_documents - columns.missing - columns.infinite
    mean = columns.total / np.maximum(finite, 1)
    ascending, ndcg = single.ascending > single.descending, single.better
    return tuple(
        FeatureProfile(
            name=name,
            minimum=float(columns.minimum[j]) if finite[j] else None,
            maximum=float(columns.maximum[j]) if finite[j] else None,
            mean=float(mean[j]) if finite[j] else None,
            missing=int(columns.missing[j]),
            infinite=int(columns.infinite[j]),
            zeros=float(columns.zeros[j] / dataset.n_documents),
            constant=not columns.varies[j],
            constant_in_queries=not columns.varies_in_queries[j],
            ndcg_at_10=None if np.isnan(ndcg[j]) else float(ndcg[j]),
            direction="ascending" if ascending[j] else "descending",
        )
        for j, name in enumerate(dataset.feature_names)
    )
