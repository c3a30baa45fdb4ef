"""Distributed trainings: the model does not depend on the number of ranks or on their machines."""

from typing import Any

import pytest

from app.models.distillation import reproduction
from core.data import RankingDataset
from core.data.splits import bootstrap_queries, split_queries
from core.store import Job
from tests.servers.dask import DaskCluster
from tests.worker.dask.ranks import ranks_left
from tests.worker.inline_worker import InlineWorker
from tests.worker.ranks.trainings import COLOURS, SEED, SMALL, STOPPED_EARLY, ranks, text_of, train_on
from worker.ranks import sharing

pytestmark = pytest.mark.xdist_group("ranks")


@pytest.fixture
def jobs(local_job: Job, dask_job: Job) -> list[Job]:
    """The same training on two ranks of a Dask cluster, and on three ranks of this machine."""
    return [dask_job, local_job]


@pytest.mark.long
def test_the_model_does_not_depend_on_number_and_place_of_ranks(
    shared_worker: InlineWorker, jobs: list[Job]
) -> None:
    """Two ranks on Dask workers and three on this machine give the same bytes, curves and metrics."""
    assert len({text_of(shared_worker, job) for job in jobs}) == 1
    with shared_worker.store.read() as tx:
        curves = [[row.values for row in tx.jobs.iterations(job.id)] for job in jobs]
    assert curves[0] == curves[1]
    assert jobs[0].metrics == jobs[1].metrics
    shown = jobs[1].progress or {}
    assert [each["rank"] for each in shown["ranks"]] == [0, 1, 2]
    assert sum(each["queries"] for each in shown["ranks"]) == 42
    assert all(each["memory_bytes"] and each["sent_bytes"] for each in shown["ranks"])


def test_ranks_run_on_both_dask_workers(dask_job: Job, dask_cluster: DaskCluster) -> None:
    """Each Dask worker runs a rank, and no rank is left afterwards."""
    assert dask_job.progress is not None
    assert [rank["rank"] for rank in dask_job.progress["ranks"]] == [0, 1]
    assert dask_job.progress["restarts"] == 0
    assert ranks_left(dask_cluster, 1.0) == []


def test_counts_of_leaves_are_those_of_the_data(
    shared_worker: InlineWorker, coloured: RankingDataset, local_job: Job
) -> None:
    """The leaf counts of every tree add up to all training documents."""
    training, _ = split_queries(coloured, 0.3, seed=SEED)
    lines = _leaf_counts(text_of(shared_worker, local_job))
    counts = [sum(map(int, line.partition("=")[2].split())) for line in lines]
    assert set(counts) == {training.n_documents}


def test_a_training_stops_early_at_the_same_iteration(jobs: list[Job]) -> None:
    """The driver decides from the means of all queries."""
    done = [(job.progress or {})["iteration"] for job in jobs]
    assert done[0] == done[1] < STOPPED_EARLY["hyperparameters"]["num_iterations"]


def test_the_model_has_the_categories_of_the_whole_dataset(
    shared_worker: InlineWorker, local_job: Job
) -> None:
    """The model has all categories, and a tree splits by them."""
    text = text_of(shared_worker, local_job)
    assert all(colour in text for colour in COLOURS)
    assert any(line != "num_cat=0" for line in text.splitlines() if line.startswith("num_cat="))


