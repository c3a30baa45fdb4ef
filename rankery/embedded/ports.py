"""TCP ports of the embedded service."""

import errno
import os
import socket
from collections.abc import Sequence

from rankery.errors import StackError


def reachable_host(host: str) -> str:
    """Return the host under which a browser on this machine reaches a server bound to `host`."""
    if host in ("", "0.0.0.0"):  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    if host == "::":
        return "[::1]"
    return f"[{host}]" if ":" in host else host


def free_port(host: str) -> int:
    """Return a TCP port on which a host can listen; another process may take it before it is used.

    Raises:
        StackError: The host is not an address of this machine.
    """
    listeners = listen(host)
    port = port_of(listeners)
    close(listeners)
    return port


def listen(host: str, port: int = 0) -> list[socket.socket]:
    """Listen on a TCP port at each address of a host: the given port, or any free one for 0.

    Raises:
        StackError: The port is in use or not allowed, or the host is not an address of this machine.
    """
    listeners: list[socket.socket] = []
    try:
        addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(addresses):  # a file of hosts may name an address twice
            chosen = port_of(listeners) if listeners else port
            try:
                listeners.append(socket.create_server((address[0], chosen, *address[2:]), family=family))
            except OSError as error:
                # `localhost` and "" have IPv6 addresses on machines without IPv6, too.
                if not (listeners and error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)):
                    raise
    except OSError as error:
        close(listeners)
        raise StackError(_reason(host, port, error)) from error
    except UnicodeError as error:
        raise StackError(f"cannot listen on {host}: it is no host name") from error
    return listeners


def port_of(listeners: Sequence[socket.socket]) -> int:
    """Return the port of listening sockets."""
    return int(listeners[0].getsockname()[1])


def close(listeners: Sequence[socket.socket]) -> None:
    """Close sockets."""
    for listener in listeners:
        listener.close()


def _reason(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is in use; choose another with --port, or --port 0 for any free one"
    if error.errno == errno.EACCES:
        return f"port {port} on {host} needs more privileges; choose one above 1023 with --port"
    reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
    return f"cannot listen on {host}: {reason}"
