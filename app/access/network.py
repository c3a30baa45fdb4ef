"""No service that is open to everybody may be reached from the network."""

from app.access.doorkeeper import Doorkeeper
from core.loopback import is_loopback


class OpenNetwork(Exception):
    """The service would be open to everybody who reaches this machine."""


async def refuse_open_network(host: str, doorkeeper: Doorkeeper) -> None:
    """Let a service without keys start on loopback alone.

    Raises:
        OpenNetwork: The address that it listens on is another one, and there is no key.
    """
    if not is_loopback(host) and not await doorkeeper.keys_exist():
        raise OpenNetwork(
            f"without an API key the service listens on loopback only, not on {host};"
            " make one with `rankery keys create NAME --scope admin`"
        )
