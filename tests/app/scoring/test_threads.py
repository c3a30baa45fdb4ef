"""Concurrent scoring functions on threads and on the event loop."""

import asyncio
import threading
import time

import pytest

from app.http.thread_pools import SCORING
from app.scoring.threads import Work, run_side_by_side

PATIENCE_SECONDS = 30.0


@pytest.mark.parametrize("fits_event_loop", [False, True])
def test_functions_run_in_parallel(fits_event_loop: bool) -> None:
    """Results are in order; the last function runs on the event loop if it is short."""
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
    """Tiny functions use no thread, since the switch would take longer than the function."""
    works = [Work(threading.get_ident, fits_event_loop=True, is_tiny=True) for _ in range(3)]
    assert asyncio.run(run_side_by_side(works)) == [threading.get_ident()] * 3


def test_an_error_of_any_function_is_raised() -> None:
    """An error in a thread is raised, too; asyncio logs no warning about a second error."""

    def fail() -> int:
        raise ValueError("no score")

    def succeed() -> int:
        return 1

    for works in ([fail, succeed], [succeed, fail], [fail, fail]):
        with pytest.raises(ValueError, match="no score"):
            asyncio.run(run_side_by_side([Work(work, fits_event_loop=True) for work in works]))


def test_a_started_function_runs_while_the_event_loop_is_occupied() -> None:
    """The function starts in its thread without the event loop."""

    async def occupy() -> None:
        begun = threading.Event()
        running = SCORING.start(begun.set)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not begun.is_set() and time.monotonic() < deadline:
            time.sleep(0.001)
        assert begun.is_set()
        await running

    asyncio.run(occupy())
