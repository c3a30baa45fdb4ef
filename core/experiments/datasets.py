"""Check planned trainings against the statistics of their datasets."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from core.data.labels import label_map, label_text
from core.errors import InputProblem, InvalidInput
from core.experiments.plan import Run
from core.metrics import conventions
from core.names import first_names
from core.training import training_spec
from core.training.labels import check_job_labels

# Statistics of the datasets of one split by part, see `core.data.dataset_statistics`.
Statistics = Mapping[str, Mapping[str, Any]]


def with_label_map(run: Run, statistics: Statistics) -> Run:
    """Extend a run's map to binary labels by labels of its datasets that the paper's data lack."""
    binary = dict(run.spec.get("label_map") or {})
    if not binary:
        return run
    for part in statistics.values():
        for each in part.get("labels", ()):
            if each["label"] > 0.0 and each["label"] != 1.0:
                binary.setdefault(label_text(each["label"]), 1.0)
    return replace(run, spec={**run.spec, "label_map": binary})


def check_datasets(runs: Iterable[Run], statistics: Statistics) -> None:
    """Refuse datasets that a run cannot be trained or measured on.

    Raises:
        InvalidInput: At the part, such as `/train`, once for each reason.
    """
    distinct: dict[tuple[str, str], InputProblem] = {}
    for run in runs:
        for pointer, problem in _problems(with_label_map(run, statistics), statistics):
            distinct.setdefault((pointer, problem.detail), InputProblem(pointer, _detail(problem, run)))
    if distinct:
        raise InvalidInput(*distinct.values())


def _problems(run: Run, statistics: Statistics) -> Iterable[tuple[str, InputProblem]]:
    """Yield each problem of a training with a part of the data, after the pointer of the part."""
    spec = training_spec(run.spec)
    mapped = label_map(run.spec.get("label_map") or {})
    contract = conventions(run.spec.get("contract"))
    for part, of_part in statistics.items():
        if of_part.get("features") == 0:
            detail = "has judgments without features, which no model can be trained on"
            yield f"/{part}", InputProblem("/dataset_id", detail)
        if part == "train" and run.is_network and of_part.get("categorical_features"):
            names = first_names(sorted(of_part["categorical_features"]))
            detail = f"has categorical features, which the networks of the tables cannot use: {names}"
            yield f"/{part}", InputProblem("/dataset_id", detail)
        if "labels" not in of_part:
            continue
        loss = spec.loss if part == "train" else None
        try:
            check_job_labels(of_part, mapped, loss, spec.all_metrics, contract)
        except InvalidInput as invalid:
            yield from ((f"/{part}", problem) for problem in invalid.problems)


def _detail(problem: InputProblem, run: Run) -> str:
    """Return the detail of a training's problem in words for the user of an experiment.

    The request of an experiment has no fields such as `label_map`.
    """
    if problem.pointer == "/dataset_id":
        return problem.detail
    if problem.pointer == "/label_map":
        return f"{problem.detail}; experiments have no label map, so correct the file"
    if problem.pointer.startswith("/metrics/"):
        return f"{run.spec['metrics'][int(problem.pointer.rsplit('/')[-1])]}: {problem.detail}"
    return f"{run.spec['loss']['name']}: {problem.detail}"
