"""Read the lines of a stream of server-sent events (HTML Living Standard, section 9.2)."""

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class EventLines:
    """The state of one stream.

    Attributes:
        last_id: The last event's id, with which a stream is resumed.
    """

    last_id: str | None = None
    _kind: str = ""
    _data: list[str] = field(default_factory=list)
    _id: str | None = None

    def take(self, line: str) -> tuple[str, Any] | None:
        """Take the next line; return the kind and the data of an event that it ends.

        Args:
            line: Without its end.
        """
        if not line:
            return self._ended()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._kind = value
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        return None

    def restart(self) -> None:
        """Forget an event of which a part was read when the stream broke off."""
        self._kind, self._data, self._id = "", [], None

    def _ended(self) -> tuple[str, Any] | None:
        self.last_id = self._id or self.last_id
        kind, data = self._kind, "\n".join(self._data)
        self.restart()
        return (kind, json.loads(data)) if data else None
