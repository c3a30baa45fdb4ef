"""Compute the importance of the parameters of a study."""

import warnings
from collections.abc import Sequence
from typing import Literal

from core.studies.sampling import PastTrial, study_of
from core.studies.search_space import SearchSpace

METHOD: Literal["ped-anova"] = "ped-anova"
# Minimum number of trials for a distribution.
MIN_TRIALS = 5


def importances(space: SearchSpace, past: Sequence[PastTrial], *, higher_is_better: bool) -> dict[str, float]:
    """Return the importance of parameters by pointer, greatest first; they add up to 1, or all are 0.

    PED-ANOVA (Watanabe et al. 2023) compares the distributions of a parameter among the best trials and among
    all trials. For a conditional parameter, only trials that have it count. Parameters of fewer than
    `MIN_TRIALS` trials are left out.

    Args:
        space: The search space.
        past: Trials that have a value.
        higher_is_better: Direction of the objective.
    """
    import optuna

    valued = [trial for trial in past if trial.value is not None]
    importance = {}
    for dimension in space.dimensions:
        pointer = dimension.pointer
        with_parameter = [
            PastTrial(trial.number, {pointer: trial.parameters[pointer]}, trial.value)
            for trial in valued
            if pointer in trial.parameters
        ]
        if len(with_parameter) < MIN_TRIALS:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = study_of(space, with_parameter, higher_is_better)
            evaluator = optuna.importance.PedAnovaImportanceEvaluator()
            importance[pointer] = evaluator.evaluate(study, params=[pointer])[pointer]
    total = sum(importance.values())
    ordered = sorted(importance.items(), key=lambda item: -item[1])
    return {pointer: value / total if total else 0.0 for pointer, value in ordered}
