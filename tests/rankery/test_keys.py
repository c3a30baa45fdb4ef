"""`rankery keys`, which uses the database directly, with or without a running service."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.store import Store, StoreSettings
from core.store.repositories.api_keys import secret_sha256
from rankery.client import Client
from rankery.embedded.lock import DataFolderLock
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import KeyRefused, RankeryApiError
from rankery.keys import KeyRejected, _expiry_after, open_store
from tests.rankery.cli.commands import run
from tests.rankery.conftest import serving
from tests.rankery.test_cli import rankery


def store_of(folder: Path) -> Store:
    """Open the database that the commands use."""
    return Store.open(StoreSettings(data_dir=folder.absolute()))


def test_a_key_is_made_listed_and_revoked(tmp_path: Path) -> None:
    """Standard output has only the secret, once; the list has the key's id and not the secret."""
    folder = ("--data-dir", str(tmp_path))
    created = run(
        "keys", "create", "ci", "--scope", "write", "--scope", "score", "--expires-in", "90d", *folder
    )
    assert created.code == 0, created.errors
    secret = created.output.removesuffix("\n")
    assert re.fullmatch(r"rk_[A-Za-z0-9_-]{43}", secret)
    (key_id,) = re.findall(r"^rankery: (key_\w{20}) may score, write, until 20", created.errors)
    store = store_of(tmp_path)
    with store.read() as tx:
        key = tx.api_keys.find(secret_sha256(secret))
    store.close()
    assert key is not None
    assert key.id == key_id
    listed = run("keys", "list", *folder, COLUMNS="200").output
    assert key_id in listed
    assert "until 20" in listed
    assert secret not in listed
    assert run("keys", "revoke", key_id, *folder).output == f"rankery: {key_id}, ci, is revoked\n"
    assert "revoked" in run("keys", "list", *folder, COLUMNS="200").output


def test_the_projects_of_a_key_are_listed(tmp_path: Path) -> None:
    """The list names the projects that a key is restricted to; JSON has null for an unrestricted key."""
    folder = ("--data-dir", str(tmp_path))
    bound = ("--project", "web", "--project", "ads")
    created = run("keys", "create", "bound", "--scope", "read", *bound, "--json", *folder).document
    assert created["projects"] == ["ads", "web"]
    run("keys", "create", "free", "--scope", "read", *folder)
    listed = run("keys", "list", "--json", *folder).document
    assert {key["name"]: key["projects"] for key in listed} == {"bound": ["ads", "web"], "free": None}
    lines = run("keys", "list", *folder, COLUMNS="200").output.splitlines()
    (header,) = (line for line in lines if line.startswith(" id "))
    place = header.index("projects")
    shown = {row.split()[1]: row[place:].split("  ")[0] for row in lines if row.startswith(" key_")}
    assert shown == {"bound": "ads, web", "free": "all"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("create", "ci", "--scope", "root"), "must be a list of read, score, write, admin, not 'root'"),
        (("create", "", "--scope", "read"), "a key's name must have 1 to 200 printable characters"),
        (("create", "ci", "--scope", "read", "--expires-in", "soon"), "'soon' is not a duration"),
        (("revoke", "key_1"), "there is no key 'key_1'"),
    ],
)
def test_an_argument_error_is_reported_in_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    """The error is on standard error, and standard output is empty, so no script reads a wrong secret."""
    with open_store(tmp_path):
        pass
    done = run("keys", *arguments, "--data-dir", tmp_path)
    assert (done.code, done.output) == (1, "")
    (line,) = done.errors.splitlines()
    assert line.startswith(f"rankery: {sentence}")


@pytest.mark.parametrize("duration", ["", "90", "0d", "-1d", "1y", "1.5d", "999999w", "1 d", "١d"])
def test_an_invalid_duration_is_refused(duration: str) -> None:
    """A duration is a whole number of minutes, hours, days or weeks, within the calendar's range."""
    with pytest.raises(KeyRejected):
        _expiry_after(duration)


@pytest.mark.parametrize("command", [pytest.param("api", marks=pytest.mark.slow), "serve"])
def test_without_a_key_the_service_does_not_start_on_the_network(command: str, tmp_path: Path) -> None:
    """The error explains how to create a key, also in a container."""
    done = rankery(command, "--host", "0.0.0.0", "--port", "0", "--data-dir", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "rankery: without an API key the service listens on loopback only, not on 0.0.0.0:"
        " create one first with `rankery keys create NAME --scope admin`"
    )
    assert "docker compose run --rm api keys create" in line


def wait_until(refused: Callable[[], bool]) -> None:
    """Wait until the service, which reads the keys once a second, has noticed a change."""
    deadline = time.monotonic() + 20
    while not refused():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_after_the_first_key_commands_require_a_key(tmp_path: Path) -> None:
    """Commands without a key explain how to create one; keys have scopes and can be revoked at run time."""
    folder = ("--data-dir", tmp_path)
    lock = DataFolderLock(tmp_path)
    lock.acquire()
    with serving(tmp_path) as (host, port):
        url = f"http://{host}:{port}"
        lock.write_url(url)
        assert run("jobs", "list", *folder, RANKERY_API_KEY="").code == 0
        secret = run("keys", "create", "first", "--scope", "read", *folder, "--json").document["secret"]
        wait_until(lambda: run("jobs", "list", *folder, RANKERY_API_KEY="").code == 1)
        make = f"`rankery keys create NAME --scope admin --data-dir {tmp_path}` creates one"
        assert run("jobs", "list", *folder, RANKERY_API_KEY="").sentence == (
            f"the service requires an API key: set RANKERY_API_KEY to its secret, or pass --api-key; {make}"
        )
        wrong = run("jobs", "list", *folder, RANKERY_API_KEY="rk_wrong")
        assert wrong.code == 1
        assert wrong.sentence.startswith("the service did not accept the API key: ")
        assert wrong.sentence.endswith(make)
        assert run("jobs", "list", *folder, RANKERY_API_KEY=secret).code == 0
        assert run("jobs", "list", *folder, "--api-key", secret, "--json").code == 0
        with Client(url, api_key=secret) as client:
            with pytest.raises(RankeryApiError, match="this request needs the scope write"):
                client.synthetic_dataset(1)
            with pytest.raises(RankeryApiError, match="there is no job"):
                client.job("job_1")
        (key,) = run("keys", "list", *folder, "--json").document
        assert (key["name"], key["scopes"], key["state"]) == ("first", ["read"], "active")
        assert run("keys", "revoke", key["id"], *folder, "--json").document["state"] == "revoked"
        wait_until(lambda: run("jobs", "list", *folder, RANKERY_API_KEY=secret).code == 1)
    lock.release()


@pytest.mark.slow
def test_with_a_key_the_service_listens_on_the_network(tmp_path: Path) -> None:
    """The service listens on all addresses and refuses requests without a valid key."""
    run("keys", "create", "first", "--scope", "read", "--data-dir", tmp_path)
    with EmbeddedStack(tmp_path, host="0.0.0.0") as stack:
        for secret, reason in (("", "RANKERY_API_KEY"), ("rk_wrong", "unknown, expired")):
            with Client(stack.url, api_key=secret) as client, pytest.raises(KeyRefused, match=reason):
                client.job("job_1")
