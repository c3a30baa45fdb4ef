"""What a model makes of a dataset: evaluations and rankings, written the same way by every kind of job."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from core.data import RankingDataset
from core.evaluation import evaluate, rank_documents
from core.store import Transaction, new_id
from core.types import Float64Array
from worker.jobs import JobRun


@dataclass(frozen=True)
class StoredEvaluation:
    """An evaluation whose per-query values are stored and whose row is still to be added.

    Attributes:
        id: The evaluation.
        summaries: Mean, 95% interval, counts and contract by metric.
    """

    id: str
    summaries: dict[str, dict[str, Any]]

    @property
    def means(self) -> dict[str, float | None]:
        """The mean over queries by metric."""
        return {name: summary["mean"] for name, summary in self.summaries.items()}

    def add(self, tx: Transaction, run: JobRun, model_id: str, dataset_id: str) -> None:
        """Add the row."""
        tx.evaluations.add(
            self.id, job_id=run.id, model_id=model_id, dataset_id=dataset_id, summaries=self.summaries
        )


@dataclass(frozen=True)
class StoredRanking:
    """A ranking whose documents are stored and whose row is still to be added.

    Attributes:
        id: The ranking.
        queries: The number of queries.
        documents: The number of documents over all queries.
    """

    id: str
    queries: int
    documents: int

    def add(self, tx: Transaction, run: JobRun, model_id: str, dataset_id: str) -> None:
        """Add the row."""
        tx.rankings.add(
            self.id,
            job_id=run.id,
            model_id=model_id,
            dataset_id=dataset_id,
            queries=self.queries,
            documents=self.documents,
        )


def store_evaluation(
    run: JobRun, scores: Float64Array, dataset: RankingDataset, metrics: Sequence[str]
) -> StoredEvaluation:
    """Evaluate scores and store every query's values."""
    run.phase("evaluating")
    evaluation = evaluate(scores, dataset, list(metrics))
    stored = StoredEvaluation(new_id("evl_"), evaluation.as_json())
    with run.writing(f"evaluations/{stored.id}/queries.parquet") as file:
        evaluation.to_parquet(file, dataset)
    return stored


def store_ranking(run: JobRun, scores: Float64Array, dataset: RankingDataset) -> StoredRanking:
    """Order every query's documents by score and store the order."""
    run.phase("ranking")
    stored = StoredRanking(new_id("rnk_"), dataset.n_queries, dataset.n_documents)
    with run.writing(f"rankings/{stored.id}/ranking.parquet") as file:
        pq.write_table(rank_documents(scores, dataset), file)
    return stored
