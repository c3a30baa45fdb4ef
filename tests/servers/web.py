"""A web server for tests over TLS, with faults that can be switched on."""

import hashlib
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

from tests.requirements import require_program

_BLOCK_BYTES = 64 * 1024


@dataclass
class WebFile:
    """A file that the server has.

    Attributes:
        content: Bytes of the file.
        etag: Entity tag of the file, or None.
        declares_size: Whether `Content-Length` is sent; otherwise the connection ends with the file.
        takes_ranges: Whether `Range` is honoured.
        cut_after: Number of bytes after which the connection is cut, one for each of the next responses.
        bytes_per_second: Limit of the transfer rate, 0 for no limit.
        location: Target of a redirect that is sent instead of the file.
        status: Statuses of the next responses, which are sent instead of the file.
        password: Required value of the header `Authorization`; requests without it get a 401.
    """

    content: bytes = b""
    etag: str | None = '"1"'
    declares_size: bool = True
    takes_ranges: bool = True
    cut_after: list[int] = field(default_factory=list)
    bytes_per_second: int = 0
    location: str | None = None
    status: list[int] = field(default_factory=list)
    password: str | None = None

    @property
    def sha256(self) -> str:
        """Checksum of its bytes."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class SeenRequest:
    """A request that the server answered."""

    path: str
    headers: dict[str, str]


class WebServer:
    """A server at `https://localhost:PORT`, with a certificate of a separate authority.

    Args:
        folder: Folder of the certificates; created if it is missing.
        tls: Whether the server uses TLS.
    """

    def __init__(self, folder: Path, *, tls: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.authority = folder / "authority.pem"
        self.files: dict[str, WebFile] = {}
        self.requests: list[SeenRequest] = []
        self.sent_bytes = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        if tls:
            if not self.authority.exists():
                make_certificates(folder)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(folder / "server.pem", folder / "server.key")
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = self._server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://localhost:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> "WebServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def environment(self) -> dict[str, str]:
        """The variables that let a process of the service trust this server and connect to it."""
        return {"SSL_CERT_FILE": str(self.authority), "RANKERY_OUTBOUND_ALLOWED": "localhost"}

    def wait_for(self, condition: Callable[[], bool], seconds: float = 20.0) -> None:
        """Wait until a condition is true, such as one about the received requests."""
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, "the condition was not true in time"
            time.sleep(0.01)


def make_certificates(folder: Path) -> None:
    """Create an authority and a certificate for localhost that it signs, with openssl."""
    program = require_program("openssl", "openssl")

    def openssl(*arguments: str) -> None:
        subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    ca = "basicConstraints=critical,CA:TRUE"
    openssl(
        *("req", "-x509", *key, "-keyout", "authority.key", "-out", "authority.pem", "-days", "2"),
        *("-subj", "/CN=Rankery tests", "-addext", ca, "-addext", "keyUsage=critical,keyCertSign"),
    )
    openssl(
        *("req", "-x509", *key, "-keyout", "server.key", "-out", "server.pem", "-days", "2"),
        *("-CA", "authority.pem", "-CAkey", "authority.key", "-subj", "/CN=localhost"),
        *("-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=CA:FALSE"),
    )


def _handler(server: WebServer) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - one class
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *arguments: object) -> None:
            """Log nothing."""

        def do_GET(self) -> None:
            path = self.path
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.requests.append(SeenRequest(path, headers))
            file = server.files.get(path)
            if file is None:
                self._empty(404)
            elif file.password is not None and headers.get("authorization") != file.password:
                self._empty(401)
            elif file.location is not None:
                self._empty(302, file.location)
            elif file.status:
                self._empty(file.status.pop(0))
            else:
                self._send(file)

        def _empty(self, status: int, location: str | None = None, content_range: str | None = None) -> None:
            self.send_response(status)
            if location is not None:
                self.send_header("Location", location)
            if content_range is not None:
                self.send_header("Content-Range", content_range)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _send(self, file: WebFile) -> None:
            start = self._start(file)
            if start and start >= len(file.content):
                self._empty(416, content_range=f"bytes */{len(file.content)}")
                return
            content = memoryview(file.content)[start:]
            self.send_response(206 if start else 200)
            if start:
                size = len(file.content)
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            if file.etag is not None:
                self.send_header("ETag", file.etag)
            if file.declares_size:
                self.send_header("Content-Length", str(len(content)))
            else:
                self.send_header("Connection", "close")
                self.close_connection = True
            self.end_headers()
            most = file.cut_after.pop(0) if file.cut_after else len(content)
            for first in range(0, min(most, len(content)), _BLOCK_BYTES):
                block = content[first : min(first + _BLOCK_BYTES, most)]
                self.wfile.write(block)
                server.sent_bytes += len(block)
                if file.bytes_per_second:
                    time.sleep(len(block) / file.bytes_per_second)
            if most < len(content):
                self.close_connection = True
                self.connection.close()

        def _start(self, file: WebFile) -> int:
            span = self.headers.get("Range", "")
            condition = self.headers.get("If-Range")
            if not span or not file.takes_ranges or (condition is not None and condition != file.etag):
                return 0
            return int(span.removeprefix("bytes=").removesuffix("-"))

        def handle(self) -> None:
            try:
                super().handle()
            except (OSError, ssl.SSLError):  # a client that was killed
                self.close_connection = True

    return Handler
