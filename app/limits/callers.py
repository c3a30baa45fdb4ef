"""Whom a rate limit counts for."""

from starlette.types import Scope

from app.access.addresses import address_of, customer_of
from app.access.caller import caller_in


def caller_of(scope: Scope) -> str:
    """Tell callers apart: by key, else by address, and of IPv6 by the network that one customer has."""
    return caller_in(scope).key_id or customer_of(address_of(scope) or "unknown")