@pytest.mark.slow
def test_the_sample_of_a_rank_comes_in_blocks(
    shared_worker: InlineWorker,
    coloured: RankingDataset,
    coloured_id: str,
    local_job: Job,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks of ten documents, which do not divide the shards, yield the same bins as one block."""
    monkeypatch.setattr(sharing, "_SAMPLED_CELLS", 10 * coloured.n_features)
    job = train_on(shared_worker, coloured_id, 2, **STOPPED_EARLY)
    assert text_of(shared_worker, job) == text_of(shared_worker, local_job)


@pytest.mark.slow
def test_a_model_is_trained_again_to_the_same_bytes(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """A reproduction yields the same bytes, with weights and sampled queries."""
    weighted = bootstrap_queries(dataset, 3)
    dataset_id = inline_worker.add(weighted, "d1")
    hyperparameters = {**SMALL, "query_fraction": 0.6, "feature_fraction": 0.7}
    train_on(inline_worker, dataset_id, 2, hyperparameters=hyperparameters, loss={"name": "xe-ndcg"})
    with inline_worker.store.begin() as tx:
        job_id = tx.enqueue(reproduction(tx, tx.models.resolve("web"))).id
    job = inline_worker.run_queued(job_id)
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    assert job.result["equal"] is True


@pytest.mark.slow
def test_a_training_continues_a_model(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The trees of the base model come first and keep their leaf counts."""
    dataset_id = inline_worker.add(dataset, "d1")
    inline_worker.training_result(dataset_id, hyperparameters=SMALL)
    jobs = [train_on(inline_worker, dataset_id, number, init_model="web:1") for number in (2, 3)]
    texts = [text_of(inline_worker, job) for job in jobs]
    assert texts[0] == texts[1]
    with inline_worker.store.read() as tx:
        first = inline_worker.model_text({"model_id": tx.models.resolve("web:1").id})
    count = SMALL["num_iterations"]
    assert _leaf_counts(texts[0])[:count] == _leaf_counts(first)
    assert len(_leaf_counts(texts[0])) > count


def _leaf_counts(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("leaf_count=")]


def test_ranks_train_on_the_lists_of_a_click_log(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """The lists with a click are distributed, and the model does not depend on the number of ranks."""
    dataset_id = inline_worker.add(dataset, "judged")
    with inline_worker.store.begin() as tx:
        log_id = tx.click_logs.add("simulated", {"kind": "simulation"}).id
    spec: dict[str, Any] = {
        "log_name": "simulated",
        "rankers": [{"system": "f1"}],
        "user_model": {},
        "lists": 200,
    }
    simulated = inline_worker.run("simulate-clicks", dataset_id, click_log_id=log_id, **spec)
    assert simulated.status == "succeeded", simulated.problem
    with inline_worker.store.read() as tx:
        statistics = tx.click_logs.get(log_id).statistics or {}
    spec = {"clicks": {"log": log_id}, "validation": None}
    jobs = [train_on(inline_worker, dataset_id, number, **spec) for number in (2, 3)]
    assert text_of(inline_worker, jobs[0]) == text_of(inline_worker, jobs[1])
    shown = jobs[0].progress or {}
    assert sum(each["queries"] for each in shown["ranks"]) == statistics["clicked_lists"]


def test_the_last_tree_is_measured(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """Ranks that find no further split before the next measured iteration measure their last tree."""
    dataset_id = inline_worker.add(dataset, "d1")
    bound = {**SMALL, "min_gain_to_split": 8.0, "num_iterations": 200}
    job = train_on(inline_worker, dataset_id, 2, hyperparameters=bound, metric_interval=150)
    trees = (job.progress or {})["iteration"]
    assert 1 < trees < 150
    with inline_worker.store.read() as tx:
        assert [row.iteration for row in tx.jobs.iterations(job.id)] == [trees]
    assert job.metrics is not None
    assert job.metrics["validation"]["ndcg@5"] > 0.0


def test_numbers_that_become_categories_are_refused(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """Ranks read the stored columns, so numbers cannot become categories in the job."""
    features = dataset.matrix.copy()
    features[:, 2] = 1.0
    numeric = RankingDataset.from_arrays(features, dataset.labels, dataset.query_boundaries)
    job = inline_worker.train(
        inline_worker.add(numeric, "numbers"),
        categorical_feature=["f3"],
        distribution=ranks(2),
        hyperparameters=SMALL,
    )
    assert job.status == "failed"
    assert job.problem is not None
    assert job.problem["errors"][0]["pointer"] == "/distribution"


@pytest.mark.slow
def test_other_datasets_are_fitted_to_the_training_data(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """Validation and test data may have another order of columns."""
    dataset_id = inline_worker.add(dataset, "d1")
    names = tuple(reversed(dataset.feature_names))
    other = dataset.select_queries(range(20))
    reversed_columns = other.with_features(other.matrix[:, ::-1].copy(), names)
    other_id = inline_worker.add(reversed_columns, "d2")
    same_id = inline_worker.add(other, "d3")
    texts = [
        text_of(
            inline_worker,
            train_on(
                inline_worker,
                dataset_id,
                number,
                validation={"dataset_id": held_out},
                test_dataset_id=held_out,
            ),
        )
        for number, held_out in ((2, other_id), (3, same_id))
    ]
    assert texts[0] == texts[1]
