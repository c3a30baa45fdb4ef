"""Connections of a rank with all other ranks, for exchanging blocks."""

import asyncio
from collections.abc import Mapping

from worker.ranks.connections import Connection, Endpoint, Refused


class PeerLost(Exception):
    """The connection to a rank is lost.

    Attributes:
        peer: Number of the lost rank.
    """

    def __init__(self, peer: int) -> None:
        self.peer = peer
        super().__init__(f"rank {peer} is gone")


class Mesh:
    """Connections with all other ranks; call all methods in the event loop of the endpoint.

    Args:
        endpoint: Endpoint of this rank.
        rank: Number of this rank.
    """

    def __init__(self, endpoint: Endpoint, rank: int) -> None:
        self._endpoint = endpoint
        self._rank = rank
        self._connections: dict[int, Connection] = {}
        self._has_new_connection = asyncio.Event()

    async def accept(self, connection: Connection) -> None:
        """Add a connection from a rank with a higher number."""
        self._connections[connection.peer] = connection
        self._has_new_connection.set()

    async def connect_all(self, addresses: Mapping[int, str]) -> None:
        """Connect to all ranks with lower numbers, and wait for connections from those with higher numbers.

        Args:
            addresses: Addresses of all ranks.

        Raises:
            PeerLost: A rank cannot be reached, or another process answers.
        """
        for rank, address in addresses.items():
            if rank < self._rank:
                try:
                    self._connections[rank] = await self._endpoint.connect(address, rank)
                except (OSError, Refused) as error:
                    raise PeerLost(rank) from error
        while len(self._connections) < len(addresses) - 1:
            self._has_new_connection.clear()
            await self._has_new_connection.wait()

    async def swap(self, blocks: Mapping[int, bytes]) -> dict[int, bytes]:
        """Send a block to each other rank and receive a block from each.

        Raises:
            PeerLost: A connection is lost.
        """
        received = {}
        for peer, block in blocks.items():
            try:
                await self._connections[peer].send({"block": block})
            except OSError as error:
                raise PeerLost(peer) from error
        for peer in blocks:
            try:
                received[peer] = (await self._connections[peer].receive())["block"]
            except OSError as error:
                raise PeerLost(peer) from error
        return received
