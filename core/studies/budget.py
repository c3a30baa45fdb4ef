"""Budgets of studies, and the number of trials to queue."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """Limits of a study, which ends when it reaches any of them.

    Attributes:
        trials: Maximum number of trials, including the default.
        seconds: Time since the first trial, without pauses, after which no trial is queued; or None.
        patience: Number of trials without a new best trial after which no trial is queued; or None. Trials
            added by hand do not count.
    """

    trials: int
    seconds: float | None = None
    patience: int | None = None


@dataclass(frozen=True)
class Tally:
    """The progress of a study.

    Attributes:
        created: Number of trials so far, with any status.
        sampled: Number of trials from the sampler.
        seconds: Time since the first trial, without pauses.
        values: Values of the ended trials in the order of their numbers; None for trials without a value.
        by_hand: Positions in `values` of trials added by hand.
    """

    created: int
    active: int
    sampled: int
    seconds: float
    values: Sequence[float | None]
    by_hand: Collection[int] = ()

    def stale(self, *, higher_is_better: bool) -> int:
        """Return the number of ended trials after the best trial, without those added by hand."""
        sign = 1.0 if higher_is_better else -1.0
        best_value, best_trial = float("-inf"), -1
        for trial, value in enumerate(self.values):
            if value is not None and sign * value > best_value:
                best_value, best_trial = sign * value, trial
        return sum(trial not in self.by_hand for trial in range(best_trial + 1, len(self.values)))


def trials_to_queue(
    budget: Budget, tally: Tally, *, parallel: int, sampler_limit: int | None, higher_is_better: bool
) -> int:
    """Return the number of further trials to queue now.

    Args:
        sampler_limit: Maximum number of trials of the sampler, such as the size of a grid; None for no limit.
    """
    if budget.seconds is not None and tally.seconds >= budget.seconds:
        return 0
    stale = tally.stale(higher_is_better=higher_is_better) if budget.patience is not None else 0
    if budget.patience is not None and tally.values and stale >= budget.patience:
        return 0
    remaining = budget.trials - tally.created
    if sampler_limit is not None:
        default = 1 if tally.created == 0 else 0
        remaining = min(remaining, sampler_limit - tally.sampled + default)
    return max(0, min(remaining, parallel - tally.active))
