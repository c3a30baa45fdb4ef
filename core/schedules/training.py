"""The training of one run of a schedule."""

from collections.abc import Callable, Mapping

from core.jobs.stored import Json, Stored
from core.jobs.train import TrainJob
from core.training.automatic import AutomaticChoice
from core.training.distillation import PREFIX, teacher_reference


def dataset_names(asked: Stored) -> dict[str, str]:
    """Return the names of the datasets of a job by role, empty for a job without datasets.

    Example:
        >>> dataset_names({"dataset": "clicks", "validation": {"dataset": "held out"}})
        {'train': 'clicks', 'validation': 'held out'}
        >>> dataset_names({"dataset": "clicks", "validation": {"fraction": 0.2}, "test_dataset": "judged"})
        {'train': 'clicks', 'test': 'judged'}
    """
    names = {
        "train": asked.get("dataset"),
        "validation": (asked.get("validation") or {}).get("dataset"),
        "test": asked.get("test_dataset"),
    }
    return {role: name for role, name in names.items() if name is not None}


def training_of_run(
    resolved: Stored,
    asked: Stored,
    dataset_ids: Mapping[str, str],
    statistics: Stored | None,
    reference: Callable[[str], str],
) -> TrainJob:
    """Return the training of a run: that of the schedule, on the datasets and models of now.

    Args:
        resolved: Specification of the training as it was resolved when the schedule was set.
        asked: The training as it was asked for, without defaults.
        dataset_ids: The datasets to use, by `train`, `validation` and `test`.
        statistics: Those of the training dataset, None where it was stored without.
        reference: Returns the version, `web:3`, that a reference to a model means now.

    Raises:
        InvalidInput: The size of the dataset is to decide the hyperparameters and is not known.
        NotFound: A model is gone.
    """
    spec: Json = {**resolved, "dataset_id": dataset_ids["train"]}
    if "validation" in dataset_ids:
        spec["validation"] = {"dataset_id": dataset_ids["validation"]}
    if "test" in dataset_ids:
        spec["test_dataset_id"] = dataset_ids["test"]
    if asked.get("init_model"):
        spec["init_model"] = reference(asked["init_model"])
    if asked.get("labels_from"):
        spec["labels_from"] = PREFIX + reference(teacher_reference(asked["labels_from"]))
    models = (asked.get("scorer") or {}).get("models")
    if models:
        spec["scorer"] = {**spec["scorer"], "models": [reference(model) for model in models]}
    if spec.get("automatic"):
        choice = AutomaticChoice.for_dataset(statistics, asked.get("features"), asked["hyperparameters"])
        spec["automatic"] = choice.to_json()
        spec["hyperparameters"] = {**spec["hyperparameters"], **choice.chosen}
    return TrainJob.from_json(spec)
