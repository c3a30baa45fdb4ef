"""Loopback addresses."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is the loopback interface of this machine.

    Of names, only `localhost` and names below it are. No name is resolved, since DNS servers may return any
    address.
    """
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
