"""Validate studies before their first trial is queued."""

from collections.abc import Iterator
from typing import Any

from app.http.pointers import pointers_below, problems_of, validated
from app.http.schemas import Json
from app.jobs.requests.training import TrainRequest
from app.jobs.submission.checks import compared_metric_problems
from app.jobs.submission.training import resolve_training
from app.studies.requests import CloneRequest, StudyRequest
from core.errors import InputProblem, InvalidInput
from core.metrics import parse_metric
from core.scorers import WeightedSum
from core.store import Transaction
from core.store.repositories.models import check_name
from core.studies import Budget, search_space
from core.studies.sampling import sampler_limit
from core.studies.study import check_bounds, resolved


def study_spec(tx: Transaction, request: StudyRequest) -> Json:
    """Validate a study and return its resolved specification.

    Raises:
        InvalidInput: The request is invalid.
        NotFound: A dataset does not exist.
        WrongState: A dataset is not ready.
    """
    requested = request.model_dump(mode="json")
    # Omitted hyperparameters may be chosen by the size of the dataset.
    requested["base"]["hyperparameters"] = request.base.hyperparameters.model_dump(
        mode="json", exclude_unset=True
    )
    if problems := list(_problems(request)):
        raise InvalidInput(*problems)
    base = _base(tx, requested)
    with pointers_below("/search_space"):
        space = search_space(requested["search_space"])
        check_bounds(space, base)
        limit = sampler_limit(request.sampler, space, base)
    return {
        **{name: requested[name] for name in _STORED_FIELDS},
        "base": base,
        "asked_base": requested["base"],
        "higher_is_better": parse_metric(request.objective.metric).higher_is_better,
        "sampler_limit": limit,
    }


_STORED_FIELDS = (
    "name",
    "model_name",
    "dataset_id",
    "test",
    "test_dataset_id",
    "search_space",
    "objective",
    "sampler",
    "pruner",
    "priority",
    "seed",
    "alias",
)


def budget_of(request: StudyRequest) -> Budget:
    """Return the budget of a study."""
    return Budget(request.budget.trials, request.budget.seconds, request.budget.patience)


def cloned(spec: Json, budget: Json, parallel: int, changes: CloneRequest) -> StudyRequest:
    """Return the request for a copy of a study, with changes; omitted fields of the budget stay.

    Raises:
        InvalidInput: The changes are invalid.
    """
    changed = changes.model_dump(mode="json", exclude_none=True)
    if changes.budget is not None:
        changed["budget"] = budget | changes.budget.model_dump(mode="json", exclude_unset=True)
    requested: dict[str, Any] = {
        **{name: spec[name] for name in _STORED_FIELDS},
        "base": spec["asked_base"],
        "budget": budget,
        "parallel_trials": parallel,
        **changed,
    }
    if "test" in changed:
        requested["test_dataset_id"] = None
    return validated(StudyRequest, requested)


def check_parameters(spec: Json, parameters: Json) -> None:
    """Refuse parameters of a trial that are outside the search space, or incompatible.

    Raises:
        InvalidInput: A parameter is refused; pointers begin with `/parameters`.
    """
    space = search_space(spec["search_space"])
    with pointers_below("/parameters"):
        space.check(spec["base"], parameters)
        resolved(space.applied(spec["base"], parameters))


def _problems(request: StudyRequest) -> Iterator[InputProblem]:
    if request.base.scorer is not None and request.base.scorer.kind == WeightedSum.kind:
        detail = "must not be sum: a sum of models has no hyperparameters to tune"
        yield InputProblem("/base/scorer/kind", detail)
    if request.test is None and request.test_dataset_id is None:
        detail = "required for the conclusion; hold queries out, or set test_dataset_id"
        yield InputProblem("/test", detail)
    if (alias := request.alias) is not None:
        yield from problems_of(lambda: check_name(alias, "/alias"))
    yield from compared_metric_problems("/objective/metric", request.objective.metric)


def _base(tx: Transaction, requested: Json) -> Json:
    """Return the JSON of the training job that trials vary, with the loss as requested."""
    base = requested["base"]
    rounds = base["early_stopping_rounds"]
    metric = requested["objective"]["metric"]
    train = {
        **{name: value for name, value in base.items() if name != "early_stopping_rounds"},
        **{
            name: requested[name]
            for name in ("model_name", "dataset_id", "test", "test_dataset_id", "priority")
        },
        "kind": "train",
        "validation": requested["objective"]["validation"],
        "early_stopping": rounds and {"metric": metric, "rounds": rounds},
        "metrics": [metric],
        "seed": requested["seed"],
    }
    try:
        job = resolve_training(tx, validated(TrainRequest, train)).to_json()
    except InvalidInput as invalid:
        raise InvalidInput(*map(_at_study_pointer, invalid.problems)) from invalid
    # Trials vary the hyperparameters that were chosen by the size of the dataset.
    job.pop("automatic", None)
    return {**job, "loss": base["loss"]}


_BASE_FIELDS = (
    "loss",
    "hyperparameters",
    "scorer",
    "label_map",
    "features",
    "categorical_feature",
    "contract",
)


def _at_study_pointer(problem: InputProblem) -> InputProblem:
    """Convert the pointer of a training's problem to the field of the study that caused it."""
    first = problem.pointer.split("/")[1] if problem.pointer else ""
    if first in _BASE_FIELDS:
        return InputProblem(f"/base{problem.pointer}", problem.detail)
    if first == "validation":
        return InputProblem(f"/objective{problem.pointer}", problem.detail)
    if first == "metrics":
        return InputProblem("/objective/metric", problem.detail)
    return problem
