"""Real HTTP servers on loopback addresses, and a resolver with prepared answers."""

import contextlib
import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class Served:
    """A server and the requests that it got.

    Attributes:
        port: Port of the server.
        connections: Number of accepted connections.
        hosts: The `Host` headers of its requests.
        redirects: Target of each path that redirects.
    """

    port: int = 0
    connections: int = 0
    hosts: list[str] = field(default_factory=list)
    redirects: dict[str, str] = field(default_factory=dict)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    served: Served

    def get_request(self) -> Any:
        self.served.connections += 1
        return super().get_request()


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        served = self.server.served
        served.hosts.append(self.headers["Host"])
        target = served.redirects.get(self.path)
        self.send_response(302 if target else 200)
        if target:
            self.send_header("Location", target)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: Any) -> None:
        """Keep silent."""


@contextlib.contextmanager
def serving(address: str, port: int = 0, tls: ssl.SSLContext | None = None) -> Iterator[Served]:
    """Serve on an address during the block."""
    kind = _Server6 if ":" in address else _Server
    server = kind((address, port), _Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.served = Served(port=server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Resolver:
    """A resolver that returns the prepared answers of a name in order, and then repeats the last one."""

    def __init__(self, answers: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self._answers = {name: list(each) for name, each in answers.items()}
        self.hosts: list[str] = []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        """Return the next answer for a host."""
        self.hosts.append(host)
        answers = self._answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def certificate_for(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Make a certificate; return the contexts of a server that has it and of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "both.pem").write_bytes(private + pem)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "both.pem")
    return server, ssl.create_default_context(cadata=pem.decode())


def has_ipv6_loopback() -> bool:
    """Return whether this machine has the loopback address of IPv6."""
    try:
        with serving(str(ipaddress.IPv6Address("::1"))):
            return True
    except OSError:
        return False
