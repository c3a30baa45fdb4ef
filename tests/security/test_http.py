"""Bytes that are not valid requests: the server refuses or closes, and answers the next request."""

import socket
import time
from urllib.parse import urlsplit

import pytest

from tests.security.attack import Attack, exchange, read_answer
from tests.security.target import Target

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = (
    b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer KEY\r\n"
    b"Content-Type: application/json\r\n"
)
SMUGGLED = (
    b"PUT /v1/models/web/aliases/smuggled HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer KEY\r\n"
    b'Content-Type: application/json\r\nContent-Length: 13\r\n\r\n{"version":1}'
)

BYTES: dict[str, bytes] = {
    "nothing but a line end": b"\r\n\r\n\r\n\r\n",
    "random bytes": bytes(range(256)) * 4 + b"\r\n\r\n",
    "a TLS greeting": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n\r\n",
    "an HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9),
    "an HTTP/0.9 request": b"GET /\r\n\r\n",
    "an unknown version": b"GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "no version": b"GET /healthz\r\nHost: localhost\r\n\r\n",
    "no target": b"GET  HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a method of control characters": b"G\x00ET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a target with blanks": b"GET /heal thz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a target that is not ASCII": b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a very long target": b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "no host": b"GET /v1/jobs HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "a header without a colon": GET + b"nonsense\r\n\r\n",
    "a header without a name": GET + b": x\r\n\r\n",
    "a header name with a blank": GET + b"Content-Length : 4\r\n\r\nabcd",
    "a folded header": GET + b"X-A: 1\r\n  folded: 2\r\n\r\n",
    "NUL in a header": GET + b"X-A: a\x00b\r\n\r\n",
    "a bare carriage return": GET + b"X-A: a\rX-B: b\r\n\r\n",
    "a very long header": GET + b"X-A: " + b"a" * 500_000 + b"\r\n\r\n",
    "ten thousand headers": GET + b"".join(b"X-%d: 1\r\n" % i for i in range(10_000)) + b"\r\n",
    "a length that is not a number": POST + b"Content-Length: ten\r\n\r\n{}",
    "a length below zero": POST + b"Content-Length: -2\r\n\r\n{}",
    "a length beyond 64 bits": POST + b"Content-Length: 99999999999999999999999\r\n\r\n{}",
    "a length of a thousand digits": POST + b"Content-Length: " + b"9" * 1_000 + b"\r\n\r\n{}",
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
    "a length with a sign": POST + b"Content-Length: +2\r\n\r\n{}",
    "a length in hexadecimal": POST + b"Content-Length: 0x2\r\n\r\n{}",
    "chunks without a size": POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n",
    "a chunk below zero": POST + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
    "a chunk beyond 64 bits": POST
    + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
    "an unknown coding": POST + b"Transfer-Encoding: gzip\r\n\r\n{}",
    "chunked twice": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "an unknown expectation": POST + b"Expect: 200-maybe\r\nContent-Length: 2\r\n\r\n{}",
    "an upgrade": GET + b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n",
    "a proxy's connect": b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "every option of the server": b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
}

HALVES: dict[str, bytes] = {
    "half a request line": b"GET /heal",
    "half a head": GET,
    "half a body": POST + b"Content-Length: 1000\r\n\r\n{",
    "half a chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nff\r\n{",
    "a body that was only announced": POST + b"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n",
    "nothing": b"",
}

SMUGGLERS: dict[str, bytes] = {
    "a length and chunks": POST
    + b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    + SMUGGLED,
    "chunks and a length": POST
    + b"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n"
    + SMUGGLED,
    "chunked behind a tab": POST
    + b"Transfer-Encoding:\tchunked\x0b\r\nContent-Length: 6\r\n\r\n0\r\n\r\n"
    + SMUGGLED,
    "two lengths that differ": POST + b"Content-Length: 0\r\nContent-Length: 200\r\n\r\n" + SMUGGLED,
    "a refused body": POST.replace(b"KEY", b"rk_wrong") + b"Content-Length: 300\r\n\r\n" + SMUGGLED,
}


@pytest.mark.parametrize("case", BYTES)
def test_bytes_that_are_not_a_request_are_refused(target: Target, case: str) -> None:
    """The server closes, or answers with a 4xx or as a health probe; the next request is served."""
    answer = exchange(target.url, _with_names(target, BYTES[case]))
    assert answer.status == 0 or 400 <= answer.status < 500 or answer.body == b'{"status":"ok"}', answer
    assert b"Traceback" not in answer.body
    _assert_alive(target)


@pytest.mark.parametrize("case", HALVES)
def test_half_a_request_delays_no_other_request(target: Target, case: str) -> None:
    """Ten incomplete requests do not delay the eleventh; one that ends early is refused or unanswered."""
    place = (str(urlsplit(target.url).hostname), int(urlsplit(target.url).port or 80))
    waiting = [socket.create_connection(place, 60) for _ in range(10)]
    try:
        for connection in waiting:
            connection.sendall(_with_names(target, HALVES[case]))
        _assert_alive(target)
        waiting[0].shutdown(socket.SHUT_WR)
        assert read_answer(waiting[0]).status in {0, 100, 400, 408, 422}
    finally:
        for connection in waiting:
            connection.close()
    _assert_alive(target)


@pytest.mark.parametrize("case", SMUGGLERS)
def test_a_second_request_within_the_first_is_not_run(target: Target, case: str) -> None:
    """Bytes after a body with an ambiguous end are never run as a separate request."""
    alias = f"smuggled-{list(SMUGGLERS).index(case)}"
    exchange(target.url, _with_names(target, SMUGGLERS[case].replace(b"smuggled", alias.encode())))
    time.sleep(0.2)
    with target.client() as http:
        assert alias not in http.get("/v1/models/web:1").json()["aliases"]


def _with_names(target: Target, request: bytes) -> bytes:
    return request.replace(b"KEY", target.secrets["admin"].encode())


def _assert_alive(target: Target) -> None:
    answer = exchange(target.url, Attack("/v1/jobs?limit=1", 200).request(target.url, {}, target.secrets))
    assert answer.status == 200
