"""The stopwatch of the boosting loop."""

import time

import pytest

from core.training.history import Stopwatch


def test_nested_timings_are_exclusive() -> None:
    """Time in an inner phase is not part of the outer phase; times of a repeated phase are added."""
    stopwatch, began = Stopwatch(), time.perf_counter()
    with stopwatch.timing("tree"):
        with stopwatch.timing("objective"):
            time.sleep(0.03)
        time.sleep(0.01)
    with stopwatch.timing("objective"):
        time.sleep(0.03)
    lap = stopwatch.lap()
    assert list(lap) == ["tree", "objective"]
    assert lap["objective"] >= 60
    assert lap["tree"] >= 10
    assert sum(lap.values()) <= 1e3 * (time.perf_counter() - began) + 0.01
    assert stopwatch.lap() == {}


def test_an_error_ends_its_part() -> None:
    """Time after the error is not counted."""
    stopwatch, created = Stopwatch(), time.perf_counter()
    with pytest.raises(KeyError), stopwatch.timing("tree"):
        raise KeyError
    ended = time.perf_counter()
    time.sleep(0.03)
    began = time.perf_counter()
    with stopwatch.timing("tree"):
        pass
    assert stopwatch.lap()["tree"] <= 1e3 * (time.perf_counter() - began + ended - created) + 0.01
