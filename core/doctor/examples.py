"""Examples of findings: queries and features."""

import numpy as np

from core.data import RankingDataset
from core.doctor.hashing import Flags
from core.doctor.report import MAX_EXAMPLES
from core.types import Float64Array, Int64Array


def query_examples(dataset: RankingDataset, concerned: Flags) -> tuple[str, ...]:
    """Return the ids of the first flagged queries; flags are (n_queries,)."""
    return tuple(dataset.query_ids[query] for query in np.flatnonzero(concerned)[:MAX_EXAMPLES].tolist())


def queries_of(dataset: RankingDataset, concerned: Flags) -> tuple[str, ...]:
    """Return the ids of the first queries with a flagged document; flags are (n_documents,)."""
    return query_examples(dataset, np.logical_or.reduceat(concerned, dataset.query_boundaries[:-1]))


def feature_examples(dataset: RankingDataset, amounts: Flags | Int64Array | Float64Array) -> tuple[str, ...]:
    """Return the features with the largest amounts above 0, (n_features,); ties in column order."""
    order = np.argsort(-amounts.astype(np.float64), kind="stable")[:MAX_EXAMPLES]
    return tuple(dataset.feature_names[column] for column in order.tolist() if amounts[column] > 0)
