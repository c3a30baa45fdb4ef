"""TCP ports of the embedded service."""

import errno
import socket

from rankery.errors import StackError


def reachable_host(host: str) -> str:
    """Return the host under which a browser on this machine reaches a server bound to `host`."""
    if host in ("", "0.0.0.0"):  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    if host == "::":
        return "[::1]"
    return f"[{host}]" if ":" in host else host


def free_port(host: str, port: int = 0) -> int:
    """Return a TCP port on which a host can listen: the given one, or any free port for 0.

    Raises:
        StackError: The port is in use or not allowed, or the host is not an address of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as listener:
            # The server sets this option, too, so a port in TIME_WAIT counts as free.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(1)
            return int(listener.getsockname()[1])
    except OSError as error:
        raise StackError(_reason(host, port, error)) from error


def _reason(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is in use; choose another with --port, or --port 0 for any free one"
    if error.errno == errno.EACCES:
        return f"port {port} on {host} needs more privileges; choose one above 1023 with --port"
    return f"cannot listen on {host}: {error.strerror}"
