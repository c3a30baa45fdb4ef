"""Health checks that may hang."""

import asyncio
import threading
import time

import pytest

from app.http.probes import Probe


def test_results_and_errors_are_passed_on() -> None:
    """The caller gets the value that the check returned, or its exception."""
    assert asyncio.run(Probe(lambda: 7).answer(5)) == 7

    def refuse() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(Probe(refuse).answer(5))


def test_a_check_that_hangs_uses_one_thread() -> None:
    """Concurrent callers share one pending check; a new check starts after it has returned."""
    released, asked = threading.Event(), []

    def hang() -> str:
        asked.append(1)
        released.wait(20)
        return "at last"

    probe = Probe(hang)

    async def ask_often() -> None:
        for _ in range(3):
            began = time.monotonic()
            answers = await asyncio.gather(*(probe.answer(0.05) for _ in range(5)), return_exceptions=True)
            assert [type(answer) for answer in answers] == [TimeoutError] * 5
            assert time.monotonic() - began < 5

    asyncio.run(ask_often())
    assert len(asked) == 1
    released.set()
    assert asyncio.run(probe.answer(5)) == "at last"
    assert asyncio.run(probe.answer(5)) == "at last"
    assert 2 <= len(asked) <= 3


def test_a_check_that_hangs_is_abandoned_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new check then detects that the checked part of the service responds again."""
    monkeypatch.setattr("app.http.probes._ABANDON_SECONDS", 0.1)
    released, asked = threading.Event(), []

    def hang_once() -> str:
        asked.append(1)
        if len(asked) == 1:
            released.wait(20)
        return "back"

    probe = Probe(hang_once)
    with pytest.raises(TimeoutError):
        asyncio.run(probe.answer(0.05))
    time.sleep(0.15)
    assert asyncio.run(probe.answer(5)) == "back"
    released.set()
