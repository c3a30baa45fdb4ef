"""Many jobs and models with their artifacts, and checks of their consistency after kills."""

import hashlib
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, func, insert, select

from core.store import (
    ArtifactDigest,
    Evaluation,
    Job,
    JobAttempt,
    JobIteration,
    Model,
    Ranking,
    Store,
    StoreSettings,
)
from core.store.artifacts.keys import evaluation_key, model_key, ranking_key, validation_key
from core.store.clock import utc_now
from core.store.engines import for_writing, open_engine
from core.store.repositories import ids
from core.store.tables import ModelName, PendingDeletion

OLD_DAYS = 60.0
_CHUNK = 1_000
_RANDOM_CHARACTERS = 11
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_METRICS = {f"{metric}@{cutoff}": 0.4 for metric in ("ndcg", "map", "mrr") for cutoff in (1, 5, 10)}


@dataclass(frozen=True)
class RecordCounts:
    """Numbers of records to add.

    Attributes:
        jobs: Number of trainings that ended 60 days ago.
        models: Number of these trainings that have a model, an evaluation and a ranking.
        recent_jobs: Number of trainings that ended today.
        iterations: Number of points in the learning curve of each job.
    """

    jobs: int
    models: int
    recent_jobs: int = 200
    iterations: int = 20


def fill(store: Store, settings: StoreSettings, counts: RecordCounts) -> None:
    """Add jobs, models and results, with their artifacts."""
    now = utc_now()
    folder = Path(urlsplit(settings.storage_url).path) if store.artifacts.is_local else None
    engine = open_engine(settings.database_url)
    with for_writing(engine).begin() as connection:
        for number in range(0, counts.jobs + counts.recent_jobs, _CHUNK):
            end = min(number + _CHUNK, counts.jobs + counts.recent_jobs)
            _add(connection, folder, store, counts, now, range(number, end))
        connection.execute(insert(ModelName).values(name="nightly", last_version=counts.models))
    engine.dispose()


def _add(
    connection: Connection,
    folder: Path | None,
    store: Store,
    counts: RecordCounts,
    now: datetime,
    indices: range,
) -> None:
    rows: dict[Any, list[dict[str, Any]]] = {
        table: [] for table in (Job, JobAttempt, JobIteration, Model, Evaluation, Ranking, ArtifactDigest)
    }
    for index in indices:
        is_old = index < counts.jobs
        made_at = now - timedelta(days=OLD_DAYS if is_old else 0, seconds=counts.jobs - index)
        job_id, result = new_id_at(ids.JOB, made_at), {}
        if index < counts.models:
            result = {
                "model_id": new_id_at(ids.MODEL, made_at),
                "evaluation_id": new_id_at(ids.EVALUATION, made_at),
                "ranking_id": new_id_at(ids.RANKING, made_at),
            }
            _add_results(rows, folder, store, job_id, result, index, made_at)
        rows[Job].append(_job(job_id, index, made_at, result))
        rows[JobAttempt].append(
            {"job_id": job_id, "token": 1, "attempt": 1, "worker": "w", "started_at": made_at}
            | {"ended_at": made_at, "ending": "succeeded"}
        )
        rows[JobIteration] += [
            {"job_id": job_id, "iteration": iteration, "values": {"train": _METRICS, "validation": _METRICS}}
            for iteration in range(1, counts.iterations + 1)
        ]
    for table, values in rows.items():
        if values:
            connection.execute(insert(table), values)


def new_id_at(prefix: str, moment: datetime) -> str:
    """Return a new id, as if created at the given moment."""
    head = ids.first_id(prefix, moment)[:-_RANDOM_CHARACTERS]
    return head + "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_CHARACTERS))


def _job(job_id: str, index: int, made_at: datetime, result: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": job_id,
        "kind": "train",
        "status": "succeeded",
        "spec": {"kind": "train", "model_name": "nightly", "dataset_id": "ds_gone", "seed": index},
        "title": "nightly",
        "attempt": 1,
        "token": 1,
        "cancel_requested": False,
        "result": result,
        "metrics": {"validation": _METRICS},
        "main_metric": 0.4,
        "took_seconds": 60.0,
        "created_at": made_at,
        "started_at": made_at,
        "finished_at": made_at,
    }


