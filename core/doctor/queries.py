"""Findings on queries that are useless for training, or that were assembled wrongly."""

from collections.abc import Iterator, Sequence

import numpy as np

from core.data import RankingDataset
from core.data.statistics import QueryLabels
from core.doctor.hashing import Flags
from core.doctor.report import MAX_EXAMPLES, Finding, query_examples

LIGHTGBM_MAX_DOCUMENTS = 10_000
_MIN_LOG_ORDERS = np.log(1_000.0)  # with fewer row orders per sorted order, sorting may be by chance
# Share of the queries; click logs have many queries without a relevant document, judged data few.
_WARNING_SHARE = 0.5


def query_findings(
    dataset: RankingDataset,
    labels: QueryLabels,
    scattered_queries: int,
    scattered_examples: Sequence[str],
    several_spellings: Sequence[str],
) -> Iterator[Finding]:
    """Report problems of the sizes and labels of queries."""
    if scattered_queries:
        yield _scattered(dataset, scattered_queries, tuple(scattered_examples[:MAX_EXAMPLES]))
    if several_spellings:
        yield _several_spellings(dataset, several_spellings)
    lengths = np.diff(dataset.query_boundaries)
    if dataset.n_queries == 1 and dataset.n_documents > 1:
        yield _one_query(dataset)
    if (lengths == 1).any():
        yield _one_document(dataset, lengths == 1)
    if (lengths > LIGHTGBM_MAX_DOCUMENTS).any():
        yield _very_long(dataset, lengths > LIGHTGBM_MAX_DOCUMENTS)
    if (dataset.labels == dataset.labels[0]).all() or np.isnan(dataset.labels).all():
        return  # another finding covers datasets with a single label
    if (one_label := labels.single & (lengths > 1)).any():
        yield _one_label(dataset, one_label, nothing_to_rank=bool(labels.single.all()))
    yield from sorted_findings(dataset, labels)
    if (labels.relevant == 0).any():
        yield _without_relevant(dataset, labels.relevant == 0)


def sorted_findings(dataset: RankingDataset, labels: QueryLabels) -> Iterator[Finding]:
    """Report queries whose rows are sorted by descending label, if this is unlikely by chance.

    At least half of the queries with different labels must be sorted.
    """
    starts, lengths = dataset.query_boundaries[:-1], np.diff(dataset.query_boundaries)
    changes = np.ones(dataset.n_documents, np.bool_)  # of the label, or of the query
    changes[1:] = dataset.labels[1:] != dataset.labels[:-1]
    rises = np.zeros(dataset.n_documents, np.bool_)
    rises[1:] = ~(dataset.labels[1:] <= dataset.labels[:-1])
    changes[starts], rises[starts] = True, False
    varied = ~labels.single
    affected = varied & ~np.logical_or.reduceat(rises, starts)
    count, total = int(np.count_nonzero(affected)), int(np.count_nonzero(varied))
    if not count or 2 * count < total:
        return
    # Of the n! orders of a query, Π c! are sorted by label, where c is the number of documents of each label.
    log_factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, lengths.max() + 1)))))
    first_rows = np.flatnonzero(changes)
    of_labels = log_factorials[np.diff(first_rows, append=dataset.n_documents)]
    orders = log_factorials[lengths] - np.add.reduceat(of_labels, np.searchsorted(first_rows, starts))
    if orders[affected].sum() < _MIN_LOG_ORDERS:
        return
    yield Finding.of_share(
        "sorted-by-label",
        "warning",
        (count, total, "queries"),
        (
            "has its rows sorted by label",
            "have their rows sorted by label",
        ),
        where="with different labels",
        advice="Documents with equal scores are ranked in row order, so a model with constant scores may have"
        " an NDCG of 1. Shuffle the rows of each query, or set `ties` of the contract to docid or average.",
        examples=query_examples(dataset, affected),
    )


