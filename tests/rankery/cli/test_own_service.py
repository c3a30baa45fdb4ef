"""Commands where no service runs: they start one on the data folder, for their own time."""

import json
import signal
import threading
from pathlib import Path

from rankery.embedded.lock import DataFolderLock
from tests.integration.processes import wait_until_none
from tests.rankery.cli.commands import JUDGED, run, started


def test_training_stopped_by_ctrl_c_goes_on_with_the_next_command(tmp_path: Path) -> None:
    """The job is kept with its folder, `jobs wait` finishes it, and no process is left either time."""
    (tmp_path / "train.txt").write_text(JUDGED)
    folder = tmp_path / "data"
    where = ("--data-dir", folder)
    slow = ("--set", "num_iterations=400", "--set", "min_data_in_leaf=2", "--validation", "none")
    process = started("train", tmp_path / "train.txt", "--name", "web", *slow, "--watch", *where)
    assert process.stderr is not None
    starting, submitted = process.stderr.readline(), process.stderr.readline()
    assert starting == f"rankery: no service has {folder}: starting one for this command\n"
    job = submitted.split()[2].rstrip(",")

    # Meanwhile other commands use the same service.
    beside = run("jobs", "show", job, *where, "--json")
    assert beside.errors == f"rankery: using the service of {folder} at {DataFolderLock(folder).address()}\n"
    assert beside.document["status"] in ("queued", "running")

    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, "")
    assert errors == (
        f"rankery: stopped, and the service of this command with it; the job {job} will go on where it was as"
        f" soon as a service has {folder} again: `rankery jobs wait {job} --data-dir {folder}`\n"
    )
    assert wait_until_none(folder, 10) == {}
    assert DataFolderLock(folder).address() is None

    again = started("jobs", "wait", job, *where, "--json")
    output, errors = again.communicate(timeout=200)
    assert again.returncode == 0, errors
    assert json.loads(output)[0]["status"] == "succeeded"
    assert wait_until_none(folder, 10) == {}


def test_nothing_is_left_alone_on_a_service_that_ends(tmp_path: Path) -> None:
    """--no-watch would leave a job that nobody carries out; it is refused before anything is uploaded."""
    (tmp_path / "train.txt").write_text(JUDGED)
    process = started("train", tmp_path / "train.txt", "--no-watch", "--data-dir", tmp_path / "data")
    output, errors = process.communicate(timeout=100)
    assert (process.returncode, output) == (1, "")
    assert "uploaded" not in errors
    assert errors.splitlines()[-1] == (
        "rankery: a service that was started for this command ends with it, and so would the training:"
        " leave --no-watch away, or start `rankery serve` first"
    )


def test_who_finds_the_folder_taken_waits_for_its_address(tmp_path: Path) -> None:
    """A service that is still starting has not told it yet; what a dead one left behind does not count."""
    (tmp_path / "serve.lock").write_text("http://127.0.0.1:9")
    lock = DataFolderLock(tmp_path)
    lock.acquire()
    assert lock.address() is None
    timer = threading.Timer(0.5, lambda: lock.tell("http://127.0.0.1:7"))
    timer.start()
    found = run("jobs", "list", "--data-dir", tmp_path)
    timer.join()
    lock.release()
    assert found.errors.startswith(f"rankery: using the service of {tmp_path} at http://127.0.0.1:7\n")
    assert found.sentence.startswith("no answer from the service at http://127.0.0.1:7")
