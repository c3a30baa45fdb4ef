"""Rows of evaluations, rankings and comparisons."""

from collections.abc import Callable
from typing import Any

import pytest

from core.errors import NotFound
from core.jobs import System
from core.store import Job, Model, Store, new_id


@pytest.mark.both_stores
def test_evaluations_are_found_by_id_job_and_model(
    store: Store, job: Job, add_model: Callable[[str], Model]
) -> None:
    """An evaluation is kept with its summaries and found by id, job and model."""
    model = add_model("web")
    summaries = {"ndcg@10": {"mean": 0.4, "lower": 0.3, "upper": 0.5, "queries": 10, "skipped": 1}}
    evaluation_id = new_id("evl_")
    with store.begin() as tx:
        tx.evaluations.add(
            evaluation_id,
            job_id=job.id,
            system=System("web:1", model.id),
            dataset_id="ds_1",
            summaries=summaries,
            contract={"preset": "letor"},
            baselines=[{"name": "random"}],
            slices=[{"by": "market"}],
        )
        other = tx.evaluations.add(
            job_id=job.id,
            system=System("web:1", model.id),
            dataset_id="ds_2",
            summaries={},
            contract={},
            baselines=[],
            slices=[],
            diagnostics={"cutoff": 10},
        )
    with store.read() as tx:
        found = tx.evaluations.get(evaluation_id)
        assert (found.summaries, found.dataset_id, found.model_id) == (summaries, "ds_1", model.id)
        assert (found.contract, found.baselines, found.slices, found.diagnostics) == (
            {"preset": "letor"},
            [{"name": "random"}],
            [{"by": "market"}],
            None,
        )
        assert tx.evaluations.get(other.id).diagnostics == {"cutoff": 10}
        assert [row.id for row in tx.evaluations.of_job(job.id)] == [evaluation_id, other.id]
        assert [row.id for row in tx.evaluations.of_model(model.id)] == [evaluation_id, other.id]
        assert tx.evaluations.of_job("job_none") == []
        with pytest.raises(NotFound, match="evl_none"):
            tx.evaluations.get("evl_none")


def test_rankings_are_found_by_id_and_job(store: Store, job: Job, add_model: Callable[[str], Model]) -> None:
    """A ranking is kept with its size and found by id and job."""
    model = add_model("web")
    ranking_id = new_id("rnk_")
    with store.begin() as tx:
        tx.rankings.add(
            ranking_id,
            job_id=job.id,
            system=System("web:1", model.id),
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


def test_a_ranking_from_elsewhere_has_no_model(store: Store, job: Job) -> None:
    """The ranking and its evaluation have the given name of the system."""
    with store.begin() as tx:
        ranking = tx.rankings.add(
            job_id=job.id, system=System("bm25"), dataset_id="ds_1", queries=3, documents=9
        )
        evaluation = tx.evaluations.add(
            job_id=job.id,
            system=System("bm25", ranking_id=ranking.id),
            dataset_id="ds_1",
            summaries={},
            contract={},
            baselines=[],
            slices=[],
        )
    with store.read() as tx:
        assert (tx.rankings.get(ranking.id).system, tx.rankings.get(ranking.id).model_id) == ("bm25", None)
        found = tx.evaluations.get(evaluation.id)
        assert (found.system, found.model_id, found.ranking_id) == ("bm25", None, ranking.id)


def test_comparisons_are_listed_newest_first(store: Store, job: Job) -> None:
    """A comparison is stored with all its values and found by id."""
    values: dict[str, Any] = {
        "job_id": job.id,
        "dataset_id": "ds_1",
        "sentence": "b is better than a.",
        "systems": [{"name": "a"}, {"name": "b"}],
        "metrics": ["ndcg@10"],
        "contract": {"preset": "default"},
        "permutations": 100_000,
        "seed": 42,
        "pairs": [{"a": 0, "b": 1, "verdict": "better"}],
    }
    with store.begin() as tx:
        first, second = tx.comparisons.add(**values), tx.comparisons.add(**values)
    with store.read() as tx:
        found = tx.comparisons.get(first.id)
        assert {name: getattr(found, name) for name in values} == values
        page = tx.comparisons.page(None, 1)
        assert ([row.id for row in page.items], page.next_cursor) == ([second.id], second.id)
        assert [row.id for row in tx.comparisons.page(page.next_cursor, 1).items] == [first.id]
        with pytest.raises(NotFound, match="cmp_none"):
            tx.comparisons.get("cmp_none")
