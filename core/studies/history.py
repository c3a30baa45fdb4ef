"""Select past trials, the input of the sampler and of parameter importance."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from core.studies.pruning import estimate
from core.studies.sampling import PastTrial


class RecordedTrial(Protocol):
    """The columns of a trial that `past_trials` reads."""

    @property
    def number(self) -> int:
        """Number of the trial in its study, from 0."""

    @property
    def status(self) -> str:
        """Status of the trial, as in `core.store.tables.studies.Trial`."""

    @property
    def parameters(self) -> dict[str, Any] | None:
        """Parameters of the trial by pointer."""

    @property
    def value(self) -> float | None:
        """Value of the trial; of its finished folds if it was pruned."""

    @property
    def folds(self) -> list[dict[str, Any]] | None:
        """Finished folds of the trial."""


def past_trials(trials: Sequence[RecordedTrial]) -> list[PastTrial]:
    """Return the running trials, and the trials with a value, which is estimated for pruned trials.

    Args:
        trials: All trials of a study.
    """
    default = next((trial for trial in trials if trial.number == 0 and trial.status == "succeeded"), None)
    return [past for trial in trials if (past := _past(trial, default)) is not None]


def _past(trial: RecordedTrial, default: RecordedTrial | None) -> PastTrial | None:
    parameters: Mapping[str, Any] | None = trial.parameters
    if parameters is None:
        return None
    if trial.status == "running":
        return PastTrial(trial.number, parameters, None, is_running=True)
    if trial.status == "succeeded" and trial.value is not None:
        return PastTrial(trial.number, parameters, trial.value)
    if trial.status != "pruned" or trial.value is None:
        return None
    folds = means(trial.folds or ())
    if not folds or default is None or default.value is None:
        return PastTrial(trial.number, parameters, trial.value)
    value = estimate(folds, means(default.folds or ()), default.value)
    return PastTrial(trial.number, parameters, value)


def means(folds: Iterable[Mapping[str, Any]]) -> dict[int, float]:
    """Return the mean of each finished fold by fold number, without folds that have no mean."""
    return {fold["fold"]: fold["value"] for fold in folds if fold["value"] is not None}
