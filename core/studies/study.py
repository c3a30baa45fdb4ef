"""The specification of a study."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.errors import InputProblem, InvalidInput, pointer_of
from core.studies.search_space import SearchSpace, search_space

Json = dict[str, Any]
# Tag of models trained by a study.
STUDY_TAG = "study"


@dataclass(frozen=True)
class StudySpec:
    """The stored, immutable specification of a study.

    Attributes:
        stored: The JSON: `id`, `name`, `model_name`, `dataset_id`, `test`, `test_dataset_id`, `base`,
            `search_space`, `objective`, `sampler`, `pruner`, `seed`, `alias`, `priority`,
            `higher_is_better` and `sampler_limit`.
    """

    stored: Mapping[str, Any]

    @cached_property
    def space(self) -> SearchSpace:
        """The search space."""
        return search_space(self.stored["search_space"])

    @property
    def base(self) -> Json:
        """The JSON of the training job that trials vary: complete, except that the loss is as requested."""
        return dict(self.stored["base"])

    @property
    def metric(self) -> str:
        """Spelling of the metric of the objective."""
        return str(self.stored["objective"]["metric"])

    @property
    def higher_is_better(self) -> bool:
        """Direction of the objective."""
        return bool(self.stored["higher_is_better"])

    @property
    def seed(self) -> int:
        """Seed of the study."""
        return int(self.stored["seed"])

    @property
    def dataset_ids(self) -> tuple[str, ...]:
        """The datasets that refits and the conclusion read."""
        ids = (self.stored["dataset_id"], self.stored.get("test_dataset_id"))
        return tuple(each for each in ids if each)

    @property
    def dataset_ids_of_trials(self) -> tuple[str, ...]:
        """The datasets that trials and the jobs after them read."""
        validation = (self.stored["objective"].get("validation") or {}).get("dataset_id")
        return (*self.dataset_ids, validation) if validation else self.dataset_ids

    def trial_training(self, parameters: Mapping[str, Any]) -> Json:
        """Return the JSON of the training job that a trial validates.

        Raises:
            InvalidInput: The parameters are incompatible.
        """
        return resolved(self.space.applied(self.base, parameters))

    def refit(self, training: Mapping[str, Any], best_iteration: int, number: int) -> Json:
        """Return the JSON of the training job that refits a trial on all queries except held-out queries.

        Args:
            training: Complete `{"loss", "hyperparameters"}` of the trial, and `scorer` if it has one.
            best_iteration: Median of the best iterations of the trial's folds.
        """
        return {
            **self.base,
            **training,
            **_with_iterations(training, best_iteration),
            "validation": None,
            "early_stopping": None,
            "tags": {STUDY_TAG: self.stored["id"], "trial": str(number)},
        }

    def defaults(self) -> Json:
        """Return the parameters of trial 0, the base, by pointer.

        Raises:
            InvalidInput: The base is invalid.
        """
        return self.space.values_in(self.base, resolved(self.base))


def _with_iterations(training: Mapping[str, Any], iterations: int) -> Json:
    scorer = training.get("scorer")
    if scorer and scorer["kind"] != "trees":
        return {"scorer": {**scorer, "epochs": iterations}}
    return {"hyperparameters": {**training["hyperparameters"], "num_iterations": iterations}}


def resolved(base: Json) -> Json:
    """Return a base with the defaults of its loss, hyperparameters and scorer.

    Raises:
        InvalidInput: With a pointer for each problem.
    """
    from core.losses import loss_values
    from core.training.spec import scorer_json, training_spec

    spec = training_spec(base)
    return base | {"loss": loss_values(spec.loss)} | scorer_json(spec)


def check_bounds(space: SearchSpace, base: Json) -> None:
    """Refuse a search space with values outside the declared bounds of parameters.

    Raises:
        InvalidInput: With a pointer below the parameter for each such value. A problem of all its values,
            such as an unknown name, has the pointer of the parameter.
    """
    from core.training import training_spec

    examined: defaultdict[str, set[str]] = defaultdict(set)
    refused: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for dimension, bound, document in space.examples(base):
        examined[dimension.pointer].add(bound)
        try:
            training_spec(document)
        except InvalidInput as invalid:
            for problem in invalid.problems:
                is_within = f"{problem.pointer}/".startswith(f"{dimension.pointer}/")
                detail = problem.detail if is_within else f"{problem.pointer}: {problem.detail}"
                refused[dimension.pointer, detail][bound] = None
    problems = [
        InputProblem(pointer_of(parameter) + suffix, detail)
        for (parameter, detail), bounds in refused.items()
        for suffix in ([""] if 1 < len(bounds) == len(examined[parameter]) else bounds)
    ]
    if problems:
        raise InvalidInput(*problems)
