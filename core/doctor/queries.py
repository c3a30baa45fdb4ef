"""Findings on queries that are useless for training, or that were assembled wrongly."""

from collections.abc import Iterator, Sequence

import numpy as np

from core.data import RankingDataset
from core.data.statistics import QueryLabels
from core.doctor.hashing import Flags
from core.doctor.report import MAX_EXAMPLES, Finding, query_examples

LIGHTGBM_LONGEST = 10_000
_NO_CHANCE = np.log(1_000.0)  # log of the least number of equally likely row orders
_MANY = 0.5  # share of the queries; click logs have many queries without a relevant document, judged data few


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
    if (lengths == 1).any():
        yield _one_document(dataset, lengths == 1)
    if (lengths > LIGHTGBM_LONGEST).any():
        yield _very_long(dataset, lengths > LIGHTGBM_LONGEST)
    if (dataset.labels == dataset.labels[0]).all() or np.isnan(dataset.labels).all():
        return  # another finding covers datasets with a single label
    if (one_label := labels.single & (lengths > 1)).any():
        yield _one_label(dataset, one_label, nothing_to_rank=bool(labels.single.all()))
    yield from sorted_findings(dataset, labels)
    if (labels.relevant == 0).any():
        yield _without_relevant(dataset, labels.relevant == 0)


def sorted_findings(dataset: RankingDataset, labels: QueryLabels) -> Iterator[Finding]:
    """Report queries whose rows are sorted by label, if this is unlikely by chance."""
    starts, lengths = dataset.query_boundaries[:-1], np.diff(dataset.query_boundaries)
    changes = np.ones(dataset.n_documents, np.bool_)  # of the label, or of the query
    changes[1:] = dataset.labels[1:] != dataset.labels[:-1]
    rises = np.zeros(dataset.n_documents, np.bool_)
    rises[1:] = ~(dataset.labels[1:] <= dataset.labels[:-1])
    changes[starts], rises[starts] = True, False
    varied = ~labels.single
    concerned = varied & ~np.logical_or.reduceat(rises, starts)
    count, total = int(np.count_nonzero(concerned)), int(np.count_nonzero(varied))
    if not count or 2 * count < total:
        return
    # Of the n! orders of a query, Π c! are sorted by label, where c is the number of documents of each label.
    log_factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, lengths.max() + 1)))))
    first_rows = np.flatnonzero(changes)
    of_labels = log_factorials[np.diff(first_rows, append=dataset.n_documents)]
    orders = log_factorials[lengths] - np.add.reduceat(of_labels, np.searchsorted(first_rows, starts))
    if orders[concerned].sum() < _NO_CHANCE:
        return
    yield Finding.of_share(
        "sorted-by-label",
        "warning",
        (count, total, "queries"),
        (
            "has its rows in the order of their labels",
            "have their rows in the order of their labels",
        ),
        where="of several labels",
        advice="Documents of equal scores keep the order of their rows, so that a model that scores all alike"
        " has an NDCG of 1. Shuffle the rows of each query, or set ties in the contract to docid or average.",
        examples=query_examples(dataset, concerned),
    )


def _scattered(dataset: RankingDataset, count: int, examples: tuple[str, ...]) -> Finding:
    return Finding.of_share(
        "scattered-queries",
        "warning",
        (count, dataset.n_queries, "queries"),
        (
            "had rows in several places of the file and was gathered",
            "had rows in several places of the file and were gathered",
        ),
        advice="Check that each id belongs to one query. Two queries that share an id are ranked as one; rows"
        " that were shuffled have been put together again. Upload with non_contiguous_queries=error to"
        " refuse such files.",
        examples=examples,
    )


def _several_spellings(dataset: RankingDataset, ids: Sequence[str]) -> Finding:
    name = ids[0]
    return Finding.of_share(
        "several-spellings",
        "warning",
        (len(ids), dataset.n_queries, "queries"),
        ("has an id in several spellings", "have ids in several spellings"),
        advice=f"{name} and {name}.0 are one id, since whole numbers of which one is missing are written with"
        f" a point. If they are two, of queries or of documents, write texts such as v{name} and v{name}.0.",
        examples=tuple(ids[:MAX_EXAMPLES]),
    )


def _one_document(dataset: RankingDataset, concerned: Flags) -> Finding:
    count, total = int(concerned.sum()), dataset.n_queries
    many = count >= _MANY * total
    return Finding.of_share(
        "one-document-queries",
        "error" if count == total else "warning" if many else "info",
        (count, total, "queries"),
        ("has one document only", "have one document only"),
        advice="There is nothing to rank in them."
        + (
            " So many of them are often a wrong query column: one that holds the id of a document or a row."
            if many
            else " They do no harm, though they raise metrics where the one document is relevant."
        ),
        examples=query_examples(dataset, concerned),
    )


def _one_label(dataset: RankingDataset, concerned: Flags, *, nothing_to_rank: bool) -> Finding:
    count, total = int(concerned.sum()), dataset.n_queries
    severity, advice = (
        "info",
        "They prefer no document to another, and most losses learn nothing from them. They may stay.",
    )
    check = (
        " Check the query and label columns, and whether documents of other labels were left out of the data."
    )
    if count >= _MANY * total:
        severity, advice = "warning", "Most losses learn nothing from them." + check
    if nothing_to_rank:
        severity, advice = (
            "error",
            "No query prefers any document to another: no ranking can be learnt." + check,
        )
    return Finding.of_share(
        "one-label-queries",
        severity,
        (count, total, "queries"),
        ("has documents of one label only", "have documents of one label only"),
        advice=advice,
        examples=query_examples(dataset, concerned),
    )


def _without_relevant(dataset: RankingDataset, concerned: Flags) -> Finding:
    count, total = int(concerned.sum()), dataset.n_queries
    return Finding.of_share(
        "queries-without-relevant",
        "warning" if count >= _MANY * total else "info",
        (count, total, "queries"),
        ("has no relevant document", "have no relevant document"),
        advice="Relevant is a label above 0. Metrics such as ndcg are undefined on these queries, and means"
        " leave them out. Other tools may count them as 0 or 1: compare means with care.",
        examples=query_examples(dataset, concerned),
    )


def _very_long(dataset: RankingDataset, concerned: Flags) -> Finding:
    beyond = f"more than {LIGHTGBM_LONGEST:,} documents"
    return Finding.of_share(
        "very-long-queries",
        "info",
        (int(concerned.sum()), dataset.n_queries, "queries"),
        (f"has {beyond}", f"have {beyond}"),
        advice="Rankery trains and measures on them in full, where LightGBM's own ranking losses and"
        " metrics stop with an error. A truncation_level keeps the time that pairs take in bounds.",
        examples=query_examples(dataset, concerned),
    )
