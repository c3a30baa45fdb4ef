"""A finished grid of trainings, recorded as a worker records it: versions of one model."""

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from typing import Any

import lightgbm
import numpy as np

from core.evaluation import against_best, summarise_all, write_query_values
from core.jobs import System
from core.metrics import DEFAULT
from core.store import Job, Model, Store, Transaction
from core.store.artifacts.keys import evaluation_key, model_key, validation_key

METRIC = "ndcg@10"
FEATURES = ("f1", "f2", "f3", "f4", "f5", "f6")
GRID = "2026-01-05 10:02"
_AXES = {
    "learning_rate": (0.02, 0.03, 0.05, 0.08, 0.12),
    "num_leaves": (7, 15, 31, 63),
    "min_data_in_leaf": (5, 20, 50),
}
_LEASE_SECONDS = 3600.0
_ITERATIONS = 30


@dataclass(frozen=True)
class Grid:
    """The results of a grid, the point of the smallest values first.

    Attributes:
        job_ids: Ids of its jobs.
        references: References of its models.
        best: Index of the best on the validation data.
        tied: Number of trainings without a significant difference to the best, including the best.
    """

    job_ids: list[str]
    references: list[str]
    best: int
    tied: int


def finished_grid(
    store: Store,
    *,
    name: str = "shop",
    size: int = 60,
    training_id: str | None = None,
    test_id: str | None = None,
    seed: int = 1,
    queries: int = 300,
) -> Grid:
    """Record a grid whose trainings have succeeded.

    Trainings with the highest third of learning rates differ only by noise; the others are worse. On the
    test data, another training is the best by chance.

    Args:
        store: Store that records it; a running service shows it immediately.
        name: Name of the model that all trainings are versions of.
        size: Number of trainings, at most 60.
        training_id: Dataset trained on; None records one without files.
        test_id: Dataset tested on; None records one without files.
        seed: Seed of the values.
        queries: Number of validation queries.
    """
    draw = np.random.default_rng(seed)
    query_ids = [f"q{index}" for index in range(queries)]
    difficulty = draw.uniform(0.2, 0.8, queries)
    job_ids, references, values = [], [], []
    with store.begin() as tx:
        datasets = [training_id or _dataset(tx, f"{name} train"), test_id or _dataset(tx, f"{name} test")]
        for point in islice(product(*_AXES.values()), size):
            varied = dict(zip(_AXES, point, strict=True))
            loss = 0.0 if varied["learning_rate"] >= 0.08 else 0.02 + (0.08 - varied["learning_rate"])
            validation = np.clip(difficulty - loss + draw.normal(0.0, 0.03, queries), 0.0, 1.0)
            test = np.clip(difficulty - loss + draw.normal(0.0, 0.03, queries), 0.0, 1.0)
            job, model = _training(tx, store, name, varied, datasets, query_ids, (validation, test))
            job_ids.append(job.id)
            references.append(model.reference)
            values.append(validation)
    means = [float(each.mean()) for each in values]
    tied = sum(found.tied for found in against_best(values))
    return Grid(job_ids, references, int(np.argmax(means)), tied)


def _dataset(tx: Transaction, name: str) -> str:
    row = tx.datasets.add(name, {"kind": "synthetic", "queries": 300, "seed": 0})
    statistics = {"queries": 300, "documents": 6000, "features": len(FEATURES)}
    tx.datasets.mark_ready(row.id, statistics=statistics, feature_names=FEATURES, digest=row.id)
    return row.id


