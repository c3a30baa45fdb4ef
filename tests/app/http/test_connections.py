"""Slow clients, on real sockets against a real server."""

import contextlib
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from http.client import HTTPResponse
from pathlib import Path

import httpx
import pytest
import uvicorn

from app import ApiSettings
from core.store import Store
from tests.app.conftest import NO_BROKER
from tests.app.http.conftest import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.long

# Distinct durations, so that a busy machine does not confuse which limit closed a connection.
HEAD_SECONDS = 0.6
IDLE_SECONDS = 1.2
CONNECTIONS = 3

HEAD = b"Host: 127.0.0.1\r\n"
UPLOAD = (
    b"POST /v1/datasets HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=XX\r\n"
)
PART = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'


# For tests in which the server must close no connection, however busy the machine is.
PATIENT = pytest.mark.parametrize(("head_seconds", "keep_alive_seconds"), [(60.0, 60)])


@pytest.fixture
def head_seconds() -> float:
    """Time limit of a request head; PATIENT has a longer one."""
    return HEAD_SECONDS


@pytest.fixture
def keep_alive_seconds() -> int:
    """Time limit between two requests; PATIENT has a longer one."""
    return 1


@pytest.fixture
def settings(
    migrated_file: Path, tmp_path: Path, head_seconds: float, keep_alive_seconds: int
) -> ApiSettings:
    """Settings with short time limits."""
    shutil.copy(migrated_file, tmp_path)
    return ApiSettings(
        data_dir=tmp_path,
        broker_url=NO_BROKER,
        head_seconds=head_seconds,
        body_idle_seconds=IDLE_SECONDS,
        min_body_bytes_per_second=2**20,
        keep_alive_seconds=keep_alive_seconds,
        max_connections=CONNECTIONS,
    )


@pytest.fixture
def connect(server: uvicorn.Server) -> Iterator[Callable[[], socket.socket]]:
    """Function that opens connections to the server."""
    address = server.servers[0].sockets[0].getsockname()
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(socket.create_connection(address, timeout=PATIENCE_SECONDS))


Connect = Callable[[], socket.socket]


