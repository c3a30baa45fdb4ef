"""Join of judgments from clicks with the features of a dataset, by query id and document id."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

import numpy as np

from core.clicks.judgments import Judgments
from core.clicks.log import ClickLog
from core.data import RankingDataset
from core.data.texts import Texts
from core.doctor.report import MAX_EXAMPLES, Finding
from core.errors import InvalidInput
from core.types import BoolArray, Float32Array, Int64Array

Unjudged = Literal["drop", "zero"]
# Document columns with the impressions, the relevance and the ends of its interval, from which grades come.
COLUMNS = ("click_impressions", "click_relevance", "click_relevance_lower", "click_relevance_upper")


def pairs_of(dataset: RankingDataset, log: ClickLog) -> Int64Array:
    """Return the pair of a log that each document of a dataset belongs to, (n_documents,), -1 for none."""
    return log.pairs_of(dataset.query_ids, dataset.document_ids, dataset.query_boundaries)


def documents_without_features(log: ClickLog, pairs: Int64Array) -> tuple[Finding, ...]:
    """Return a finding if some impressions of a log are of documents without features.

    Args:
        pairs: Pairs of the documents with features, from `pairs_of`.
    """
    is_absent = np.ones(log.n_pairs, np.bool_)
    is_absent[pairs[pairs >= 0]] = False
    absent = log.pairs[is_absent[log.pairs]]
    if not len(absent):
        return ()
    queries = np.unique(log.pair_queries[np.unique(absent)])[:MAX_EXAMPLES]
    return (
        Finding.of_share(
            "documents-without-features",
            "warning" if 2 * len(absent) > log.n_impressions else "info",
            (len(absent), log.n_impressions, "impressions"),
            (
                "is of a document without features, and is left out",
                "are of documents without features, and are left out",
            ),
            advice="Spell the ids of queries and documents as in the click log. No action if the dataset has"
            " only some of the log's queries.",
            examples=tuple(log.query_ids[query] for query in queries.tolist()),
        ),
    )


def judged_dataset(
    features: RankingDataset, pairs: Int64Array, judgments: Judgments, unjudged: Unjudged = "drop"
) -> RankingDataset:
    """Return a dataset with the given features and with grades from clicks as labels.

    Impressions, relevance and the ends of its 95% interval become document columns, see `COLUMNS`.

    Args:
        features: The dataset with the features; its labels are replaced.
        pairs: Pair of each document, from `pairs_of`.
        unjudged: `drop` omits documents without a grade. `zero` labels them 0 in queries with a grade, and
            omits other queries.

    Raises:
        InvalidInput: No document has a grade.
    """
    judged = pairs >= 0
    judged[judged] = judgments.grades[pairs[judged]] >= 0
    sizes = np.diff(features.query_boundaries)
    queries = np.repeat(np.arange(features.n_queries), sizes)
    is_kept = judged if unjudged == "drop" else np.isin(queries, queries[judged])
    if not is_kept.any():
        raise InvalidInput.at(
            "/features_dataset_id",
            "the clicks judge no query-document pair of the dataset: use the query and document ids of the"
            " log",
        )
    labels = np.zeros(features.n_documents, np.float32)
    labels[judged] = judgments.grades[pairs[judged]]
    return _select_rows(features, is_kept, labels, _judgment_columns(judgments, pairs, judged))


def _select_rows(
    features: RankingDataset, is_kept: BoolArray, labels: Float32Array, columns: Mapping[str, Texts]
) -> RankingDataset:
    """Return the kept documents, with the given labels and with the given columns added."""
    rows = np.flatnonzero(is_kept)
    queries = np.repeat(np.arange(features.n_queries), np.diff(features.query_boundaries))[rows]
    remaining, counts = np.unique(queries, return_counts=True)
    document_columns = {
        name: texts.take(rows) for name, texts in {**features.document_columns, **columns}.items()
    }
    weights, documents = features.query_weights, features.document_weights
    return replace(
        features,
        features=np.ascontiguousarray(features.features[rows]),
        labels=labels[rows],
        query_boundaries=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        query_ids=tuple(features.query_ids[query] for query in remaining.tolist()),
        document_ids=features.document_ids.take(rows),
        query_weights=None if weights is None else weights[remaining],
        document_weights=None if documents is None else documents[rows],
        query_columns=MappingProxyType(
            {
                name: tuple(texts[query] for query in remaining.tolist())
                for name, texts in features.query_columns.items()
            }
        ),
        document_columns=MappingProxyType(document_columns),
    )


def _judgment_columns(judgments: Judgments, pairs: Int64Array, judged: BoolArray) -> dict[str, Texts]:
    values = (judgments.impressions, judgments.relevances, judgments.lower, judgments.upper)
    columns = {}
    for name, numbers, form in zip(COLUMNS, values, ("%.0f", "%.4g", "%.4g", "%.4g"), strict=True):
        texts = np.full(len(pairs), "", object)
        texts[judged] = [form % number for number in numbers[pairs[judged]].tolist()]
        columns[name] = Texts.of(texts.tolist())
    return columns
