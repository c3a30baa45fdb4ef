"""Findings on useless, damaged and leaking features."""

from collections.abc import Iterator

import numpy as np

from core.data import RankingDataset
from core.data.categories import FLOAT32_EXACT_LIMIT
from core.doctor.columns import ColumnCounts
from core.doctor.hashing import Flags
from core.doctor.report import Finding, feature_examples
from core.doctor.single_feature import CUTOFF, SingleFeatures
from core.names import counted
from core.types import Float64Array, Int64Array

# Lift of NDCG: 0 for a random order, 1 for the ideal order. On public data the best feature has a fifth to a
# third, and a trained model about half; a single feature far above that was derived from the label.
LEAK_LIFT = 0.9
# Minimum numbers of queries and documents: with fewer, the best of many features may seem a leak by chance.
_LEAK_QUERIES = 10
_LEAK_DOCUMENTS = 100


def feature_findings(
    dataset: RankingDataset, columns: ColumnCounts, single: SingleFeatures
) -> Iterator[Finding]:
    """Report problems of single features."""
    if single.queries >= _LEAK_QUERIES and single.documents >= _LEAK_DOCUMENTS:
        leaking = single.lift >= LEAK_LIFT
        if leaking.any():
            yield _leaking(dataset, leaking, single)
    if not columns.varies.all():
        yield _constant(dataset, ~columns.varies)
    per_query = columns.varies & ~columns.varies_in_queries
    if per_query.any() and dataset.n_documents > dataset.n_queries:
        yield _constant_in_queries(dataset, per_query, nothing_to_rank=not columns.varies_in_queries.any())
    if columns.missing.any():
        yield _missing(dataset, columns.missing)
    if columns.infinite.any():
        yield _infinite(dataset, columns.infinite)
    largest = np.maximum(np.abs(columns.minimum), np.abs(columns.maximum))
    rounded = np.where(np.isfinite(largest) & (largest > FLOAT32_EXACT_LIMIT), largest, 0.0)
    if rounded.any():
        yield _rounded(dataset, rounded)


def _leaking(dataset: RankingDataset, leaking: Flags, single: SingleFeatures) -> Finding:
    reached = f"NDCG@{CUTOFF} {np.nanmax(single.better):.3f}, a random order has {single.by_chance:.3f}"
    return Finding.of_share(
        "leaking-features",
        "warning",
        (int(leaking.sum()), dataset.n_features, "features"),
        (
            f"ranks documents almost in the order of their labels: {reached}",
            f"rank documents almost in the order of their labels, each alone: up to {reached}",
        ),
        advice="Such a feature is usually the label itself, or was computed from the label or from events"
        " after the ranking was shown. Remove it unless it is available at the time of a search.",
        examples=feature_examples(dataset, np.where(leaking, single.lift, 0.0)),
        example_kind="feature",
    )


def _constant(dataset: RankingDataset, affected: Flags) -> Finding:
    count, total = int(affected.sum()), dataset.n_features
    return Finding.of_share(
        "constant-features",
        "error" if count == total else "info",
        (count, total, "features"),
        ("has the same value in every document", "have the same value in every document"),
        advice="No feature distinguishes any documents. Check how the features were read."
        if count == total
        else "Constant features have no information and may be removed. In LETOR files, they are often ids"
        " that no row uses.",
        examples=feature_examples(dataset, affected),
        example_kind="feature",
    )


def _constant_in_queries(dataset: RankingDataset, affected: Flags, *, nothing_to_rank: bool) -> Finding:
    return Finding.of_share(
        "query-constant-features",
        "error" if nothing_to_rank else "info",
        (int(affected.sum()), dataset.n_features, "features"),
        (
            "has the same value for all documents of a query, in every query",
            "have the same value for all documents of a query, in every query",
        ),
        advice="No feature distinguishes the documents of a query, so no ranking can be learnt. Check the"
        " query column and the features."
        if nothing_to_rank
        else "Query features, such as the length of the query, cannot rank documents alone; a model can only"
        " combine them with other features. Remove them if they were meant to describe documents.",
        examples=feature_examples(dataset, affected),
        example_kind="feature",
    )


def _missing(dataset: RankingDataset, per_feature: Int64Array) -> Finding:
    features = _features(per_feature)
    return Finding.of_share(
        "missing-values",
        "info",
        (int(per_feature.sum()), dataset.n_documents * dataset.n_features, "values"),
        (f"is missing (in {features})", f"are missing (in {features})"),
        advice="Missing values are allowed: trees learn the better side of each split for them. Leave them"
        " missing in scoring requests, too, instead of writing 0.",
        examples=feature_examples(dataset, per_feature),
        example_kind="feature",
    )


def _infinite(dataset: RankingDataset, per_feature: Int64Array) -> Finding:
    features = _features(per_feature)
    return Finding.of_share(
        "infinite-values",
        "warning",
        (int(per_feature.sum()), dataset.n_documents * dataset.n_features, "values"),
        (f"is infinite (in {features})", f"are infinite (in {features})"),
        advice="Infinite values usually come from a division by 0 or the logarithm of 0. Trees treat them as"
        " very large or very small values, but the JSON of scoring requests cannot contain them. Write a"
        " finite number, or leave the value missing.",
        examples=feature_examples(dataset, per_feature),
        example_kind="feature",
    )


def _rounded(dataset: RankingDataset, largest: Float64Array) -> Finding:
    bound = f"beyond {FLOAT32_EXACT_LIMIT:,}, where float32 rounds whole numbers"
    return Finding.of_share(
        "rounded-numbers",
        "info",
        (int(np.count_nonzero(largest)), dataset.n_features, "features"),
        (f"has values {bound}", f"have values {bound}"),
        advice="Features have seven significant digits, in trainings as in scoring requests, so that close"
        " numbers become equal. Remove ids. Write a time as the days since a date of your choice.",
        examples=feature_examples(dataset, largest),
        example_kind="feature",
    )


def _features(per_feature: Int64Array) -> str:
    return counted(int(np.count_nonzero(per_feature)), "feature")
