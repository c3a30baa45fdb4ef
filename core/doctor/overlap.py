"""Findings on leakage: queries and documents that two datasets share."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from core.data import RankingDataset
from core.data.feature_alignment import model_codes
from core.data.features import Features, copy_features
from core.doctor.hashing import Flags, Hashes, hash_rows
from core.doctor.report import Finding, query_examples, query_examples_of_documents

# Share of the documents; a smaller share is more likely due to duplicate pages than to a leak.
_WARNING_SHARE = 0.05
_TRAINING_FACTOR = 2.0  # times the share of documents that training queries have in common
_MAX_GAP_FACTOR = 2.0  # times the number of queries; ids up to this are a numbering with gaps


def document_findings(
    train: RankingDataset, other: RankingDataset, role: str, query_of: Callable[[str], str] | None = None
) -> Iterator[Finding]:
    """Report documents with equal values of all common features.

    Documents without any feature value are ignored. Where features are few or coarse, documents of different
    queries are often equal by chance. The finding is therefore a warning only under two conditions. The
    shared documents are at least 5% of all, and at least twice as frequent as documents that training queries
    share with each other.

    Args:
        role: Role of `other`.
        query_of: If query ids of the training data are ids of result lists, the query of each list by its id.
    """
    column_of = {name: column for column, name in enumerate(train.feature_names)}
    common = [(column_of[name], at) for at, name in enumerate(other.feature_names) if name in column_of]
    if not common:
        return
    of_train, of_other = np.array(common, np.int64).T.copy()
    train_hashes, train_filled = hash_rows(train.features, of_train)
    hashes, filled = hash_rows(_in_codes_of(train, other), of_other)
    shared = filled & _are_in(hashes, np.sort(train_hashes[train_filled]))
    count, total = int(shared.sum()), other.n_documents
    if not count:
        return
    distinct = 1 + int(np.count_nonzero(np.diff(np.sort(hashes[shared]))))
    query_ids = train.query_ids if query_of is None else tuple(map(query_of, train.query_ids))
    shared_in_training = _shared_between_queries(train_hashes, train_filled, train, query_ids)
    details = f"; {distinct:,} distinct" if distinct < count else ""
    if shared_in_training:
        details += (
            f"; {shared_in_training:.1%} of the training documents equal a training document of another query"
        )
    yield Finding.of_share(
        "shared-documents",
        "warning" if count / total >= max(_WARNING_SHARE, _TRAINING_FACTOR * shared_in_training) else "info",
        (count, total, "documents"),
        (
            f"has exactly the same features as a training document{details}",
            f"have exactly the same features as a training document{details}",
        ),
        where=f"of the {role} data",
        advice="Metrics are too high on documents that the model was trained on. Split by whole queries,"
        " before rows are copied or resampled. With few or coarse features,"
        " documents may also be equal by chance.",
        examples=query_examples_of_documents(other, shared),
    )


def query_findings(train: RankingDataset, other: RankingDataset, role: str) -> Iterator[Finding]:
    """Report common query ids, as a warning unless both datasets number their queries from 1."""
    train_ids = set(train.query_ids)
    shared: Flags = np.array([query_id in train_ids for query_id in other.query_ids])
    if not shared.any():
        return
    are_numbered = _has_numbered_queries(train) and _has_numbered_queries(other)
    yield Finding.of_share(
        "shared-queries",
        "info" if are_numbered else "warning",
        (int(shared.sum()), other.n_queries, "queries"),
        ("has the id of a training query", "have the id of a training query"),
        where=f"of the {role} data",
        advice="Both datasets number their queries from 1, so equal ids may be different queries. Shared"
        " documents are a separate finding."
        if are_numbered
        else "Metrics are too high on queries that the model was trained on. Split by whole queries, so that"
        " all documents of a query are in one dataset.",
        examples=query_examples(other, shared),
    )


def _in_codes_of(train: RankingDataset, other: RankingDataset) -> Features:
    """Return the features of `other` in the training data's codes of categories, infinite where unknown."""
    recoded = {
        column: train.categories[name]
        for column, name in enumerate(other.feature_names)
        if name in train.categories and other.categories.get(name) != train.categories[name]
    }
    if not recoded:
        return other.features
    features = copy_features(other.features)
    for column, categories in recoded.items():
        values, codes = other.features[:, column], model_codes(other, column, categories)
        unknown = np.isnan(codes) & ~np.isnan(values)
        features[:, column] = np.where(unknown, np.float32(np.inf), codes)
    return features


def _are_in(hashes: Hashes, sorted_hashes: Hashes) -> Flags:
    """Return the mask of the hashes that are in `sorted_hashes`, which is sorted."""
    order = np.argsort(hashes)  # binary search is many times faster with sorted keys
    ordered = hashes[order]
    mask = np.zeros(len(hashes), np.bool_)
    mask[order] = np.searchsorted(sorted_hashes, ordered, side="right") > np.searchsorted(
        sorted_hashes, ordered
    )
    return mask


def _shared_between_queries(
    hashes: Hashes, filled: Flags, dataset: RankingDataset, query_ids: Sequence[str]
) -> float:
    """Return the share of documents that equal a document of another query; one document must be filled."""
    numbers = {query_id: number for number, query_id in enumerate(query_ids)}
    of_dataset = np.array([numbers[query_id] for query_id in query_ids])
    queries = np.repeat(of_dataset, np.diff(dataset.query_boundaries))[filled]
    order = np.argsort(hashes[filled])
    ordered, queries = hashes[filled][order], queries[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    several = np.minimum.reduceat(queries, starts) < np.maximum.reduceat(queries, starts)
    lengths = np.diff(np.append(starts, len(ordered)))
    return float(lengths[several].sum() / dataset.n_documents)


def _has_numbered_queries(dataset: RankingDataset) -> bool:
    if "1" not in dataset.query_ids or not all(map(str.isdecimal, dataset.query_ids)):
        return False
    # Not int, which refuses texts of more than 4,300 digits.
    return max(map(float, dataset.query_ids)) <= _MAX_GAP_FACTOR * dataset.n_queries
