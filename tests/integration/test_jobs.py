"""Jobs of every kind on a running service."""

import hashlib
import os
import signal
from pathlib import Path

import pytest

from core.jobs.measuring import RankJob
from core.losses import LOSSES
from core.store import Store, StoreSettings
from rankery.client import Client, Job
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import JobFailed
from tests.integration.requests import not_none, train_job
from tests.integration.waiting import LIMIT_SECONDS, wait_for
from tests.servers.fixtures import ServicePlaces

LONG = 20_000


def test_a_training_leaves_a_model_an_evaluation_and_a_ranking(client: Client, trained: Job) -> None:
    """The result has the ids of the model, the evaluation and the ranking, which are consistent."""
    assert set(not_none(trained.result)) == {"model_id", "evaluation_id", "ranking_id"}
    progress = not_none(trained.progress)
    assert (progress.phase, progress.iteration, progress.total) == ("finished", 20, 20)
    assert progress.eta_seconds is None
    model = trained.model()
    evaluation = trained.evaluation()
    means = {metric: summary.mean for metric, summary in evaluation.metrics.items()}
    assert set(means) == {"ndcg@5", "ndcg@10"}
    assert model.metrics == means == not_none(trained.metrics)["test"]
    assert not_none(model.loss)["name"] == "lambdarank"
    assert not_none(model.hyperparameters)["num_iterations"] == 20
    summary = evaluation.metrics["ndcg@10"]
    assert not_none(summary.lower) < not_none(summary.mean) < not_none(summary.upper)
    assert summary.queries + summary.skipped == 40


def test_the_learning_curve_holds_every_iteration(client: Client, trained: Job) -> None:
    """Reports are throttled, but no iteration is lost; the best one is the validation maximum."""
    history = trained.history()
    assert history.iterations == list(range(1, 21))
    validation = history.curves["validation"]["ndcg@5"]
    assert len(validation) == 20
    best = 1 + max(range(20), key=lambda i: (not_none(validation[i]), -i))
    assert trained.model().best_iteration == best
    assert not_none(trained.metrics)["validation"]["ndcg@5"] == validation[best - 1]


def test_a_ranking_orders_documents_as_the_model_scores_them(client: Client, trained: Job) -> None:
    """Ranks count from 1 by descending score, in every query of the test set."""
    queries = trained.ranking().queries().first(5)
    assert len(queries) == 5
    for query in queries:
        scores = [document.score for document in query.documents]
        assert scores == sorted(scores, reverse=True)
        assert [document.rank for document in query.documents] == list(range(1, len(scores) + 1))


def test_evaluating_again_gives_the_same_numbers(
    client: Client, trained: Job, datasets: dict[str, str]
) -> None:
    """An evaluate job on the test set yields the metrics of the training job."""
    first = trained.evaluation()
    job = client.submit(
        {
            "kind": "evaluate",
            "model": first.model_id,
            "dataset_id": datasets["test"],
            "metrics": ["ndcg@5", "ndcg@10"],
        }
    )
    assert set(not_none(job.wait(timeout_seconds=LIMIT_SECONDS).result)) == {"evaluation_id", "ranking_id"}
    assert job.evaluation().metrics == first.metrics


def test_ranking_again_gives_the_same_order(client: Client, trained: Job, datasets: dict[str, str]) -> None:
    """A rank job by the model's name yields the ranking of the training job."""
    job = client.submit({"kind": "rank", "model": "shared", "dataset_id": datasets["test"]})
    assert set(not_none(job.wait(timeout_seconds=LIMIT_SECONDS).result)) == {"ranking_id"}
    assert job.ranking().queries().first(3) == trained.ranking().queries().first(3)


@pytest.mark.embedded
def test_a_job_whose_wake_up_was_lost_is_found(
    client: Client, trained: Job, datasets: dict[str, str], service_places: ServicePlaces
) -> None:
    """A sweep announces a queued job whose message was lost."""
    sent = client.submit({"kind": "rank", "model": "shared", "dataset_id": datasets["test"]})
    spec = sent.wait(timeout_seconds=LIMIT_SECONDS).spec
    store = Store.open(StoreSettings(data_dir=service_places.data_dir))
    with store.begin() as tx:
        unannounced = tx.enqueue(RankJob.from_json({"kind": "rank", **spec}))
    store.close()
    assert client.job(unannounced.id).wait(timeout_seconds=LIMIT_SECONDS).status == "succeeded"


def test_the_rank_endpoint_scores_as_the_rank_job(client: Client, trained: Job, tmp_path: Path) -> None:
    """One document gets the same score over HTTP and through a dataset."""
    model = trained.model()
    features = [round(0.37 * i % 1 - 0.5, 3) for i in range(len(model.feature_names))]
    path = tmp_path / "one.txt"
    path.write_text("1 qid:7 " + " ".join(f"{i + 1}:{value}" for i, value in enumerate(features)) + "\n")
    dataset = client.upload_dataset(path).wait(timeout_seconds=LIMIT_SECONDS)
    job = client.submit({"kind": "rank", "model": model.id, "dataset_id": dataset.id})
    ranking = job.wait(timeout_seconds=LIMIT_SECONDS).ranking()
    ((stored,),) = [query.documents for query in ranking.queries()]
    answer = client.rank(model.id, [{"id": "7", "documents": [{"id": "1", "features": features}]}])
    assert answer.queries[0].ranking[0].score == pytest.approx(stored.score, abs=1e-6)


