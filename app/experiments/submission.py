"""Check experiments and prepare their datasets."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, get_args

from app.datasets.folders import add_folder
from app.datasets.ingestion import queue_ingestion
from app.datasets.synthetic import SyntheticDatasetRequest
from app.experiments.schemas import ExperimentRequest
from app.settings import ApiSettings
from core.data.folders import fold_of
from core.errors import InputProblem, InvalidInput, WrongState
from core.experiments import Plan, plan
from core.experiments.datasets import check_datasets
from core.experiments.paper import MAIN, Part
from core.store import Dataset, Experiment, Job, Transaction

_SYNTHETIC = ("synthetic", "sparse")
FOLDER = "folder"
DATASETS = "datasets"


def submit_experiment(
    tx: Transaction, settings: ApiSettings, request: ExperimentRequest, key_id: str | None
) -> tuple[Experiment, list[Job]]:
    """Record an experiment, and queue the jobs that generate or read its datasets.

    Returns:
        The experiment and the queued jobs.

    Raises:
        InvalidInput: The request is invalid.
        NotFound: A dataset does not exist.
        WrongState: A dataset is invalid.
        ByteQuotaExceeded: The key exceeds its quota of bytes.
        JobQuotaExceeded: The key exceeds its quota of jobs.
    """
    if request.data is not None and request.dataset_ids is not None:
        raise InvalidInput.at("/dataset_ids", "cannot be combined with data; send only one of them")
    project = _project(tx, request)
    planned = plan(request.paper, request.tables, request.scale, _kind_of_data(request))
    jobs: list[Job] = []
    if request.dataset_ids is not None:
        _refuse_folds(request)
        datasets = [
            _entry(0, part, tx.datasets.get(dataset_id).id)
            for part, dataset_id in request.dataset_ids.model_dump().items()
        ]
        source = DATASETS
    elif planned.data == FOLDER:
        datasets, jobs = _folder_datasets(tx, settings, request, key_id, project)
        source = str(request.data)
    else:
        _refuse_folds(request)
        datasets, jobs = _synthetic_datasets(tx, settings, planned, key_id, project)
        source = planned.data
    if planned.data == FOLDER:
        _check_datasets(tx, planned, datasets, "/data" if request.dataset_ids is None else "/dataset_ids")
    experiment = tx.experiments.add(
        paper=planned.paper.name,
        tables=request.tables,
        scale=request.scale,
        data=planned.data,
        source=source,
        folds=sorted(set(request.folds or ())),
        dry_run=request.dry_run,
        datasets=datasets,
        key_id=key_id,
        project=project,
    )
    return experiment, jobs


def _project(tx: Transaction, request: ExperimentRequest) -> str | None:
    """Return the requested project, or that of the training data."""
    datasets = request.dataset_ids
    return tx.projects.for_new_object(
        request.project, tx.datasets.get(datasets.train).project if datasets else None
    )


def _kind_of_data(request: ExperimentRequest) -> str | None:
    """Return the kind of data of a plan, None for the data chosen for the paper.

    The kind is `folder` for data of the user, existing datasets included.
    """
    if request.data is None and request.dataset_ids is None:
        return None
    return request.data if request.data in _SYNTHETIC else FOLDER


def _check_datasets(
    tx: Transaction, planned: Plan, entries: Sequence[Mapping[str, Any]], pointer: str
) -> None:
    """Refuse datasets that a training cannot use; a worker checks those that are not ready yet."""
    statistics: dict[int, dict[str, Mapping[str, Any]]] = {}
    for each in entries:
        row = tx.datasets.get(each["dataset_id"])
        if row.status == "invalid":
            raise WrongState("dataset", row.id, row.status, "an experiment needs datasets that are ready")
        statistics.setdefault(each["fold"], {})[each["part"]] = row.statistics or {}
    for of_fold in statistics.values():
        try:
            check_datasets(planned.runs.values(), of_fold)
        except InvalidInput as invalid:
            if pointer == "/dataset_ids":
                raise invalid.below(pointer) from invalid
            details = (f"{each.pointer.removeprefix('/')}: {each.detail}" for each in invalid.problems)
            raise InvalidInput(*(InputProblem(pointer, detail) for detail in details)) from invalid


def _refuse_folds(request: ExperimentRequest) -> None:
    if request.folds is not None:
        raise InvalidInput.at("/folds", "can only be used with a folder that has subfolders Fold1, Fold2, …")


def _folder_datasets(
    tx: Transaction,
    settings: ApiSettings,
    request: ExperimentRequest,
    key_id: str | None,
    project: str | None,
) -> tuple[list[dict[str, Any]], list[Job]]:
    """Return the datasets of a folder or of its folds, read in place, and the jobs that read them."""
    entries, jobs = [], []
    for fold, folder in folders_of(str(request.data), request.folds):
        try:
            parts = add_folder(tx, settings, folder, key_id, project)
        except InvalidInput as invalid:
            raise InvalidInput.at("/data", f"{folder}: {invalid.problems[0].detail}") from invalid
        missing = [part for part in get_args(Part) if part not in parts]
        if missing:
            raise InvalidInput.at("/data", f"{folder} has no {' and no '.join(missing)} part")
        entries += [_entry(fold, part, parts[part][0].id) for part in get_args(Part)]
        jobs += [job for part, (_, job) in parts.items() if job is not None]
    return entries, jobs


def folders_of(folder: str, folds: Sequence[int] | None) -> list[tuple[int, str]]:
    """Return the numbers and folders of folds; 0 and the folder itself without folds.

    Example:
        >>> folders_of("MSLR-WEB30K/Fold1", [1, 2])
        [(1, 'MSLR-WEB30K/Fold1'), (2, 'MSLR-WEB30K/Fold2')]
    """
    if folds is None:
        return [(0, folder)]
    path = PurePosixPath(folder)
    above = path if fold_of(folder) is None else path.parent
    return [(fold, str(above / f"Fold{fold}")) for fold in sorted(set(folds))]


def _synthetic_datasets(
    tx: Transaction, settings: ApiSettings, planned: Plan, key_id: str | None, project: str | None
) -> tuple[list[dict[str, Any]], list[Job]]:
    """Return the synthetic datasets of a plan, and the jobs that generate missing ones."""
    entries, missing = [], []
    for part, body in planned.synthetic.items():
        source = SyntheticDatasetRequest(**body).source()
        title = f"{planned.paper.name} {planned.scale} {MAIN} {part}"
        dataset = _existing(tx, title, source, project)
        if dataset is None:
            dataset = tx.datasets.add(title, source, key_id=key_id, project=project)
            missing.append(dataset)
        entries.append(_entry(0, part, dataset.id))
    if missing:
        tx.quotas.allow_jobs(key_id, settings.max_active_jobs, adding=len(missing))
    return entries, [queue_ingestion(tx, dataset, key_id) for dataset in missing]


def _existing(tx: Transaction, name: str, source: Mapping[str, Any], project: str | None) -> Dataset | None:
    """Return a dataset of the project with this name from the same source that is not invalid."""
    named: Sequence[Dataset] = tx.datasets.page(None, 50, name=name).items
    same = (row for row in named if row.source == source and row.project == project)
    return next((row for row in same if row.status != "invalid"), None)


def _entry(fold: int, part: str, dataset_id: str) -> dict[str, Any]:
    return {"fold": fold, "name": MAIN, "part": part, "dataset_id": dataset_id}
