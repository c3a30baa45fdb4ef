"""Answers that hold for as long as nothing on record changes."""

import asyncio
from collections import OrderedDict

MOST_ANSWERS = 512
MOST_BYTES = 2**16

Address = tuple[str, bytes]


class UnchangedAnswers:
    """The latest bodies by address, each with the revision of the store from before it was made.

    Many pages that follow the same job ask the same questions, most of which have the same answer as before.
    Large bodies are not kept, for their cost is in the sending. Not safe between threads.

    Attributes:
        turn: Held while an answer is made: whoever asked for the same meanwhile is given it, too, and answers
            that are made one after the other are all there sooner than in many threads at once.
    """

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self._bodies: OrderedDict[Address, tuple[str, bytes]] = OrderedDict()

    def find(self, address: Address, revision: str) -> bytes | None:
        """Return what was answered at an address, None where that may have changed since."""
        kept_revision, body = self._bodies.get(address, ("", b""))
        if kept_revision != revision:
            return None
        self._bodies.move_to_end(address)
        return body

    def keep(self, address: Address, revision: str, body: bytes) -> None:
        """Keep an answer instead of the one that was asked for least lately."""
        if len(body) > MOST_BYTES:
            return
        self._bodies[address] = (revision, body)
        self._bodies.move_to_end(address)
        if len(self._bodies) > MOST_ANSWERS:
            self._bodies.popitem(last=False)
