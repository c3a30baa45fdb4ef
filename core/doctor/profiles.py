"""Profiles of features."""

import numpy as np

from core.data import RankingDataset
from core.doctor.columns import ColumnCounts
from core.doctor.report import FeatureProfile
from core.doctor.single_feature import SingleFeatures


def profile_features(
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
            ndcg_at_10=float(ndcg[j]) if single.queries else None,
            direction="ascending" if ascending[j] else "descending",
        )
        for j, name in enumerate(dataset.feature_names)
    )