def _add_results(
    rows: dict[Any, list[dict[str, Any]]],
    folder: Path | None,
    store: Store,
    job_id: str,
    result: dict[str, Any],
    index: int,
    made_at: datetime,
) -> None:
    model_id, evaluation_id, ranking_id = result.values()
    shared = {"job_id": job_id, "dataset_id": "ds_gone", "created_at": made_at}
    measured = {"system": f"nightly:{index + 1}", "model_id": model_id}
    rows[Model].append(
        {"id": model_id, "name": "nightly", "version": index + 1, "feature_names": ["a"], **shared}
        | {"best_iteration": 1, "sha256": "0" * 64, "size_bytes": 4_000}
    )
    rows[Evaluation].append({"id": evaluation_id, "summaries": {}, **measured, **shared})
    rows[Ranking].append({"id": ranking_id, "queries": 1, "documents": 1, **measured, **shared})
    for key, size_bytes in (
        (model_key(model_id), 4_000 + index),
        (validation_key(model_id), 900),
        (evaluation_key(evaluation_id), 1_100),
        (ranking_key(ranking_id), 2_300),
    ):
        content = b"x" * size_bytes
        _write(folder, store, key, content)
        sha256 = hashlib.sha256(content).hexdigest()
        rows[ArtifactDigest].append({"key": key, "sha256": sha256, "size_bytes": size_bytes})


def _write(folder: Path | None, store: Store, key: str, content: bytes) -> None:
    if folder is None:
        store.artifacts.write_bytes(key, content)
        return
    # Plain writes, since thousands of calls of fsync would be slow.
    (folder / key).parent.mkdir(parents=True, exist_ok=True)
    (folder / key).write_bytes(content)


def wait_for_deletions(store: Store, seconds: float) -> bool:
    """Wait until no folder is pending deletion; return False if the time runs out first."""
    deadline = time.monotonic() + seconds
    while True:
        with store.read() as tx:
            if not tx.trash.pending(1):
                return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)


def inconsistencies(store: Store, settings: StoreSettings, counts: RecordCounts) -> list[str]:
    """Describe each inconsistency between the records of `fill`, some of which may have been deleted.

    A job and its results must all exist, all be in the trash, or all be deleted.
    """
    engine = open_engine(settings.database_url)
    with engine.connect() as connection:
        found = list(_inconsistencies(connection, store, counts))
    engine.dispose()
    return found


def _inconsistencies(connection: Connection, store: Store, counts: RecordCounts) -> Iterator[str]:
    jobs = {row.id: row for row in connection.execute(select(Job.id, Job.result, Job.deleted_at))}
    points = dict(
        iter(connection.execute(select(JobIteration.job_id, func.count()).group_by(JobIteration.job_id)))
    )
    attempts = set(connection.scalars(select(JobAttempt.job_id)))
    if points.keys() != jobs.keys() or attempts != jobs.keys():
        yield "iterations or attempts without a job, or a job without them"
    yield from (f"{job_id} has {n} iterations" for job_id, n in points.items() if n != counts.iterations)
    folders, needed = set(), set()
    for table, entry, plural in (
        (Model, "model_id", "models"),
        (Evaluation, "evaluation_id", "evaluations"),
        (Ranking, "ranking_id", "rankings"),
    ):
        rows = connection.execute(select(table.id, table.job_id, table.deleted_at)).all()
        expected = {row.result[entry]: job_id for job_id, row in jobs.items() if entry in row.result}
        if expected != {row.id: row.job_id for row in rows}:
            yield f"{plural} without their job, or a job without its {plural}"
        for row in rows:
            if row.job_id in jobs and (row.deleted_at is None) != (jobs[row.job_id].deleted_at is None):
                yield f"{row.id} is in the trash without its job, or its job without it"
        needed |= {f"{plural}/{row.id}" for row in rows}
    files = dict(store.artifacts.sizes())
    folders = {key.rpartition("/")[0] for key in files}
    yield from (f"{folder} is orphaned" for folder in sorted(folders - needed))
    yield from (f"{folder} is missing" for folder in sorted(needed - folders))
    digests = set(connection.scalars(select(ArtifactDigest.key)))
    if digests != files.keys():
        yield f"{len(digests ^ files.keys())} checksums without a file, or files without a checksum"
    if left := connection.scalar(select(func.count()).select_from(PendingDeletion)):
        yield f"{left} folders are still to be deleted"
