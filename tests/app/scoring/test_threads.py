"""Scoring work of several models at the same time."""

import asyncio
import threading
import time

import pytest

from app.http.thread_pools import SCORING
from app.scoring.threads import Work, run_side_by_side

PATIENCE_SECONDS = 30.0


@pytest.mark.parametrize("fits_event_loop", [False, True])
def test_functions_run_at_the_same_time(fits_event_loop: bool) -> None:
    """Each waits for the others; the results are in order, and the last runs on the event loop if short."""
    together = threading.Barrier(3)

    def meet(number: int) -> tuple[int, int]:
        together.wait(PATIENCE_SECONDS)
        return number, threading.get_ident()

    works = [Work(lambda number=number: meet(number), fits_event_loop) for number in range(3)]  # type: ignore[misc]
    results = asyncio.run(run_side_by_side(works))
    assert [number for number, _ in results] == [0, 1, 2]
    threads = [thread for _, thread in results]
    assert len(set(threads)) == 3
    assert (threads[-1] == threading.get_ident()) == fits_event_loop


def test_tiny_functions_run_on_the_event_loop() -> None:
    """The switch to a thread would take longer."""
    works = [Work(threading.get_ident, fits_event_loop=True, is_tiny=True) for _ in range(3)]
    assert asyncio.run(run_side_by_side(works)) == [threading.get_ident()] * 3


def test_an_error_of_any_function_is_raised() -> None:
    """Of one in a thread, too, whose error is not logged as lost where another one is raised first."""

    def fail() -> int:
        raise ValueError("no score")

    def succeed() -> int:
        return 1

    for works in ([fail, succeed], [succeed, fail], [fail, fail]):
        with pytest.raises(ValueError, match="no score"):
            asyncio.run(run_side_by_side([Work(work, fits_event_loop=True) for work in works]))


def test_a_started_function_runs_while_the_event_loop_is_occupied() -> None:
    """It does not wait for a turn of the event loop."""

    async def occupy() -> None:
        begun = threading.Event()
        running = SCORING.start(begun.set)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not begun.is_set() and time.monotonic() < deadline:
            time.sleep(0.001)
        assert begun.is_set()
        await running

    asyncio.run(occupy())