def _training(
    tx: Transaction,
    store: Store,
    name: str,
    varied: dict[str, float],
    datasets: Sequence[str],
    query_ids: list[str],
    values: tuple[np.ndarray, np.ndarray],
) -> tuple[Job, Model]:
    validation, test = values
    training_id, test_id = datasets
    tags = {"grid": GRID, **{axis: str(value) for axis, value in varied.items()}}
    spec = {
        "kind": "train",
        "model_name": name,
        "tags": tags,
        "dataset_id": training_id,
        "test_dataset_id": test_id,
        "validation": {"fraction": 0.2},
        "loss": {"name": "lambdarank"},
        "hyperparameters": {"num_iterations": _ITERATIONS, **varied},
        "metrics": [METRIC],
        "contract": DEFAULT.to_json(),
        "label_map": {},
        "seed": 42,
    }
    job = tx.jobs.add("train", spec, [training_id, test_id])
    claimed = tx.jobs.claim(job.id, "trainer-1:41/57", _LEASE_SECONDS)
    assert claimed is not None
    mean = float(validation.mean())
    curve = [
        (k, {"train": {METRIC: _at(mean + 0.05, k)}, "validation": {METRIC: _at(mean, k)}})
        for k in range(1, _ITERATIONS + 1)
    ]
    tx.jobs.record(
        job.id,
        claimed.token,
        progress={"phase": "finished", "iteration": _ITERATIONS, "total": _ITERATIONS, "eta_seconds": None},
        metrics={
            "train": {METRIC: mean + 0.05},
            "validation": {METRIC: mean},
            "test": {METRIC: float(test.mean())},
        },
        iterations=curve,
    )
    text = model_text().encode()
    model = tx.models.add(
        name=name,
        job_id=job.id,
        dataset_id=training_id,
        feature_names=FEATURES,
        loss=spec["loss"],
        hyperparameters=spec["hyperparameters"],
        best_iteration=_ITERATIONS,
        sha256=hashlib.sha256(text).hexdigest(),
        size_bytes=len(text),
        metrics={METRIC: float(test.mean())},
        tags=tags,
        lineage=_lineage(job, spec, datasets),
        validation={
            "metrics": {METRIC: _interval(validation)},
            "queries": len(query_ids),
            "query_ids_sha256": hashlib.sha256("\n".join(query_ids).encode()).hexdigest(),
        },
    )
    store.artifacts.write_bytes(model_key(model.id), text)
    evaluation = tx.evaluations.add(
        job_id=job.id,
        system=System(model.reference, model.id),
        dataset_id=test_id,
        summaries={
            METRIC: {
                **_interval(test),
                "quantiles": None,
                "queries": len(query_ids),
                "skipped": 0,
                "higher_is_better": True,
                "contract": {},
            }
        },
        contract=DEFAULT.to_json(),
        baselines=[],
        slices=[],
    )
    for key, measured in ((validation_key(model.id), validation), (evaluation_key(evaluation.id), test)):
        file = io.BytesIO()
        write_query_values(file, query_ids, {METRIC: measured})
        store.artifacts.write_bytes(key, file.getvalue())
    done = tx.jobs.succeed(job.id, claimed.token, {"model_id": model.id, "evaluation_id": evaluation.id})
    return done, model


def _lineage(job: Job, spec: dict[str, Any], datasets: Sequence[str]) -> dict[str, Any]:
    kept = {
        role: {"id": dataset_id, "digest": dataset_id, "sha256": None}
        for role, dataset_id in zip(("train", "test"), datasets, strict=True)
    }
    return {
        "job_id": job.id,
        "datasets": kept,
        "init_model": None,
        "spec": spec,
        "seed": 42,
        "rankery": None,
        "libraries": {},
        "machine": "x86_64",
    }


def _at(mean: float, iteration: int) -> float:
    return mean * (1.0 - 0.4 * 0.85**iteration)


def _interval(values: np.ndarray) -> dict[str, float | None]:
    summary = summarise_all({"": values})[""]
    return {"mean": summary.mean, "lower": summary.lower, "upper": summary.upper}


@cache
def model_text() -> str:
    """Train a small model whose scores increase with all features."""
    features = np.random.default_rng(0).uniform(size=(400, len(FEATURES)))
    parameters = {"objective": "regression", "num_leaves": 15, "min_data_in_leaf": 5, "verbosity": -1}
    labelled = lightgbm.Dataset(features, features.sum(axis=1), feature_name=list(FEATURES))
    return str(lightgbm.train(parameters, labelled, num_boost_round=5).model_to_string())
