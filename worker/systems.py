"""What ranks a dataset for a job: stored models, and rankings from elsewhere."""

from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from core.data import RankingDataset
from core.data.fitting import fit_features
from core.data.trec import Run, join_run
from core.evaluation import Judgments
from core.store import Store, System
from core.store.result_keys import ranking_key
from core.types import Float64Array
from worker.jobs import JobRun
from worker.models import load_model


@dataclass(frozen=True, eq=False)
class Ranked:
    """What a system makes of a dataset.

    Attributes:
        dataset: The queries, with the features that the model uses.
        judgments: What the scores are measured by: the dataset, or its documents and those that the ranking
            retrieved.
        scores: (n_documents,) by the judgments; NaN where a document was not retrieved.
    """

    dataset: RankingDataset
    judgments: Judgments
    scores: Float64Array


def system_of(spec: dict[str, Any]) -> System:
    """Return the system that a job names, its references resolved."""
    if model_id := spec.get("model_id"):
        # A job that was queued before systems were named knows the model alone.
        return System(spec.get("system") or model_id, model_id=model_id)
    return System(spec["system"], ranking_id=spec["ranking_id"])


def rank_by(run: JobRun, system: System, dataset: RankingDataset) -> Ranked:
    """Score a dataset.

    Raises:
        DatasetError: It lacks features of the model.
        InvalidInput: A ranking cannot be joined with it by its documents.
    """
    if system.model_id is not None:
        model = load_model(run.store, system.model_id)
        fitted = fit_features(dataset, model.feature_names)
        return Ranked(fitted, fitted, model.forest.score(fitted.features, run.threads))
    joined = join_run(dataset, _stored_run(run.store, str(system.ranking_id)))
    return Ranked(dataset, joined, joined.scores)


def _stored_run(store: Store, ranking_id: str) -> Run:
    columns = ["query_id", "document_id", "score"]
    with store.artifacts.open(ranking_key(ranking_id)) as file:
        table = pq.read_table(file, columns=columns)
    return Run.from_columns(*(table.column(name) for name in columns))
