"""The training or study of one run of a schedule."""

from collections.abc import Callable, Mapping

from core.jobs.auto_train import AutoTrainJob
from core.jobs.train import TrainJob
from core.stored import Json, Stored, write_entries
from core.studies import search_space
from core.studies.sampling import sampler_limit
from core.training.automatic import AutomaticChoice
from core.training.distillation import PREFIX, teacher_reference

TRAININGS = frozenset({TrainJob.kind, AutoTrainJob.kind})  # kinds whose jobs make the model of a run
STUDY = "study"  # kind of a scheduled study, which is not a job kind


def dataset_names(requested: Stored) -> dict[str, str]:
    """Return the names of the datasets of a job by role, empty for a job without datasets.

    Example:
        >>> dataset_names({"dataset": "clicks", "validation": {"dataset": "held out"}})
        {'train': 'clicks', 'validation': 'held out'}
        >>> dataset_names({"dataset": "clicks", "validation": {"fraction": 0.2}, "test_dataset": "judged"})
        {'train': 'clicks', 'test': 'judged'}
    """
    names = {
        "train": requested.get("dataset"),
        "validation": (requested.get("validation") or {}).get("dataset"),
        "test": requested.get("test_dataset"),
    }
    return {role: name for role, name in names.items() if name is not None}


def training_of_run(
    resolved: Stored,
    requested: Stored,
    dataset_ids: Mapping[str, str],
    statistics: Stored | None,
    reference: Callable[[str], str],
    click_log_id: str | None = None,
) -> TrainJob | AutoTrainJob:
    """Return the training of a run: that of the schedule, with the current datasets and models.

    Args:
        resolved: Specification of the training as it was resolved when the schedule was set.
        requested: The requested training, without defaults.
        dataset_ids: Ids of the datasets by `train`, `validation` and `test`.
        reference: Returns the current version, `web:3`, of a reference to a model.

    Raises:
        InvalidInput: Automatic hyperparameters need the size of the dataset, which is unknown.
        NotFound: A model does not exist.
    """
    spec: Json = {**resolved, "dataset_id": dataset_ids["train"]}
    if "validation" in dataset_ids:
        spec["validation"] = {"dataset_id": dataset_ids["validation"]}
    if "test" in dataset_ids:
        spec["test_dataset_id"] = dataset_ids["test"]
    if click_log_id is not None:
        spec["clicks"] = {**(resolved.get("clicks") or {}), "log": click_log_id}
    if resolved["kind"] == AutoTrainJob.kind:
        return AutoTrainJob.from_json(spec)
    if requested.get("init_model"):
        spec["init_model"] = reference(requested["init_model"])
    if requested.get("labels_from"):
        spec["labels_from"] = PREFIX + reference(teacher_reference(requested["labels_from"]))
    models = (requested.get("scorer") or {}).get("models")
    if models:
        spec["scorer"] = {**spec["scorer"], "models": [reference(model) for model in models]}
    if spec.get("automatic"):
        choice = _automatic_choice(requested, statistics)
        spec["automatic"] = write_entries(choice)
        spec["hyperparameters"] = {**spec["hyperparameters"], **choice.chosen}
    return TrainJob.from_json(spec)


def study_of_run(
    resolved: Stored, requested: Stored, dataset_ids: Mapping[str, str], statistics: Stored | None
) -> Json:
    """Return the specification of the study of a run: that of the schedule, with the current datasets.

    Args:
        resolved: Specification of the study as it was resolved when the schedule was set.
        requested: The requested study, without defaults.
        dataset_ids: Ids of the datasets by `train` and `test`.

    Raises:
        InvalidInput: Automatic hyperparameters need the size of the dataset, which is unknown.
    """
    datasets = {"dataset_id": dataset_ids["train"], "test_dataset_id": dataset_ids.get("test")}
    base = {**resolved["base"], **datasets}
    if (requested["base"].get("hyperparameters") or {}).get("auto"):
        chosen = _automatic_choice(requested["base"], statistics).chosen
        base["hyperparameters"] = {**base["hyperparameters"], **chosen}
    limit = sampler_limit(resolved["sampler"], search_space(resolved["search_space"]), base)
    settings = {name: value for name, value in resolved.items() if name != "kind"}
    return {**settings, **datasets, "base": base, "sampler_limit": limit}


def _automatic_choice(requested: Stored, statistics: Stored | None) -> AutomaticChoice:
    """Choose the automatic hyperparameters of a training by the size of its dataset."""
    hyperparameters = requested["hyperparameters"]
    return AutomaticChoice.for_dataset(statistics, requested.get("features"), hyperparameters)
