"""Recognise a dataset as a public corpus, alone or with the other parts of its upload or folder."""

from typing import Any

from app.datasets.browsing_schemas import Corpus
from core.doctor.corpora import Counts, recognise
from core.errors import NotFound, WrongState
from core.store import Dataset, Transaction


def corpus_of(tx: Transaction, dataset_id: str) -> Corpus:
    """Compare a dataset's counts, or those of all parts of its upload if ready, with published counts.

    Raises:
        NotFound: There is no such dataset.
        WrongState: The dataset is not ready.
    """
    dataset = tx.datasets.get(dataset_id)
    if dataset.statistics is None:
        raise WrongState(
            "dataset", dataset_id, dataset.status, "its counts are available after it has been read"
        )
    return Corpus.model_validate(recognise(_counts_by_part(tx, dataset), dataset.source.get("folder")))


def _counts_by_part(tx: Transaction, dataset: Dataset) -> dict[str, Counts]:
    parts = {}
    for part, dataset_id in (dataset.parts or {}).items():
        try:
            statistics = tx.datasets.get(dataset_id).statistics
        except NotFound:
            break
        if statistics is None:
            break
        parts[part] = _counts(statistics)
    else:
        if parts:
            return parts
    return {"dataset": _counts(dataset.statistics or {})}


def _counts(statistics: dict[str, Any]) -> Counts:
    max_label = (statistics.get("label_range") or {}).get("maximum")
    return Counts(statistics["queries"], statistics["documents"], statistics["features"], max_label)
