"""Whom a rate limit counts for."""

import ipaddress

from starlette.types import Scope

from app.access.caller import caller_in

_IPV6_NETWORK = 64  # bits of the prefix that one customer is given


def caller_of(scope: Scope) -> str:
    """Tell callers apart: by key, else by address, and of IPv6 by the network that one customer has."""
    key_id = caller_in(scope).key_id
    if key_id is not None:
        return key_id
    address = str((scope.get("client") or ("unknown",))[0])
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address, _IPV6_NETWORK), strict=False))
    except ValueError:
        return address
