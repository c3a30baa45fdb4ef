"""Naming what a finding is about, so that a user can look at it."""

import numpy as np

from core.data import RankingDataset
from core.doctor.hashing import Flags
from core.doctor.report import MAX_EXAMPLES
from core.types import Float64Array, Int64Array


def query_examples(dataset: RankingDataset, concerned: Flags) -> tuple[str, ...]:
    """Name the first of the queries concerned, (n_queries,)."""
    return tuple(dataset.query_ids[query] for query in np.flatnonzero(concerned)[:MAX_EXAMPLES].tolist())


def queries_of(dataset: RankingDataset, concerned: Flags) -> tuple[str, ...]:
    """Name the first queries that hold one of the documents concerned, (n_documents,)."""
    return query_examples(dataset, np.logical_or.reduceat(concerned, dataset.query_boundaries[:-1]))


def feature_examples(dataset: RankingDataset, amounts: Flags | Int64Array | Float64Array) -> tuple[str, ...]:
    """Name the features of the largest amounts above 0, (n_features,); in column order where they tie."""
    order = np.argsort(-amounts.astype(np.float64), kind="stable")[:MAX_EXAMPLES]
    return tuple(dataset.feature_names[column] for column in order.tolist() if amounts[column] > 0)
