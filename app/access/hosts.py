"""Under which names the service answers.

A name that a stranger's DNS server leads to this machine would make a page of theirs one of ours to a browser
(DNS rebinding). Such names are told by the `Host` header.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable

from starlette.datastructures import Headers

from core.loopback import is_loopback

_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", re.IGNORECASE)


class Hosts:
    """The names of this service.

    Args:
        allowed: Names beyond loopback and the machine's own, without a port.
    """

    def __init__(self, allowed: Iterable[str]) -> None:
        self._names = {name.rstrip(".").lower() for name in (*allowed, socket.gethostname())}

    def are_named(self, headers: Headers, *, by_address: bool) -> bool:
        """Tell whether a request asks for this service.

        Args:
            headers: Of the request.
            by_address: Whether any IP address is as good as a name, which no DNS server can forge. Not so
                while everybody is let in: then only this machine may ask.
        """
        found = [_AUTHORITY.fullmatch(host) for host in headers.getlist("host")]
        if len(found) != 1 or found[0] is None:
            return False
        name = found[0][1].strip("[]").rstrip(".").lower()
        return name in self._names or is_loopback(name) or (by_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
