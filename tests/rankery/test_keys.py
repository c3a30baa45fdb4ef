"""`rankery keys`: straight on the database, the service running or not."""

import re
import time
from pathlib import Path

import pytest

from core.store import Store, StoreSettings
from core.store.repositories.api_keys import secret_sha256
from rankery.client import Client
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import KeyRefused, RankeryApiError
from rankery.keys import KeyRejected, _moment_in
from tests.rankery.test_cli import rankery


def store_of(folder: Path) -> Store:
    """Open the database that the commands used."""
    return Store.open(StoreSettings(data_dir=folder.absolute()))


def test_a_key_is_made_listed_and_revoked(tmp_path: Path) -> None:
    """The secret alone is on standard output, once; the list has what tells keys apart and not the secret."""
    folder = ("--data-dir", str(tmp_path))
    made = rankery(
        "keys", "create", "ci", "--scope", "write", "--scope", "score", "--expires-in", "90d", *folder
    )
    assert made.returncode == 0, made.stderr
    secret = made.stdout.removesuffix("\n")
    assert re.fullmatch(r"rk_[A-Za-z0-9_-]{43}", secret)
    (said,) = re.findall(r"^rankery: (key_\w{20}) may score, write, until 20", made.stderr)
    store = store_of(tmp_path)
    with store.read() as tx:
        key = tx.api_keys.find(secret_sha256(secret))
    store.close()
    assert key is not None
    assert key.id == said
    listed = rankery("keys", "list", *folder)
    assert said in listed.stdout
    assert "until 20" in listed.stdout
    assert secret not in listed.stdout
    revoked = rankery("keys", "revoke", said, *folder)
    assert revoked.stdout == f"rankery: {said}, ci, is revoked\n"
    assert "revoked" in rankery("keys", "list", *folder).stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("create", "ci", "--scope", "root"), "must name some of read, score, write, admin, not 'root'"),
        (("create", "", "--scope", "read"), "a key's name is up to 200 printable characters"),
        (("create", "ci", "--scope", "read", "--expires-in", "soon"), "'soon' is no length of time"),
        (("revoke", "key_1"), "there is no key 'key_1'"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    """On standard error, with nothing on standard output that a script could take for a secret."""
    done = rankery("keys", *arguments, "--data-dir", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"rankery: {sentence}")


@pytest.mark.parametrize("duration", ["", "90", "0d", "-1d", "1y", "1.5d", "999999w", "1 d", "١d"])
def test_only_a_length_of_time_is_one(duration: str) -> None:
    """Minutes, hours, days and weeks, in whole numbers and within what a calendar holds."""
    with pytest.raises(KeyRejected):
        _moment_in(duration)


@pytest.mark.parametrize("command", ["api", "serve"])
def test_nothing_listens_on_the_network_without_a_key(command: str, tmp_path: Path) -> None:
    """One sentence says how to make one, in a container as well."""
    done = rankery(command, "--host", "0.0.0.0", "--port", "0", "--data-dir", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "rankery: without an API key the service listens on loopback only, not on 0.0.0.0:"
        " make one first with `rankery keys create NAME --scope admin`"
    )
    assert "docker compose run --rm api keys create" in line


def test_with_a_key_the_service_listens_on_the_network_and_asks_for_it(tmp_path: Path) -> None:
    """A key that is made or revoked while it runs counts within a second."""
    folder = ("--data-dir", str(tmp_path))
    first = rankery("keys", "create", "first", "--scope", "read", *folder).stdout.strip()
    with EmbeddedStack(tmp_path, host="0.0.0.0") as stack:
        with Client(stack.url, api_key="") as client, pytest.raises(KeyRefused, match="RANKERY_API_KEY"):
            client.job("job_1")
        with (
            Client(stack.url, api_key="rk_wrong") as client,
            pytest.raises(KeyRefused, match="unknown, expired"),
        ):
            client.job("job_1")
        with Client(stack.url, api_key=first) as client:
            with pytest.raises(RankeryApiError, match="this needs the scope write"):
                client.synthetic_dataset(1)
            with pytest.raises(RankeryApiError, match="there is no job"):
                client.job("job_1")
            listed = rankery("keys", "list", *folder).stdout
            (key_id,) = re.findall(r"key_\w{20}", listed)
            rankery("keys", "revoke", key_id, *folder)
            time.sleep(1)
            with pytest.raises(KeyRefused):
                client.job("job_1")
