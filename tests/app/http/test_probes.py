"""Health checks that may hang."""

import asyncio
import threading
import time

import pytest

from app.http.probes import Probe, faults_of


def test_results_and_errors_are_passed_on() -> None:
    """The caller gets the value that the check returned, or its exception."""
    assert asyncio.run(Probe(lambda: 7).answer(5)) == 7

    def refuse() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(Probe(refuse).answer(5))


def test_a_check_that_hangs_uses_one_thread() -> None:
    """Concurrent callers share one pending check; a new check starts after it has returned."""
    released, calls = threading.Event(), []

    def hang() -> str:
        calls.append(1)
        released.wait(20)
        return "at last"

    probe = Probe(hang)

    async def call_often() -> None:
        for _ in range(3):
            answers = await asyncio.gather(*(probe.answer(0.05) for _ in range(5)), return_exceptions=True)
            assert [type(answer) for answer in answers] == [TimeoutError] * 5

    asyncio.run(call_often())
    assert len(calls) == 1
    released.set()
    assert asyncio.run(probe.answer(5)) == "at last"
    assert asyncio.run(probe.answer(5)) == "at last"
    assert 2 <= len(calls) <= 3


def test_a_check_that_hangs_is_abandoned_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new check then detects that the checked part of the service responds again."""
    monkeypatch.setattr("app.http.probes._ABANDON_SECONDS", 0.1)
    released, calls = threading.Event(), []

    def hang_once() -> str:
        calls.append(1)
        if len(calls) == 1:
            released.wait(20)
        return "back"

    probe = Probe(hang_once)
    with pytest.raises(TimeoutError):
        asyncio.run(probe.answer(0.05))
    time.sleep(0.15)
    assert asyncio.run(probe.answer(5)) == "back"
    released.set()


def test_checks_run_concurrently() -> None:
    """Two checks that wait for each other both end, so two hanging checks delay the answer only once."""
    barrier = threading.Barrier(2, timeout=20)

    def meet() -> None:
        barrier.wait()

    assert asyncio.run(faults_of({"database": Probe(meet), "storage": Probe(meet)})) == {
        "database": None,
        "storage": None,
    }
