"""Owners of connections, which cannot be shared by processes and event loops."""

import asyncio
import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Owner:
    """The process that opens connections; a forked one would get responses to requests of its parent."""

    process: int = field(default_factory=os.getpid)

    @property
    def has_ended(self) -> bool:
        """Whether the connections can no longer be used."""
        return False


@dataclass(frozen=True)
class AsyncOwner(Owner):
    """The process and the event loop that open connections."""

    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    @property
    def has_ended(self) -> bool:
        """Whether the event loop is closed."""
        return self.loop.is_closed()
