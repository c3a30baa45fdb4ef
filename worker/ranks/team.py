"""Ranks of one attempt: send requests to all ranks, and detect lost ranks."""

import asyncio
import contextlib
import queue
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from core.errors import InputProblem, InvalidInput, RankeryError
from worker.ranks.connections import Connection, Endpoint, Message
from worker.ranks.identity import DRIVER, Identity
from worker.ranks.placement import BEATS, Invitation, Placement, StartedRank

_START_SECONDS = 60.0  # timeout for the start of a process, including imports and connection
_POLL_SECONDS = 0.1


class RankLost(Exception):
    """A rank has ended, is silent, or cannot be reached by another rank."""

    def __init__(self, rank: int, host: str, why: str) -> None:
        self.rank = rank
        super().__init__(f"rank {rank}{f' on {host}' if host else ''} {why}")


class RankFailed(RankeryError):
    """A rank failed with an error that a restart would repeat."""


@dataclass
class Member:
    """One rank.

    Attributes:
        host: Name of the rank's machine, empty until the rank connects.
        address: Address at which the other ranks reach it.
        processor: Type of the machine's processor.
        condition: State that the rank sent last: `stage`, `done`, `total`, `memory_bytes`,
            `peak_memory_bytes`, `sent_bytes` and `waiting_share`.
        connection: Connection to the rank, None until it connects.
    """

    rank: int
    process: StartedRank
    last_message_at: float
    host: str = ""
    address: str = ""
    processor: str = ""
    queries: int = 0
    documents: int = 0
    condition: dict[str, Any] = field(default_factory=dict)
    connection: Connection | None = None


class Team:
    """Ranks of one attempt; a context that starts and ends their processes.

    Args:
        silence_seconds: Timeout without a message, after which a rank counts as lost.
        on_wait: Called several times a second while the driver waits for ranks; may raise to stop.
    """

    def __init__(
        self,
        placement: Placement,
        identity: Identity,
        n_ranks: int,
        threads: int,
        silence_seconds: float,
        on_wait: Callable[[], None],
    ) -> None:
        self._placement = placement
        self._identity = identity
        self._n_ranks = n_ranks
        self._threads = threads
        self._silence_seconds = silence_seconds
        self._on_wait = on_wait
        self._inbox: queue.Queue[tuple[int, dict[str, Any] | None]] = queue.Queue()
        self.members: list[Member] = []

    def __enter__(self) -> "Team":
        self._endpoint = Endpoint(self._identity, DRIVER)
        try:
            placement = self._placement
            address = self._endpoint.listen(placement.driver_host, self._accept, placement.driver_ports)
            # The first rank may wait for the last one for long.
            self._endpoint.run_in_background(self._beat())
            for rank in range(self._n_ranks):
                self.members.append(self._start_rank(rank, address))
            self._await_all()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._endpoint.close()
        for member in self.members:
            member.process.end()

    def ask(
        self, messages: Sequence[Message] | Message, *, on_wait: Callable[[], None] | None = None
    ) -> list[dict[str, Any]]:
        """Send a request to each rank and wait for all answers; return the answers by rank.

        Args:
            on_wait: Called instead of the team's `on_wait`.

        Raises:
            RankLost: A rank is lost; the team accepts no further requests.
            InvalidInput: The specification is invalid for the data of a rank.
            RankFailed: A rank failed.
        """
        messages_by_rank = [messages] * len(self.members) if isinstance(messages, Mapping) else messages
        for member, message in zip(self.members, messages_by_rank, strict=True):
            self._send(member, message)
        answers: dict[int, dict[str, Any]] = {}
        while len(answers) < len(self.members):
            self._check_ranks(on_wait or self._on_wait)
            with contextlib.suppress(queue.Empty):
                rank, received = self._inbox.get(timeout=_POLL_SECONDS)
                if (answer := self._process(self.members[rank], received)) is not None:
                    answers[rank] = answer
        return [answers[member.rank] for member in self.members]

    def _start_rank(self, rank: int, address: str) -> Member:
        def invite(host: str) -> Invitation:
            return Invitation(self._identity, rank, address, host, self._threads, self._silence_seconds)

        return Member(rank, self._placement.start(rank, invite), time.monotonic())

    async def _accept(self, connection: Connection) -> None:
        """Receive the messages of a rank until its connection is lost."""
        rank = connection.peer
        while len(self.members) <= rank < self._n_ranks:
            await asyncio.sleep(_POLL_SECONDS)  # the placement has started the rank, but not returned it
        if not 0 <= rank < self._n_ranks or self.members[rank].connection is not None:
            connection.abort()
            return
        self.members[rank].connection = connection
        with contextlib.suppress(OSError):
            while True:
                message = await connection.receive()
                self.members[rank].last_message_at = time.monotonic()
                self._inbox.put((rank, message))
        self._inbox.put((rank, None))

    async def _beat(self) -> None:
        """Send heartbeats to the ranks."""
        while True:
            for member in self.members:
                if member.connection is not None:
                    with contextlib.suppress(OSError):
                        await member.connection.send({"beat": True})
            await asyncio.sleep(self._silence_seconds / BEATS)

    def _await_all(self) -> None:
        """Wait until all ranks are connected."""
        deadline = time.monotonic() + _START_SECONDS
        while any(not member.address for member in self.members):
            self._on_wait()
            for member in self.members:
                if not member.address and (member.process.has_ended() or time.monotonic() > deadline):
                    raise RankLost(member.rank, member.host, "did not start")
            with contextlib.suppress(queue.Empty):
                rank, message = self._inbox.get(timeout=_POLL_SECONDS)
                self._process(self.members[rank], message)

    def _send(self, member: Member, message: Message) -> None:
        if member.connection is None:
            raise RankLost(member.rank, member.host, "did not connect")
        try:
            self._endpoint.run(member.connection.send(message))
        except OSError:
            raise RankLost(member.rank, member.host, "has gone") from None

    def _check_ranks(self, on_wait: Callable[[], None]) -> None:
        on_wait()
        for member in self.members:
            if member.process.has_ended():
                raise RankLost(member.rank, member.host, "has ended")
            if time.monotonic() - member.last_message_at > self._silence_seconds:
                raise RankLost(member.rank, member.host, f"was silent for {self._silence_seconds:g} s")

    def _process(self, member: Member, message: dict[str, Any] | None) -> dict[str, Any] | None:
        """Process a message of a rank; return the answer, None for other messages."""
        if message is None:
            raise RankLost(member.rank, member.host, "has gone")
        member.condition = message.get("condition", member.condition)
        if "hello" in message:
            hello = message["hello"]
            member.host, member.address, member.processor = (
                hello[name] for name in ("host", "address", "processor")
            )
        elif "lost" in message:
            lost = self.members[message["lost"]]
            raise RankLost(lost.rank, lost.host, f"was lost by rank {member.rank}")
        elif "invalid" in message:
            raise InvalidInput(*(InputProblem(pointer, detail) for pointer, detail in message["invalid"]))
        elif "failed" in message:
            raise RankFailed(f"rank {member.rank} on {member.host} failed: {message['failed']}")
        reply: dict[str, Any] | None = message.get("reply")
        return reply
