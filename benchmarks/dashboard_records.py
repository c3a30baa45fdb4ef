"""A data folder with many copied jobs, models and results, and simulated running trainings."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, insert, select

from core.store import Store, StoreSettings
from core.store.repositories import ids
from core.store.tables import (
    Comparison,
    Dataset,
    Evaluation,
    Job,
    JobDataset,
    JobIteration,
    Model,
    ModelAlias,
    Ranking,
)
from rankery.client import Client

VERSIONS_PER_NAME = 10
JOBS_PER_FAILURE = 50
ITERATIONS = 100
_CHUNK = 500
# Simulated trainings do not renew their leases: the service must not expect heartbeats within the benchmark.
_LEASE_SECONDS = 86_400.0
SERVICE_ENVIRONMENT = {"RANKERY_LEASE_SECONDS": str(_LEASE_SECONDS)}
_STEP_SECONDS = 0.5
_TOTAL_ITERATIONS = 10_000


@dataclass(frozen=True)
class Numbers:
    """Numbers of records by kind."""

    jobs: int
    models: int
    datasets: int = 200
    comparisons: int = 500
    rankings: int = 1000


def create_one_of_each_kind(client: Client) -> dict[str, str]:
    """Create one record of each kind through the service; return the path of each page."""
    train, test = (
        client.synthetic_dataset(300, seed=seed, name=name).wait(progress=False)
        for seed, name in enumerate(("train", "test"))
    )
    trainings = [
        client.train(
            "web", train, loss, validation=0.2, test=test, hyperparameters={"num_iterations": ITERATIONS}
        ).wait(progress=False)
        for loss in ("lambdarank", "ndcg-loss2++")
    ]
    lambdarank, lambdaloss = (job.model() for job in trainings)
    others = [
        client.compare(test, [lambdarank, lambdaloss], metrics=["ndcg@10"]),
        client.rank_dataset(lambdaloss, test),
        client.inspect(lambdaloss, test),
    ]
    compared, ranked, _ = (job.wait(progress=False) for job in others)
    client.set_alias("web", "champion", 1)
    query = next(iter(test.queries())).query_id
    return {
        "overview": "/",
        "jobs": "/jobs",
        "jobs by metric": "/jobs?sort=metric",
        "jobs by name": "/jobs?text=ranker-7",
        "job": f"/jobs/{trainings[1].id}",
        "datasets": "/datasets",
        "dataset": f"/datasets/{test.id}",
        "query": f"/datasets/{test.id}/queries/{query}",
        "new training": "/train",
        "models": "/models",
        "model": "/models/web:2",
        "evaluations": "/evaluations",
        "evaluation": f"/evaluations/{trainings[1].evaluation().id}",
        "comparisons": "/comparisons",
        "comparison": f"/comparisons/{compared.comparison().id}",
        "rankings": "/rankings",
        "ranking": f"/rankings/{ranked.ranking().id}",
    }


def add_copies(database: Path, numbers: Numbers) -> None:
    """Add copies of the existing records in the given numbers, with some failed jobs."""
    engine = create_engine(f"sqlite:///{database}")
    with engine.begin() as connection:
        _add_copies(connection, numbers)
    engine.dispose()


def _add_copies(connection: Connection, numbers: Numbers) -> None:
    dataset = _first(connection, Dataset)
    datasets = [
        dataset | {"id": ids.new_id(ids.DATASET), "name": f"{('train', 'test')[number % 2]} {number // 2}"}
        for number in range(numbers.datasets)
    ]
    _insert(connection, Dataset, datasets)
    job = _first(connection, Job, Job.kind == "train")
    jobs = [_job(job, number) for number in range(numbers.jobs)]
    _insert(connection, Job, jobs)
    used = [
        {"job_id": one["id"], "dataset_id": datasets[(number + part) % len(datasets)]["id"]}
        for number, one in enumerate(jobs)
        for part in (0, 1)
    ]
    _insert(connection, JobDataset, used)
    curve = [
        row._asdict()
        for row in connection.execute(
            select(*JobIteration.__table__.columns).where(JobIteration.job_id == job["id"])
        )
    ]
    _insert(connection, JobIteration, [point | {"job_id": one["id"]} for one in jobs for point in curve])
    models = [
        _first(connection, Model)
        | {
            "id": ids.new_id(ids.MODEL),
            "job_id": jobs[number % len(jobs)]["id"],
            "name": f"ranker-{number // VERSIONS_PER_NAME}",
            "version": number % VERSIONS_PER_NAME + 1,
        }
        for number in range(numbers.models)
    ]
    _insert(connection, Model, models)
    champions = [one for one in models if one["version"] == 1]
    _insert(
        connection,
        ModelAlias,
        [{"name": one["name"], "alias": "champion", "model_id": one["id"]} for one in champions],
    )
    for table, prefix, number in (
        (Evaluation, ids.EVALUATION, numbers.models),
        (Ranking, ids.RANKING, numbers.rankings),
        (Comparison, ids.COMPARISON, numbers.comparisons),
    ):
        row = _first(connection, table)
        _insert(connection, table, [_result(row, prefix, models, datasets, index) for index in range(number)])


def _first(connection: Connection, table: Any, *conditions: Any) -> dict[str, Any]:
    rows = select(*table.__table__.columns).where(*conditions).order_by(table.id).limit(1)
    return connection.execute(rows).one()._asdict()


def _job(job: dict[str, Any], number: int) -> dict[str, Any]:
    name = f"ranker-{number // VERSIONS_PER_NAME}"
    copied = job | {
        "id": ids.new_id(ids.JOB),
        "title": name,
        "main_metric": 0.3 + number % 997 / 10_000,
        "spec": job["spec"] | {"model_name": name},
    }
    if number % JOBS_PER_FAILURE:
        return copied
    problem = {"title": "Training stopped", "detail": "The loss is not finite from iteration 7 on."}
    return copied | {"status": "failed", "problem": problem, "result": None}


def _result(
    row: dict[str, Any],
    prefix: str,
    models: Sequence[dict[str, Any]],
    datasets: Sequence[dict[str, Any]],
    place: int,
) -> dict[str, Any]:
    model, dataset = models[place % len(models)], datasets[place % len(datasets)]
    result = row | {"id": ids.new_id(prefix), "job_id": model["job_id"], "dataset_id": dataset["id"]}
    if "model_id" in row:
        result |= {"model_id": model["id"], "system": f"{model['name']}:{model['version']}"}
    return result


def _insert(connection: Connection, table: Any, rows: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(rows), _CHUNK):
        connection.execute(insert(table), rows[start : start + _CHUNK])


@contextmanager
def running_trainings(data_dir: Path, number: int) -> Iterator[list[str]]:
    """Simulate running trainings with two iterations per second each; yield their ids.

    The service must have been started with `SERVICE_ENVIRONMENT`.
    """
    store = Store.open(StoreSettings(data_dir=data_dir))
    claims = {}
    with store.begin() as tx:
        example = tx.jobs.page(None, 1, status="succeeded", kind="train").items[0]
        for index in range(number):
            job = tx.jobs.add("train", example.spec | {"model_name": f"live-{index}"})
            claimed = tx.jobs.claim(job.id, f"bench:1/{index}", _LEASE_SECONDS)
            if claimed is None:
                raise SystemExit("a worker took a job of the benchmark")
            claims[job.id] = claimed.token
    ended = threading.Event()
    thread = threading.Thread(target=_train, args=(store, claims, ended))
    thread.start()
    try:
        yield list(claims)
    finally:
        ended.set()
        thread.join()
        with store.begin() as tx:
            for job_id, token in claims.items():
                tx.jobs.succeed(job_id, token, {})
        store.close()


def _train(store: Store, claims: dict[str, int], ended: threading.Event) -> None:
    iteration = 0
    while not ended.wait(_STEP_SECONDS):
        iteration += 1
        progress = {
            "phase": "training",
            "iteration": iteration,
            "total": _TOTAL_ITERATIONS,
            "eta_seconds": _STEP_SECONDS * (_TOTAL_ITERATIONS - iteration),
        }
        with store.begin() as tx:
            for index, (job_id, token) in enumerate(claims.items()):
                means = _means(iteration, index)
                tx.jobs.record(
                    job_id, token, progress=progress, metrics=means, iterations=[(iteration, means)]
                )


def _means(iteration: int, index: int) -> dict[str, dict[str, float]]:
    metric = 0.5 - 0.2 / (1 + 0.1 * iteration) - index / 1000
    return {
        part: {"ndcg@5": metric - 0.02, "ndcg@10": metric, "loss": 1 / iteration}
        for part in ("train", "validation")
    }
