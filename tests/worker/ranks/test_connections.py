"""Authentication of ranks: certificate, and proofs of job, token and rank."""

import asyncio
import json
import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pydantic import ValidationError

from tests.servers.process import reserved_port
from tests.worker.conftest import DASK_SECRETS
from worker.dask.settings import PortSettings
from worker.ranks import connections, placement
from worker.ranks.connections import Connection, Endpoint, Refused
from worker.ranks.identity import DRIVER, Identity
from worker.ranks.placement import Invitation, RankSubprocess, rank_environment

HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def identity() -> Identity:
    """The identity of a training."""
    return Identity.new("job_1", 3)


class RecordingDriver:
    """A driver that records the ranks that connect."""

    def __init__(self, identity: Identity) -> None:
        self.peers: list[int] = []
        self._endpoint = Endpoint(identity, DRIVER)
        self.address = self._endpoint.listen(HOST, self._accept)

    async def _accept(self, connection: Connection) -> None:
        self.peers.append(connection.peer)

    def close(self) -> None:
        """Stop listening."""
        self._endpoint.close()


@pytest.fixture
def driver(identity: Identity) -> Iterator[RecordingDriver]:
    """A listening driver."""
    driver = RecordingDriver(identity)
    yield driver
    driver.close()


def _connect(identity: Identity, rank: int, address: str, peer: int = DRIVER) -> None:
    endpoint = Endpoint(identity, rank)
    try:
        connection = endpoint.run(endpoint.connect(address, peer), 20)
        # The driver closes the connection if it refuses the proof.
        endpoint.run(_settled(connection), 20)
    finally:
        endpoint.close()


async def _settled(connection: Connection) -> None:
    await asyncio.sleep(0.2)
    await connection.send({"beat": True})


def test_a_rank_of_the_training_connects(driver: RecordingDriver, identity: Identity) -> None:
    """A rank with the certificate and the secret is accepted."""
    _connect(identity, 2, driver.address)
    assert driver.peers == [2]


@pytest.mark.parametrize("change", [{"job_id": "job_2"}, {"token": 2}, {"secret": "00" * 32}], ids=str)
def test_another_job_claim_or_secret_is_refused(
    driver: RecordingDriver, identity: Identity, change: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    """The proof covers the job, the token of the claim and the secret."""
    with pytest.raises((Refused, OSError)):
        _connect(replace(identity, **change), 1, driver.address)  # type: ignore[arg-type]
    assert not driver.peers


def test_another_certificate_is_refused(driver: RecordingDriver, identity: Identity) -> None:
    """A rank with another certificate is refused, even with the secret."""
    other = Identity.new(identity.job_id, identity.token)
    stranger = replace(other, secret=identity.secret)
    with pytest.raises((OSError, ssl.SSLError)):
        _connect(stranger, 1, driver.address)
    assert not driver.peers


def test_a_rank_in_the_place_of_another_is_refused(driver: RecordingDriver, identity: Identity) -> None:
    """A rank that connects checks the number of the rank that answers."""
    with pytest.raises(Refused, match="rank -1 answered instead of rank 4"):
        _connect(identity, 1, driver.address, peer=4)


def test_a_rank_sees_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank has no credentials of the database, the broker or the artifact storage."""
    for name in (*DASK_SECRETS, "RANKERY_STORAGE_URL", "HF_TOKEN", "FSSPEC_S3_SECRET"):
        monkeypatch.setenv(name, "secret")
    assert "secret" not in rank_environment(2).values()
    assert rank_environment(2)["OMP_NUM_THREADS"] == "2"


def test_an_endpoint_takes_the_first_port_that_is_free(identity: Identity) -> None:
    """An endpoint listens on the first free port of the range, and fails if no port is free."""
    endpoints = [Endpoint(identity, DRIVER), Endpoint(identity, 1)]
    with reserved_port() as first, reserved_port() as second:
        ports = PortSettings(rank_ports=f"{first}-{first}").ports
        try:
            assert endpoints[0].listen(HOST, _refuse, ports).endswith(f":{first}")
            with pytest.raises(OSError, match=f"RANKERY_RANK_PORTS: no port of {first}-{first} is free"):
                endpoints[1].listen(HOST, _refuse, ports)
            assert endpoints[1].listen(HOST, _refuse, [first, second]).endswith(f":{second}")
        finally:
            for endpoint in endpoints:
                endpoint.close()


# tornado does not close the socket of a failed bind.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_a_port_that_another_process_takes_meanwhile_is_skipped(
    identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two ranks that start on one machine may both find the same port free."""
    with reserved_port() as first, reserved_port() as second, socket.create_server((HOST, first)):
        monkeypatch.setattr(connections, "_is_free", lambda *_: True)
        endpoint = Endpoint(identity, 1)
        try:
            assert endpoint.listen(HOST, _refuse, [first, second]).endswith(f":{second}")
        finally:
            endpoint.close()


async def _refuse(_: Connection) -> None:
    """Ignore the connection."""


@pytest.mark.parametrize("text", ["47000", "47099-47000", "0-1", "1-65536", "a-b", "1-2-3"])
def test_an_invalid_range_of_ports_is_refused(text: str) -> None:
    """The message shows the valid form."""
    with pytest.raises(ValidationError, match="must be FIRST-LAST, ports from 1 to 65535"):
        PortSettings(rank_ports=text)


def test_a_rank_listens_at_the_ports_of_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank inherits the setting of the ports from its rank worker."""
    monkeypatch.setenv("RANKERY_RANK_PORTS", "47000-47002")
    assert rank_environment(1)["RANKERY_RANK_PORTS"] == "47000-47002"
    assert list(PortSettings().ports) == [47000, 47001, 47002]


@pytest.mark.long
def test_a_rank_logs_in_the_format_of_its_worker(
    driver: RecordingDriver,
    identity: Identity,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """With `RANKERY_LOG_FORMAT=json`, each line of a rank on the worker's standard error is JSON."""
    monkeypatch.setenv("RANKERY_LOG_FORMAT", "json")
    refused = replace(identity, secret="00" * 32)
    process = RankSubprocess(Invitation(refused, 0, driver.address, HOST, 1, 2.0))
    assert process.ended_within(60.0)
    (entry,) = map(json.loads, capfd.readouterr().err.splitlines())
    assert (entry["level"], entry["logger"]) == ("warning", "rankery.ranks")
    assert "cannot reach its driver" in entry["event"]


def test_a_rank_that_dies_before_it_reads_its_invitation_has_ended(
    identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loss is reported as for any other rank, not as an error of the pipe."""
    monkeypatch.setattr(placement, "module_command", lambda *_: ["true"])
    more_than_a_pipe_holds = replace(identity, secret="0" * 2**20)
    process = RankSubprocess(Invitation(more_than_a_pipe_holds, 0, "", HOST, 1, 2.0))
    assert process.ended_within(10.0)


@pytest.mark.slow
@pytest.mark.long
def test_a_rank_without_its_driver_ends(identity: Identity) -> None:
    """A rank that cannot connect to its driver ends within a minute."""
    process = RankSubprocess(Invitation(identity, 0, f"tls://{HOST}:1", HOST, 1, 2.0))
    assert process.ended_within(60.0)
