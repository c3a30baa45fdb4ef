"""Training datasets from click logs: one query per list, clicks as labels, shown ranks as a column."""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from core.clicks.correction import RANK
from core.clicks.joining import documents_without_features, pairs_of
from core.clicks.log import ClickLog
from core.data import RankingDataset
from core.data.features import select_rows
from core.data.texts import Texts
from core.doctor.report import Finding
from core.errors import InvalidInput
from core.types import Int64Array

_SEPARATOR = "/"


def query_of_list(list_id: str) -> str:
    """Return the query of a list, from the id that `training_data` gives to the list."""
    return list_id.rpartition(_SEPARATOR)[0]


@dataclass(frozen=True)
class ClickTrainingData:
    """A dataset of clicks.

    Attributes:
        dataset: Dataset with a query for each list with a click on a document with features. The documents of
            a query are the list's impressions of documents with features.
        left_out: Number of lists without a click on a document with features.
        findings: A finding if some impressions are of documents without features.
    """

    dataset: RankingDataset
    left_out: int
    findings: tuple[Finding, ...]


def rows_of_pairs(log: ClickLog, dataset: RankingDataset) -> Int64Array:
    """Return the row of each pair of a log in a dataset, (n_pairs,), -1 where absent.

    A pair that the dataset has several times gets its last row.
    """
    return _rows_of(pairs_of(dataset, log), log.n_pairs)


def _rows_of(pairs: Int64Array, n_pairs: int) -> Int64Array:
    rows = np.full(n_pairs, -1, np.int64)
    joined = np.flatnonzero(pairs >= 0)
    rows[pairs[joined]] = joined
    return rows


def training_data(log: ClickLog, features: RankingDataset) -> ClickTrainingData:
    """Return a dataset of the log's lists with features from another dataset; labels are clicks, 1 or 0.

    Documents without features are omitted. Lists without a click on the remaining documents have no order to
    learn and are omitted, too. Weights of the feature dataset are not copied.

    Args:
        features: Dataset with the features of documents, joined by query id and document id.

    Raises:
        InvalidInput: No clicked document has features.
    """
    pairs = pairs_of(features, log)
    rows = _rows_of(pairs, log.n_pairs)[log.pairs]
    lists = log.list_of_impression
    is_known = rows >= 0
    has_click = np.bincount(lists[is_known & log.clicks], minlength=log.n_lists) > 0
    kept = np.flatnonzero(is_known & has_click[lists])
    if not len(kept):
        raise InvalidInput.at(
            "/dataset_id",
            "this dataset has none of the clicked documents of the log; query and document ids must match",
        )
    chosen = np.flatnonzero(has_click)
    boundaries = np.searchsorted(lists[kept], np.append(chosen, log.n_lists)).astype(np.int64)
    names = log.query_ids
    ranks = Texts.of([str(rank) for rank in range(log.max_rank + 1)]).take(log.ranks[kept].astype(np.int64))
    dataset = RankingDataset(
        features=select_rows(features.features, rows[kept]),
        labels=log.clicks[kept].astype(np.float32),
        query_boundaries=boundaries,
        query_ids=tuple(
            f"{names[int(log.list_queries[number])]}{_SEPARATOR}{number + 1}" for number in chosen
        ),
        document_ids=features.document_ids.take(rows[kept]),
        feature_names=features.feature_names,
        document_columns=MappingProxyType({RANK: ranks}),
        categories=features.categories,
    )
    findings = documents_without_features(log, pairs)
    return ClickTrainingData(dataset, int(log.n_lists - len(chosen)), findings)
