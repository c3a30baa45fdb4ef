"""When a study asks for no further trial."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """How much a study may take; the first bound that is reached ends it.

    Attributes:
        trials: Trials at most, the default among them.
        seconds: Time from its first trial, pauses left out, after which none is started; or None.
        patience: Trials without a new best one after which none is started; or None.
    """

    trials: int
    seconds: float | None = None
    patience: int | None = None


@dataclass(frozen=True)
class Tally:
    """How far a study is.

    Attributes:
        asked: Trials so far, whatever came of them.
        active: Those that are queued or run.
        sampled: Those that the sampler chose or is to choose.
        seconds: Time since the first of them, pauses left out.
        values: Values of the ended trials in the order of their numbers; None for those without one.
    """

    asked: int
    active: int
    sampled: int
    seconds: float
    values: Sequence[float | None]

    def stale(self, *, higher_is_better: bool) -> int:
        """Return how many trials have ended since the best one."""
        sign = 1.0 if higher_is_better else -1.0
        best, at = float("-inf"), -1
        for place, value in enumerate(self.values):
            if value is not None and sign * value > best:
                best, at = sign * value, place
        return len(self.values) - 1 - at


def wanted(
    budget: Budget, tally: Tally, *, parallel: int, sampler_limit: int | None, higher_is_better: bool
) -> int:
    """Return how many further trials to queue now.

    Args:
        budget: What the study may take.
        tally: How far it is.
        parallel: Trials that are queued or run at a time.
        sampler_limit: Trials that the sampler has at most, the combinations of a grid; None for any number.
        higher_is_better: Direction of the objective.
    """
    if budget.seconds is not None and tally.seconds >= budget.seconds:
        return 0
    stale = tally.stale(higher_is_better=higher_is_better) if budget.patience is not None else 0
    if budget.patience is not None and tally.values and stale >= budget.patience:
        return 0
    left = budget.trials - tally.asked
    if sampler_limit is not None:
        default = 1 if tally.asked == 0 else 0
        left = min(left, sampler_limit - tally.sampled + default)
    return max(0, min(left, parallel - tally.active))
