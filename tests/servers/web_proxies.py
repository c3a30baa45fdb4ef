"""nginx and Caddy with the configurations of deploy/, on this machine and with a test certificate."""

import os
import socket
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from tests.requirements import require_program
from tests.servers.process import ServerProcess, free_port, tied

DEPLOY = Path(__file__).parents[2] / "deploy"
ROOT_PATH = "/rankery"
_API, _NAME = "127.0.0.1:8000", "ltr.example.org"


class WebProxy(ABC):
    """A proxy that ends TLS in front of the API. Usable as a context manager.

    Args:
        folder: Folder of its files; created if it is missing.
        api_port: Port of the API, on this machine.

    Attributes:
        url: URL of the service through the proxy.
    """

    program: ClassVar[str]
    package: ClassVar[str]

    def __init__(self, folder: Path, api_port: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._port = free_port()
        self._certificate, self._key = _make_certificate(folder)
        self.url = f"https://127.0.0.1:{self._port}{ROOT_PATH}"
        command = self._command(require_program(self.program, self.package), f"127.0.0.1:{api_port}")
        environment = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        self._process = ServerProcess(tied(command), folder / "log", self._listens, environment=environment)

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.stop()

    @abstractmethod
    def _command(self, program: str, api: str) -> list[str]:
        """Write the configuration, and return the command that starts the server with it."""

    def _listens(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), 1):
                return True
        except OSError:
            return False


class Nginx(WebProxy):
    """nginx with `deploy/nginx/rankery.conf`."""

    program, package = "nginx", "nginx-light"

    def _command(self, program: str, api: str) -> list[str]:
        site = (DEPLOY / "nginx" / "rankery.conf").read_text()
        for example, here in {
            _API: api,
            "listen 443 ssl": f"listen 127.0.0.1:{self._port} ssl",
            f"/etc/ssl/certs/{_NAME}.pem": str(self._certificate),
            f"/etc/ssl/private/{_NAME}.key": str(self._key),
        }.items():
            assert example in site
            site = site.replace(example, here)
        (self._folder / "site.conf").write_text(site)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        folders = "".join(f"{kind}_temp_path {self._folder}/{kind};" for kind in kinds)
        user = "user root;" if os.geteuid() == 0 else ""
        (self._folder / "nginx.conf").write_text(
            f"{user} daemon off; pid {self._folder}/pid; error_log stderr; events {{}}"
            f" http {{ access_log off; {folders} include {self._folder}/site.conf; }}"
        )
        return [program, "-e", "stderr", "-p", str(self._folder), "-c", str(self._folder / "nginx.conf")]


class Caddy(WebProxy):
    """Caddy with `deploy/caddy/Caddyfile`."""

    program, package = "caddy", "caddy"

    def _command(self, program: str, api: str) -> list[str]:
        site = (DEPLOY / "caddy" / "Caddyfile").read_text()
        opening = f"{_NAME} {{\n"
        assert _API in site
        assert opening in site
        here = f"https://127.0.0.1:{self._port}, https://{_NAME}:{self._port} {{\n"
        site = site.replace(_API, api).replace(opening, f"{here}\ttls {self._certificate} {self._key}\n")
        config = self._folder / "Caddyfile"
        config.write_text(f"{{\n\tadmin off\n\tauto_https off\n}}\n{site}")
        return [program, "run", "--config", str(config), "--adapter", "caddyfile"]


def _make_certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = [require_program("openssl", "openssl"), "req", "-x509"]
    command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-nodes", "-days", "2", "-subj", f"/CN={_NAME}", "-out", str(certificate)]
    command += ["-keyout", str(key), "-addext", f"subjectAltName=IP:127.0.0.1,DNS:{_NAME}"]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key
