"""Evaluations and rankings on record."""

from collections.abc import Callable

import pytest

from core.errors import NotFound
from core.store import Job, Model, Store, new_id


def test_evaluations(store: Store, job: Job, add_model: Callable[[str], Model]) -> None:
    """An evaluation is kept with its summaries and found by id, job and model."""
    model = add_model("web")
    summaries = {"ndcg@10": {"mean": 0.4, "lower": 0.3, "upper": 0.5, "queries": 10, "skipped": 1}}
    evaluation_id = new_id("evl_")
    with store.begin() as tx:
        tx.evaluations.add(
            evaluation_id, job_id=job.id, model_id=model.id, dataset_id="ds_1", summaries=summaries
        )
        other = tx.evaluations.add(job_id=job.id, model_id=model.id, dataset_id="ds_2", summaries={})
    with store.read() as tx:
        found = tx.evaluations.get(evaluation_id)
        assert (found.summaries, found.dataset_id, found.model_id) == (summaries, "ds_1", model.id)
        assert [row.id for row in tx.evaluations.of_job(job.id)] == [evaluation_id, other.id]
        assert [row.id for row in tx.evaluations.of_model(model.id)] == [evaluation_id, other.id]
        assert tx.evaluations.of_job("job_none") == []
        with pytest.raises(NotFound, match="evl_none"):
            tx.evaluations.get("evl_none")


def test_rankings(store: Store, job: Job, add_model: Callable[[str], Model]) -> None:
    """A ranking is kept with its size and found by id and job."""
    model = add_model("web")
    ranking_id = new_id("rnk_")
    with store.begin() as tx:
        tx.rankings.add(
            ranking_id,
            job_id=job.id,
            model_id=model.id,
            dataset_id="ds_1",
            queries=3,
            documents=5_000_000_000,
        )
    with store.read() as tx:
        found = tx.rankings.get(ranking_id)
        assert (found.queries, found.documents, found.dataset_id) == (3, 5_000_000_000, "ds_1")
        assert [row.id for row in tx.rankings.of_job(job.id)] == [ranking_id]
        with pytest.raises(NotFound, match="rnk_none"):
            tx.rankings.get("rnk_none")