def test_a_dataset_that_lacks_features_needs_permission(
    client: Client, datasets: dict[str, str], tmp_path: Path
) -> None:
    """LETOR text leaves zeros out, so a file may lack features; if it lacks most, the job needs an option."""
    path = tmp_path / "narrow.txt"
    path.write_text("1 qid:1 1:0.5 2:0.1\n0 qid:1 1:0.2\n")
    narrow = client.upload_dataset(path).wait(timeout_seconds=LIMIT_SECONDS).id
    request = train_job(datasets | {"test": narrow}, model_name="narrow", num_iterations=2)
    with pytest.raises(JobFailed, match="lacks 48 of the 50 features"):
        client.submit(request).wait(timeout_seconds=LIMIT_SECONDS)
    job = client.submit({**request, "allow_absent_features": True}).wait(timeout_seconds=LIMIT_SECONDS)
    assert job.ranking().queries().first(1)[0].query_id == "1"
    assert "features-absent" in {finding.code for finding in job.findings or ()}


def test_a_running_training_is_cancelled(client: Client, datasets: dict[str, str]) -> None:
    """The training ends early; its learning curve is kept, and there is no model."""
    job = client.submit(train_job(datasets, model_name="cancelled", num_iterations=LONG))
    wait_for(lambda: job.refresh().iteration)
    job.cancel()
    with pytest.raises(JobFailed, match="cancelled"):
        job.wait(timeout_seconds=LIMIT_SECONDS, interval_seconds=0.05)
    assert 0 < len(job.history().iterations) < LONG
    assert job.refresh().result is None


def test_a_queued_job_is_cancelled_immediately(client: Client, datasets: dict[str, str]) -> None:
    """A job that waits for another one ends without an attempt."""
    running = client.submit(train_job(datasets, model_name="ahead", num_iterations=LONG))
    queued = client.submit(train_job(datasets, model_name="behind", num_iterations=1))
    try:
        assert queued.cancel().status == "cancelled"
    finally:
        running.cancel()
    with pytest.raises(JobFailed):
        running.wait(timeout_seconds=LIMIT_SECONDS)
    assert queued.refresh().attempt == 0


@pytest.mark.servers
def test_a_job_whose_process_was_killed_is_started_again(
    stack: EmbeddedStack, client: Client, datasets: dict[str, str]
) -> None:
    """If the kernel kills a pool process, the job loses one attempt and is started again."""
    job = client.submit(train_job(datasets, model_name="killed", num_iterations=150))
    wait_for(lambda: job.refresh().iteration)
    (attempt,) = job.refresh().attempts
    os.kill(int(attempt.worker.rpartition("/")[2]), signal.SIGKILL)
    done = job.wait(timeout_seconds=LIMIT_SECONDS)
    assert [attempt.ending for attempt in done.attempts] == ["lost", "succeeded"]
    assert job.history().iterations == list(range(1, 151))
    stack.check()


def test_a_job_with_unsuitable_data_fails_with_a_reason(
    client: Client, datasets: dict[str, str], tmp_path: Path
) -> None:
    """A mistake that only the data reveal fails the job with a message, not with a traceback."""
    path = tmp_path / "one-query.txt"
    path.write_text("1 qid:1 1:0.5 2:0.1\n0 qid:1 1:0.2\n")
    single = client.upload_dataset(path).wait(timeout_seconds=LIMIT_SECONDS).id
    request = train_job(datasets, model_name="single", num_iterations=2)
    request |= {"dataset_id": single, "validation": {"fraction": 0.5}, "test_dataset_id": None}
    with pytest.raises(JobFailed, match="single query") as failed:
        client.submit(request).wait(timeout_seconds=LIMIT_SECONDS)
    assert not_none(failed.value.job.problem).title == "Invalid specification"


@pytest.mark.embedded
@pytest.mark.slow  # tests/core/training tests it for each kind of training
def test_the_model_does_not_depend_on_the_number_of_threads(
    client: Client, trained: Job, tmp_path: Path
) -> None:
    """The same job on a worker with one thread yields the same model text, byte for byte."""
    with EmbeddedStack(tmp_path, environment={"RANKERY_THREADS": "1"}) as stack, Client(stack.url) as other:
        ids = {
            name: other.synthetic_dataset(size, seed=seed, polynomial_seed=3)
            .wait(timeout_seconds=LIMIT_SECONDS)
            .id
            for seed, (name, size) in enumerate({"train": 60, "validation": 30, "test": 40}.items())
        }
        job = other.submit(train_job(ids, model_name="shared", num_iterations=20))
        done = job.wait(timeout_seconds=LIMIT_SECONDS)
        model = done.model()
        text = (tmp_path / "artifacts" / "models" / model.id / "model.txt").read_bytes()
    assert model.sha256 == hashlib.sha256(text).hexdigest()
    assert model.sha256 == trained.model().sha256


@pytest.mark.embedded
@pytest.mark.slow  # tests/core and tests/app test each part
def test_every_loss_trains_through_the_service(client: Client, datasets: dict[str, str]) -> None:
    """Each loss yields a model and, unless it draws random numbers, a decreasing loss curve."""
    jobs = {
        name: client.submit(
            train_job(datasets, model_name=name.replace("+", "p"), num_iterations=6)
            | {"loss": {"name": name}, "metric_interval": 5}
        )
        for name in LOSSES
    }
    for name, job in jobs.items():
        done = job.wait(timeout_seconds=200)
        assert done.status == "succeeded", name
        history = job.history()
        assert history.iterations == [5, 6]
        first, last = history.curves["train"]["loss"]
        drawn = name in ("xe-ndcg", "listmle", "w-listmle")  # another loss in each iteration
        assert not_none(last) < not_none(first) or drawn, name
        assert not_none(not_none(done.metrics)["test"]["ndcg@10"]) > 0.3, name
