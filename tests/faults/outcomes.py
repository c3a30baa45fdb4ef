"""Results of a job, without the ids and times that differ between jobs."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.faults.client import Document, RetryingClient

# Fields that differ between jobs of one request.
_FIELDS_OF_ONE_JOB = frozenset(
    {"id", "job_id", "dataset_id", "model_id", "ranking_id", "evaluation_id", "created_at", "updated_at"}
    | {"system", "name", "model_name", "version", "aliases", "systems", "milliseconds"}
)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job; two undisturbed jobs of one request have equal outcomes.

    Attributes:
        model_file: The stored model, None if the job creates none.
        results: Digests of all other results by name.
        problems: Problems that were found.
    """

    model_file: bytes | None
    results: Mapping[str, str]
    problems: tuple[str, ...] = ()


def outcome_of(client: RetryingClient, job: Document) -> Outcome:
    """Return the outcome of a succeeded job, with all of its results."""
    result: Document = job["result"] or {}
    results: dict[str, Any] = {"metrics": job["metrics"]}
    problems: list[str] = []
    model_file = None
    if model_id := result.get("model_id"):
        model = client.get(f"/v1/models/{model_id}")
        stored_as = "lightgbm" if model["kind"] == "trees" else "safetensors"
        model_file = client.fetch(f"/v1/models/{model_id}/export", format=stored_as).content
        if hashlib.sha256(model_file).hexdigest() != model["sha256"]:
            problems.append("the stored model is not the one that was trained")
        results["model"] = model
        if job["kind"] == "train":
            results["history"] = history = client.get(f"/v1/jobs/{job['id']}/history")
            problems += _history_complaints(history, job)
    if evaluation_id := result.get("evaluation_id"):
        results["evaluation"] = client.get(f"/v1/evaluations/{evaluation_id}")
        results["queries"] = client.get(f"/v1/evaluations/{evaluation_id}/queries")
    if ranking_id := result.get("ranking_id"):
        run = client.fetch(f"/v1/rankings/{ranking_id}", format="trec").text
        results["ranking"] = [line.rpartition(" ")[0] for line in run.splitlines()]
    if comparison_id := result.get("comparison_id"):
        results["comparison"] = client.get(f"/v1/comparisons/{comparison_id}")
    if dataset_id := result.get("dataset_id"):
        dataset = client.get(f"/v1/datasets/{dataset_id}")
        if dataset["status"] != "ready":
            problems.append(f"the job succeeded, its dataset is {dataset['status']}")
        results["dataset"] = dataset
        results["features"] = client.get(f"/v1/datasets/{dataset_id}/features")
    return Outcome(model_file, {name: _digest(value) for name, value in results.items()}, tuple(problems))


def _history_complaints(history: Document, job: Document) -> list[str]:
    interval = job["spec"]["metric_interval"]
    spec = job["spec"]
    is_network = bool(spec.get("scorer"))
    total = spec["scorer"]["epochs"] if is_network else spec["hyperparameters"]["num_iterations"]
    iterations: list[int] = history["iterations"]
    expected = (
        [k for k in range(1, iterations[-1] + 1) if k % interval == 0 or k == total] if iterations else []
    )
    return [] if iterations and iterations == expected else [f"iterations {iterations}"]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(_comparable(value), sort_keys=True).encode()).hexdigest()


def _comparable(value: Any) -> Any:
    """Return a JSON value without the fields that differ between jobs of one request."""
    if isinstance(value, dict):
        return {key: _comparable(part) for key, part in value.items() if key not in _FIELDS_OF_ONE_JOB}
    if isinstance(value, list):
        return [_comparable(part) for part in value]
    return value
