"""Lineage of a model: everything that determines its bytes."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from core.jobs.auto_train import AutoTrainJob
from core.jobs.base_training import BaseTrainingJob
from core.jobs.ingest import ImportModelJob
from core.kernel_cache import processor
from core.scorers import WeightedSum
from core.store import Model, Transaction
from core.training.distillation import teacher_reference
from worker.job.reporter import Values
from worker.job.run import JobRun

_LIBRARIES = ("lightgbm", "numba", "numpy")
_NETWORK_LIBRARIES = ("jax", "jaxlib", "optax")
_ModelJob = BaseTrainingJob | AutoTrainJob | ImportModelJob
# Fields of a specification that do not change the bytes of the model.
_IGNORED_FIELDS = ("priority", "limits", "tags")


def lineage_of(tx: Transaction, run: JobRun, spec: _ModelJob) -> Values:
    """Return the lineage of the model that a job trains or imports.

    Args:
        tx: Transaction that reads the datasets and models.

    Returns:
        `{"job_id", "datasets": {"train": {"id", "digest", "sha256"}, …}, "init_model", "teacher", "members",
        "spec", "seed", "rankery", "libraries": {"lightgbm", …}, "machine", "processor"}`.
    """
    datasets = {role: tx.datasets.get(dataset_id) for role, dataset_id in spec.dataset_ids.items()}
    return {
        "job_id": run.id,
        "datasets": {
            role: {"id": row.id, "digest": row.digest, "sha256": row.sha256} for role, row in datasets.items()
        },
        "init_model": _base_of(tx, spec),
        "teacher": _teacher_of(tx, spec),
        "members": _members_of(tx, spec),
        "spec": {name: value for name, value in run.spec.items() if name not in _IGNORED_FIELDS},
        "seed": _seed_of(spec),
        "rankery": _version_of("rankery"),
        "libraries": {
            **{name: _version_of(name) for name in _libraries(spec)},
            "python": platform.python_version(),
        },
        "machine": platform.machine(),
        "processor": ", ".join(processors_of(run)),
    }


def processors_of(run: JobRun) -> list[str]:
    """Return the types of processors that a training ran on, those of earlier attempts first.

    There are several types if an earlier attempt, a rank or a helper job ran on a machine of another type.
    """
    earlier = (run.reporter.checkpoint or {}).get("processors", ())  # absent from earlier releases
    return [*dict.fromkeys([*earlier, processor()[0], *sorted(run.other_processors)])]


def names_in_file(feature_names: Sequence[str], file_names: Sequence[str]) -> dict[str, str]:
    """Return the names of features in the file of a model, by feature name, for those that differ.

    Args:
        feature_names: Names of the features in requests and datasets.
        file_names: Names of the same features in the file; LightGBM's text format cannot represent every
            name.
    """
    pairs = zip(feature_names, file_names, strict=True)
    return {name: spelling for name, spelling in pairs if name != spelling}


def _seed_of(spec: _ModelJob) -> int | None:
    if isinstance(spec, BaseTrainingJob):
        return spec.training.seed
    return spec.measures.seed if isinstance(spec, AutoTrainJob) else None


def _libraries(spec: _ModelJob) -> tuple[str, ...]:
    trains_networks = isinstance(spec, AutoTrainJob) or (
        isinstance(spec, BaseTrainingJob) and spec.training.scorer.is_network
    )
    return (*_LIBRARIES, *_NETWORK_LIBRARIES) if trains_networks else _LIBRARIES


def _base_of(tx: Transaction, spec: _ModelJob) -> Values | None:
    if not isinstance(spec, BaseTrainingJob) or spec.init_model is None:
        return None
    base = tx.models.resolve(spec.init_model)
    return _model_entry(base) | {"trees": base.best_iteration}


def _teacher_of(tx: Transaction, spec: _ModelJob) -> Values | None:
    if not isinstance(spec, BaseTrainingJob) or spec.labels_from is None:
        return None
    teacher = tx.models.resolve(teacher_reference(spec.labels_from))
    return _model_entry(teacher)


def _members_of(tx: Transaction, spec: _ModelJob) -> list[Values] | None:
    if not isinstance(spec, BaseTrainingJob) or not isinstance(spec.training.scorer, WeightedSum):
        return None
    rows = [tx.models.resolve(reference) for reference in spec.training.scorer.models]
    return [_model_entry(row) for row in rows]


def _model_entry(model: Model) -> Values:
    return {"id": model.id, "model": model.reference, "sha256": model.sha256}


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[Values]:
    """Return the differences of two lineages as `{"what", "then", "now"}`, except specifications.

    Datasets of only one lineage are ignored: a model does not depend on its test data.
    """
    current = dict(_determining_values(now))
    return [
        {"what": what, "then": value, "now": current[what]}
        for what, value in _determining_values(then)
        if current.get(what, value) != value
    ]


def _determining_values(lineage: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for role, dataset in lineage["datasets"].items():
        yield f"{role} dataset digest", dataset["digest"]
    if base := lineage.get("init_model"):
        yield "base model (init_model)", base["sha256"]
    if teacher := lineage.get("teacher"):
        yield "teacher model", teacher["sha256"]
    for position, member in enumerate(lineage.get("members") or ()):
        yield f"member {position} of the sum", member["sha256"]
    yield "rankery", lineage["rankery"]
    yield from lineage["libraries"].items()
    yield "machine", lineage["machine"]
    if name := lineage.get("processor"):  # absent from models of older releases
        yield "processor", name


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:  # run from a source tree that was never installed
        return None