def _scattered(dataset: RankingDataset, count: int, examples: tuple[str, ...]) -> Finding:
    return Finding.of_share(
        "scattered-queries",
        "warning",
        (count, dataset.n_queries, "queries"),
        (
            "had non-contiguous rows, which were regrouped",
            "had non-contiguous rows, which were regrouped",
        ),
        advice="Check that each id belongs to one query: two queries with the same id are ranked as one"
        " query. To refuse files with non-contiguous queries, upload with non_contiguous_queries=error.",
        examples=examples,
    )


def _several_spellings(dataset: RankingDataset, ids: Sequence[str]) -> Finding:
    name = ids[0]
    return Finding.of_share(
        "several-spellings",
        "warning",
        (len(ids), dataset.n_queries, "queries"),
        ("has an id in several spellings", "have ids in several spellings"),
        advice=f"{name} and {name}.0 are read as the same id, because many tools write a column of whole"
        f" numbers with missing values as decimals. If they are different ids, write texts such as v{name}"
        f" and v{name}.0.",
        examples=tuple(ids[:MAX_EXAMPLES]),
    )


def _one_query(dataset: RankingDataset) -> Finding:
    return Finding.of_share(
        "one-query",
        "warning",
        (dataset.n_documents, dataset.n_documents, "documents"),
        ("belongs to one query", "belong to one query"),
        advice="A model needs many queries: with one, nothing can be held out, and no difference is"
        " significant. Check that the query column has the search or its id.",
        examples=query_examples(dataset, np.ones(1, np.bool_)),
    )


def _one_document(dataset: RankingDataset, affected: Flags) -> Finding:
    count, total = int(affected.sum()), dataset.n_queries
    many = count >= _WARNING_SHARE * total
    return Finding.of_share(
        "one-document-queries",
        "error" if count == total else "warning" if many else "info",
        (count, total, "queries"),
        ("has only one document", "have only one document"),
        advice="A query with one document has nothing to rank."
        + (
            " So many of them often mean that the query column holds ids of documents or rows."
            if many
            else " Such queries are harmless, but raise metrics if the document is relevant."
        ),
        examples=query_examples(dataset, affected),
    )


def _one_label(dataset: RankingDataset, affected: Flags, *, nothing_to_rank: bool) -> Finding:
    count, total = int(affected.sum()), dataset.n_queries
    severity, advice = (
        "info",
        "Such queries prefer no document to another, and most losses learn nothing from them. You may keep"
        " them.",
    )
    check = " Check the query and label columns, and whether documents with other labels are missing."
    if count >= _WARNING_SHARE * total:
        severity, advice = "warning", "Most losses learn nothing from such queries." + check
    if nothing_to_rank:
        severity, advice = (
            "error",
            "All documents of each query have the same label, so no ranking can be learnt." + check,
        )
    return Finding.of_share(
        "one-label-queries",
        severity,
        (count, total, "queries"),
        ("has documents with a single label", "have documents with a single label"),
        advice=advice,
        examples=query_examples(dataset, affected),
    )


def _without_relevant(dataset: RankingDataset, affected: Flags) -> Finding:
    count, total = int(affected.sum()), dataset.n_queries
    return Finding.of_share(
        "queries-without-relevant",
        "warning" if count >= _WARNING_SHARE * total else "info",
        (count, total, "queries"),
        ("has no relevant document", "have no relevant document"),
        advice="Documents with a label above 0 are relevant. Metrics such as ndcg are undefined on these"
        " queries, and means skip them. Other tools may count them as 0 or 1, so their means may differ.",
        examples=query_examples(dataset, affected),
    )


def _very_long(dataset: RankingDataset, affected: Flags) -> Finding:
    beyond = f"more than {LIGHTGBM_MAX_DOCUMENTS:,} documents"
    return Finding.of_share(
        "very-long-queries",
        "info",
        (int(affected.sum()), dataset.n_queries, "queries"),
        (f"has {beyond}", f"have {beyond}"),
        advice="Rankery uses all documents of such queries, whereas LightGBM's own ranking losses and metrics"
        " stop with an error. A truncation_level limits the time for pairs of documents.",
        examples=query_examples(dataset, affected),
    )
