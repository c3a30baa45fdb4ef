"""Whether an address is this machine's own, reached from nowhere else."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Tell whether a host, by name or by address, can only be this machine talking to itself.

    Names other than `localhost` are not looked up: whoever answers for them decides where they lead.
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
