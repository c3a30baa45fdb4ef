"""Conditions under which a study queues no further trial."""

import pytest

from core.studies.budget import Budget, Tally, trials_to_queue

BUDGET = Budget(trials=10, seconds=60.0, patience=3)


def _trials_to_queue(budget: Budget = BUDGET, *, higher_is_better: bool = True, **changed: object) -> int:
    tally = {"created": 4, "active": 1, "sampled": 3, "seconds": 10.0, "values": (0.1, 0.2, 0.3)} | changed
    return trials_to_queue(
        budget,
        Tally(**tally),  # type: ignore[arg-type]
        parallel=3,
        sampler_limit=None,
        higher_is_better=higher_is_better,
    )


def test_trials_are_queued_up_to_the_parallel_number() -> None:
    """Queued and running trials count towards it, and the number of trials is a limit, too."""
    assert _trials_to_queue() == 3 - 1
    assert _trials_to_queue(created=9) == 1
    assert _trials_to_queue(created=10) == 0


def test_no_trial_is_queued_after_the_time_limit() -> None:
    """A time equal to the limit counts as reached."""
    assert _trials_to_queue(seconds=59.9) == 2
    assert _trials_to_queue(seconds=60.0) == 0
    assert _trials_to_queue(Budget(10), seconds=1e9) == 2


@pytest.mark.parametrize(
    ("values", "stale"),
    [((), 0), ((0.5,), 0), ((0.5, 0.4, 0.3), 2), ((0.5, None, 0.4, 0.3), 3), ((0.5, 0.5, 0.6), 0)],
)
def test_patience_counts_trials_since_the_best(values: tuple[float | None, ...], stale: int) -> None:
    """A trial without a value, or with a value equal to the best, is not a new best."""
    assert Tally(4, 0, 3, 1.0, values).stale(higher_is_better=True) == stale
    assert (_trials_to_queue(values=values) == 0) == (stale >= 3)


def test_trials_added_by_hand_do_not_use_up_the_patience() -> None:
    """A trial added by hand is not counted, but restarts the patience if it is the new best."""
    values = (0.5, 0.4, 0.3, 0.2)
    assert _trials_to_queue(values=values) == 0
    assert _trials_to_queue(values=values, by_hand={2}) == 2
    assert _trials_to_queue(values=(0.5, 0.4, 0.3, 0.6, 0.2), by_hand={3}) == 2
    assert _trials_to_queue(values=(0.5, 0.4, 0.3, 0.6, 0.2, 0.1, 0.2), by_hand={3}) == 0


def test_patience_follows_the_direction() -> None:
    """The best value of an error metric is the lowest."""
    falling = (0.5, 0.4, 0.3, 0.2)
    assert _trials_to_queue(values=falling, higher_is_better=True) == 0
    assert _trials_to_queue(values=falling, higher_is_better=False) == 2
