"""What a model was made of and by what: all that decides its bytes."""

import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from core.store import Transaction
from worker.jobs import Values

_LIBRARIES = ("lightgbm", "numba", "numpy")
# What says how a job is queued, not what it makes.
_QUEUEING = ("priority", "limits")


def lineage_of(tx: Transaction, job_id: str, spec: Mapping[str, Any]) -> Values:
    """Describe what a job makes here and now.

    Args:
        tx: Where its datasets are on record.
        job_id: The job.
        spec: What it was asked for, as resolved.

    Returns:
        `{"job_id", "datasets": {"train": {"id", "digest", "sha256"}, …}, "spec", "seed", "rankery",
        "libraries": {"lightgbm", …}, "machine"}`.
    """
    datasets = {role: tx.datasets.get(dataset_id) for role, dataset_id in _datasets_of(spec)}
    return {
        "job_id": job_id,
        "datasets": {
            role: {"id": row.id, "digest": row.digest, "sha256": row.sha256} for role, row in datasets.items()
        },
        "spec": {name: value for name, value in spec.items() if name not in _QUEUEING},
        "seed": spec.get("seed"),
        "rankery": _version_of("rankery"),
        "libraries": {
            **{name: _version_of(name) for name in _LIBRARIES},
            "python": platform.python_version(),
        },
        "machine": platform.machine(),
    }


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[Values]:
    """List what differs between two lineages, as `{"what", "then", "now"}`; what was asked for aside.

    Datasets that only one of them has are left out: a model does not depend on its test.
    """
    after = dict(_deciding(now))
    return [
        {"what": what, "then": value, "now": after[what]}
        for what, value in _deciding(then)
        if after.get(what, value) != value
    ]


def _deciding(lineage: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for role, dataset in lineage["datasets"].items():
        yield f"{role} dataset digest", dataset["digest"]
    yield "rankery", lineage["rankery"]
    yield from lineage["libraries"].items()
    yield "machine", lineage["machine"]


def _datasets_of(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    validation = spec.get("validation") or {}
    named = (
        ("train", spec.get("dataset_id")),
        ("validation", validation.get("dataset_id")),
        ("test", spec.get("test_dataset_id")),
    )
    return ((role, dataset_id) for role, dataset_id in named if dataset_id)


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:  # run from a source tree that was never installed
        return None
