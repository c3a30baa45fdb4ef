"""Parse streams of server-sent events (HTML Living Standard, section 9.2)."""

import json
from dataclasses import dataclass, field
from typing import Any


class StreamLines:
    """Split the bytes of a stream into lines.

    Only LF and CRLF end a line: texts of events may hold U+2028 and other separators of `str.splitlines`.
    """

    def __init__(self) -> None:
        self._incomplete = b""

    def add(self, content: bytes) -> list[str]:
        """Return the lines that the next bytes of the stream complete, without their line breaks."""
        *lines, self._incomplete = (self._incomplete + content).split(b"\n")
        return [line.removesuffix(b"\r").decode(errors="replace") for line in lines]


@dataclass
class EventStreamParser:
    """Parser of one stream of server-sent events.

    Attributes:
        last_id: Id of the last complete event, to resume the stream after it.
    """

    last_id: str | None = None
    _kind: str = ""
    _data: list[str] = field(default_factory=list)
    _id: str | None = None

    def parse_line(self, line: str) -> tuple[str, Any] | None:
        """Parse the next line; return the kind and the data of the event if the line completes one.

        Args:
            line: Line without its line break.
        """
        if not line:
            return self._complete_event()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._kind = value
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        return None

    def discard_partial_event(self) -> None:
        """Discard an incomplete event after a lost connection."""
        self._kind, self._data, self._id = "", [], None

    def _complete_event(self) -> tuple[str, Any] | None:
        self.last_id = self._id or self.last_id
        kind, data = self._kind, "\n".join(self._data)
        self.discard_partial_event()
        return (kind, json.loads(data)) if data else None