def _answer(connection: socket.socket) -> bytes:
    """Read until the server closes."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(2**16):
            received += piece
    return received


def _trickle(connection: socket.socket, pieces: Iterator[bytes], seconds: float) -> bytes:
    """Send a piece every `seconds` until the server answers or closes; return the answer."""
    connection.settimeout(seconds)
    deadline = time.monotonic() + PATIENCE_SECONDS
    for piece in pieces:
        assert time.monotonic() < deadline, "the server is too patient"
        try:
            connection.sendall(piece)
            received = connection.recv(2**16)
        except TimeoutError:
            continue
        except OSError:
            return b""
        connection.settimeout(PATIENCE_SECONDS)
        return received + (_answer(connection) if received else b"")
    raise AssertionError("the server took everything")


def _get(connection: socket.socket, path: str = "/healthz") -> int:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    return _status(connection)


def _status(connection: socket.socket) -> int:
    response = HTTPResponse(connection)
    response.begin()
    response.read()
    return response.status


def _assert_nothing_left(settings: ApiSettings) -> None:
    store = Store.open(settings)
    with store.read() as tx:
        assert tx.datasets.page(None, 10).items == []
        assert tx.jobs.page(None, 10).items == []
    store.close()
    artifacts = Path(settings.storage_url.removeprefix("file://"))
    eventually(lambda: not any(path.is_file() for path in artifacts.rglob("*")))


def test_a_connection_without_a_request_is_closed(connect: Connect) -> None:
    """The server closes it after `head_seconds` without a byte of a request."""
    started = time.monotonic()
    assert _answer(connect()) == b""
    assert time.monotonic() - started >= HEAD_SECONDS


def test_a_head_that_trickles_is_closed(connect: Connect) -> None:
    """Single bytes do not extend the deadline."""
    head = b"GET /healthz HTTP/1.1\r\n" + HEAD + b"X: " + b"a" * 10_000
    started = time.monotonic()
    assert _trickle(connect(), (bytes([byte]) for byte in head), HEAD_SECONDS / 10) == b""
    assert time.monotonic() - started < PATIENCE_SECONDS / 2


def test_the_head_of_a_second_request_has_a_deadline_too(connect: Connect) -> None:
    """The deadline applies to a connection that was used before."""
    connection = connect()
    assert _get(connection) == 200
    connection.sendall(b"GET /healthz HTT")
    assert _answer(connection) == b""


@PATIENT
def test_a_slow_head_within_the_deadline_is_answered(connect: Connect) -> None:
    """A head that arrives in two pieces within the deadline is accepted."""
    connection = connect()
    connection.sendall(b"GET /healthz HTTP/1.1\r\n")
    time.sleep(HEAD_SECONDS / 4)
    connection.sendall(HEAD + b"\r\n")
    assert _status(connection) == 200


def test_clients_and_proxies_close_idle_connections_first() -> None:
    """Otherwise a client may send a request while the server closes the connection; proxies wait 60 s."""
    httpx_seconds = httpx.Limits().keepalive_expiry
    assert httpx_seconds is not None
    assert ApiSettings().keep_alive_seconds > max(httpx_seconds, 60)


def test_an_idle_connection_is_closed(connect: Connect) -> None:
    """The server closes it after `keep_alive_seconds`; until then it accepts further requests."""
    connection = connect()
    for _ in range(3):
        started = time.monotonic()
        assert _get(connection) == 200
    assert _answer(connection) == b""
    assert time.monotonic() - started > HEAD_SECONDS


@pytest.mark.parametrize("keep_alive_seconds", [60])
def test_a_body_after_its_answer_does_not_shorten_the_idle_time(connect: Connect) -> None:
    """A connection stays open for the full idle time after a request was refused by its head."""
    connection = connect()
    connection.sendall(
        b"POST /v1/jobs HTTP/1.1\r\n" + HEAD + b"Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n"
    )
    assert _status(connection) == 415
    connection.sendall(b"{}")
    time.sleep(HEAD_SECONDS * 2)
    assert _get(connection) == 200


def test_an_upload_that_stalls_gets_408_and_leaves_nothing(connect: Connect, settings: ApiSettings) -> None:
    """A client stops sending in the middle of a file; neither a file nor a row remains."""
    connection = connect()
    connection.sendall(UPLOAD + b"Content-Length: 10000000\r\n\r\n" + PART + b"1 qid:1 1:1\n" * 300_000)
    answer = _answer(connection)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"no bytes of the body have arrived for 1.2 s" in answer
    _assert_nothing_left(settings)


def test_an_upload_that_trickles_gets_408_and_leaves_nothing(connect: Connect, settings: ApiSettings) -> None:
    """Single bytes do not keep an upload open, because the minimum rate of a body applies."""
    connection = connect()
    connection.sendall(UPLOAD + b"Transfer-Encoding: chunked\r\n\r\n")
    pieces = (b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (PART, *[b"1"] * 10_000))
    answer = _trickle(connection, pieces, IDLE_SECONDS / 10)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"less than 1048576 bytes a second" in answer
    _assert_nothing_left(settings)


def test_json_that_stalls_gets_408(connect: Connect) -> None:
    """The limit applies to bodies that are read as a whole."""
    connection = connect()
    connection.sendall(
        b"POST /v1/jobs HTTP/1.1\r\n"
        + HEAD
        + b"Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    )
    assert _answer(connection).startswith(b"HTTP/1.1 408")


def test_an_upload_over_a_broken_connection_leaves_nothing(connect: Connect, settings: ApiSettings) -> None:
    """The connection breaks within a file; neither a file nor a row remains."""
    connection = connect()
    connection.sendall(UPLOAD + b"Content-Length: 10000000\r\n\r\n" + PART + b"1 qid:1 1:1\n" * 300_000)
    time.sleep(0.2)
    connection.close()
    _assert_nothing_left(settings)


def test_a_connection_that_sends_a_body_after_its_answer_is_closed(connect: Connect) -> None:
    """A request refused by its head cannot keep the connection open by sending more of its body."""
    connection = connect()
    connection.sendall(UPLOAD + b"Content-Length: 999999999999\r\n\r\n")
    assert _status(connection) == 413
    assert _trickle(connection, (b"a" for _ in range(10**6)), HEAD_SECONDS / 10) == b""


@PATIENT
def test_connections_beyond_the_limit_get_503(connect: Connect) -> None:
    """Requests are answered again as soon as one connection is closed."""
    held = [connect() for _ in range(CONNECTIONS)]
    assert all(_get(connection) == 200 for connection in held)
    assert _get(connect()) == 503
    assert _get(held[0]) == 200
    for connection in held:
        connection.close()
    eventually(lambda: _get(connect()) == 200)


@PATIENT
def test_far_too_many_connections_are_closed(connect: Connect, server: uvicorn.Server) -> None:
    """The server closes them without reading a request."""
    held = [connect() for _ in range(150)]
    assert all(_answer(connection) == b"" for connection in held[CONNECTIONS + 64 :])
    assert len(server.server_state.connections) == CONNECTIONS + 64
    for connection in held:
        connection.close()
    eventually(lambda: len(server.server_state.connections) == 0)
    assert _get(connect()) == 200


def test_the_connection_of_a_client_that_reads_no_answer_is_closed(
    connect: Connect, server: uvicorn.Server
) -> None:
    """Otherwise such clients would hold the memory of their answers, and connections up to the limit."""
    connection = connect()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    # A hundred OpenAPI documents exceed the buffers of both sides.
    with contextlib.suppress(OSError):
        for _ in range(100):
            connection.settimeout(1)
            connection.sendall(b"GET /openapi.json HTTP/1.1\r\n" + HEAD + b"\r\n")
    eventually(lambda: len(server.server_state.connections) == 0)
