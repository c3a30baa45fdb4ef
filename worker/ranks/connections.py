"""Connections between the processes of one training: Dask's TLS, with authentication of each rank."""

import asyncio
import concurrent.futures
import contextlib
import errno
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from core.errors import ExtraMissing
from worker.dask.settings import ANY_PORT
from worker.ranks.identity import Identity, new_nonce

try:
    from distributed.comm.core import Comm, Listener, connect, listen
except ImportError as error:
    raise ExtraMissing("a distributed training", "distributed") from error

T = TypeVar("T")
Message = Mapping[str, Any]

_CONNECT_SECONDS = 10.0
_PROOF_SECONDS = 10.0
_log = logging.getLogger(__name__)


class Refused(Exception):
    """The peer is not a process of this training, or not the expected rank."""


class Connection:
    """One end of a connection. Messages are maps of numbers, texts and bytes; nothing is unpickled."""

    def __init__(self, comm: Comm, peer: int) -> None:
        self._comm = comm
        self.peer = peer

    async def send(self, message: Message) -> None:
        """Send a message.

        Raises:
            OSError: The connection is closed.
        """
        await self._comm.write(dict(message))

    async def receive(self) -> dict[str, Any]:
        """Wait for the next message.

        Raises:
            OSError: The connection is closed.
        """
        message: dict[str, Any] = await self._comm.read()
        return message

    def abort(self) -> None:
        """Close the connection immediately; call in the event loop."""
        self._comm.abort()


class Endpoint:
    """Connections of one process, served by an event loop in a separate thread."""

    def __init__(self, identity: Identity, rank: int) -> None:
        self._identity = identity
        self._rank = rank
        self._security = identity.security()
        self._listener: Listener | None = None
        self._comms: list[Comm] = []
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="rank-connections", daemon=True)
        self._thread.start()

    def listen(
        self,
        host: str,
        on_connection: Callable[[Connection], Awaitable[None]],
        ports: Sequence[int] = ANY_PORT,
    ) -> str:
        """Accept connections; return the address to connect to.

        Args:
            host: Address at which other processes reach this machine.
            on_connection: Called in the event loop with each connection whose peer has proved its rank.
            ports: Ports to try in order; 0 is any free port.

        Raises:
            OSError: None of the ports is free.
        """

        async def accept(comm: Comm) -> None:
            try:
                connection = await self._prove(comm)
            except (TimeoutError, OSError, Refused) as error:
                _log.warning("a connection from %s was refused: %s", comm.peer_address, error)
                comm.abort()
                return
            await on_connection(connection)

        async def start() -> str:
            arguments = self._security.get_listen_args("worker")
            for port in ports:
                # Checked first, since a failed `listen` leaves its socket to the garbage collector.
                if not _is_free(host, port):
                    continue
                address = f"tls://{host}:{port}"
                try:
                    self._listener = await listen(address, accept, deserialize=False, **arguments)
                    return str(self._listener.contact_address)
                except OSError as error:  # another process may have taken the port meanwhile
                    if error.errno != errno.EADDRINUSE:
                        raise
            span = f"{ports[0]}-{ports[-1]}"
            raise OSError(errno.EADDRINUSE, f"RANKERY_RANK_PORTS: no port of {span} is free")

        return self.run(start())

    async def connect(self, address: str, peer: int) -> Connection:
        """Connect to a process of the training.

        Raises:
            OSError: The process cannot be reached.
            Refused: The peer is another process.
        """
        arguments = self._security.get_connection_args("worker")
        comm = await connect(address, timeout=_CONNECT_SECONDS, deserialize=False, **arguments)
        connection = await self._prove(comm)
        if connection.peer != peer:
            comm.abort()
            raise Refused(f"rank {connection.peer} answered instead of rank {peer}")
        return connection

    def run(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """Run a coroutine in the event loop and wait for it; call from other threads.

        Raises:
            TimeoutError: The coroutine takes longer than `seconds`.
        """
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result(seconds)
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise TimeoutError(f"not finished after {seconds} s") from None

    def run_in_background(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine in the event loop without waiting for it."""
        asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self) -> None:
        """Cancel all coroutines and close all connections."""

        async def stop() -> None:
            if self._listener is not None:
                self._listener.stop()
            for comm in self._comms:
                comm.abort()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        with contextlib.suppress(TimeoutError):
            self.run(stop(), _CONNECT_SECONDS)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    async def _prove(self, comm: Comm) -> Connection:
        """Prove the rank of this process, and verify the rank of the peer, by challenge and response."""
        self._comms.append(comm)
        async with asyncio.timeout(_PROOF_SECONDS):
            nonce = new_nonce()
            await comm.write({"nonce": nonce})
            challenge = await comm.read()
            proof = self._identity.proof(self._rank, challenge["nonce"])
            await comm.write({"rank": self._rank, "proof": proof})
            response = await comm.read()
        if not self._identity.proves(response["rank"], nonce, response["proof"]):
            raise Refused("the peer does not have the secret of the training")
        return Connection(comm, response["rank"])


def _is_free(host: str, port: int) -> bool:
    """Return whether a port is free; port 0 always is."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host.strip("[]"), port), family=family).close()
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True


class PeerLost(Exception):
    """The connection to a rank is lost.

    Attributes:
        peer: Number of the lost rank.
    """

    def __init__(self, peer: int) -> None:
        self.peer = peer
        super().__init__(f"rank {peer} is gone")


class Mesh:
    """Connections with all other ranks; call all methods in the event loop of the endpoint."""

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
