"""Process of low priority: its work, its errors, and its end."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from app.http.admission.low_priority import LowPriorityProcess
from core.errors import DatasetError, InvalidInput, JobQuotaExceeded, NotFound, RankeryError, WrongState
from core.store import Store, StoreSettings

pytestmark = pytest.mark.embedded

PATIENCE_SECONDS = 20.0


@pytest.fixture(scope="module")
def process() -> Iterator[LowPriorityProcess]:
    """A process that the tests share; it is started again after a test has killed it."""
    process = LowPriorityProcess()
    yield process
    process.stop()


@pytest.fixture
def settings(tmp_path: Path) -> StoreSettings:
    """Settings of a store without tables."""
    return StoreSettings(data_dir=tmp_path)


def priority(store: Store) -> tuple[int, int]:
    """Return the process id and the nice value."""
    return os.getpid(), os.getpriority(os.PRIO_PROCESS, 0)


def refuse(error: Exception, store: Store) -> None:
    """Raise an error."""
    raise error


def die(store: Store) -> None:
    """End like a process that the kernel kills for its memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def print_much(store: Store) -> str:
    """Write to the standard output as libraries do."""
    os.write(1, b"[LightGBM] [Warning]\n" * 1000)
    return "done"


@pytest.mark.long
def test_work_is_done_in_another_process_at_low_priority(
    process: LowPriorityProcess, settings: StoreSettings
) -> None:
    """One process with the highest nice value does all work, whatever it prints."""
    first, nice = process.run(settings, priority)
    assert (first != os.getpid(), nice) == (True, 19)
    assert process.run(settings, print_much) == "done"
    assert process.run(settings, priority)[0] == first


@pytest.mark.long
def test_errors_are_raised_in_the_calling_process(
    process: LowPriorityProcess, settings: StoreSettings
) -> None:
    """Errors of core keep their type; others become RuntimeError with a traceback. The process continues."""
    pid, _ = process.run(settings, priority)
    with pytest.raises(NotFound) as missing:
        process.run(settings, partial(refuse, NotFound("model", "web")))
    assert (missing.value.kind, missing.value.id, str(missing.value)) == (
        "model",
        "web",
        "there is no model 'web'",
    )
    with pytest.raises(InvalidInput) as invalid:
        process.run(settings, partial(refuse, InvalidInput.at("/a", "b")))
    assert invalid.value.problems == InvalidInput.at("/a", "b").problems
    with pytest.raises(RuntimeError, match="ZeroDivisionError: by what"):
        process.run(settings, partial(refuse, ZeroDivisionError("by what")))
    assert process.run(settings, priority)[0] == pid


@pytest.mark.parametrize(
    "error",
    [
        NotFound("model", "web"),
        WrongState("dataset", "ds_1", "pending", "wait"),
        InvalidInput.at("/a", "b"),
        DatasetError.at("odd", line=3),
        JobQuotaExceeded(3),
    ],
)
def test_an_error_keeps_its_attributes_when_pickled(error: RankeryError) -> None:
    """Unpickling does not need the arguments of the constructor."""
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


@pytest.mark.long
def test_a_process_that_dies_is_started_again(process: LowPriorityProcess, settings: StoreSettings) -> None:
    """The interrupted call raises RuntimeError; the next call starts another process."""
    pid, _ = process.run(settings, priority)
    with pytest.raises(RuntimeError, match="has ended"):
        process.run(settings, die)
    assert process.run(settings, priority)[0] != pid


STARTS_ONE = """
import pathlib, sys, time
from app.http.admission.low_priority import LOW_PRIORITY
from core.store import StoreSettings
from tests.app.http.test_low_priority import priority

print(LOW_PRIORITY.run(StoreSettings(data_dir=pathlib.Path(sys.argv[1])), priority)[0], flush=True)
time.sleep(600)
"""


@pytest.mark.long
def test_the_process_ends_with_its_parent(tmp_path: Path) -> None:
    """The process ends even if the service was killed."""
    command = [sys.executable, "-c", STARTS_ONE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        os.kill(pid, 0)
        starter.kill()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while _is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    # An orphan that has ended stays a zombie (Z) until its new parent reaps it.
    with contextlib.suppress(FileNotFoundError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False
