"""Calls of a function at intervals while a block runs."""

import threading

import pytest

from core.polling import polling


def test_a_block_is_polled_until_it_ends() -> None:
    """The polling thread ends with the block, also if the block raises an error."""
    calls = threading.Semaphore(0)

    def fail_after_three_calls() -> None:
        with polling(calls.release, 0.001, "polls"):
            assert all(calls.acquire(timeout=10) for _ in range(3))
            raise KeyError

    with pytest.raises(KeyError):
        fail_after_three_calls()
    assert "polls" not in {thread.name for thread in threading.enumerate()}
