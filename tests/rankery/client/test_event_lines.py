"""Streams of server-sent events, line by line."""

import json

import pytest

from rankery.client.event_lines import EventStreamParser, StreamLines


def test_events_are_read_from_their_lines() -> None:
    """Comments and unknown fields are ignored; an event without an id keeps the last id."""
    lines = EventStreamParser()
    text = "retry: 2000\n\n: \n\nid: 4\nevent: ready\ndata: {}\n\n"
    text += 'id:5\nevent: job.ended\ndata: {"a":\ndata: 1}\n\n'
    found = [event for line in text.split("\n") if (event := lines.parse_line(line)) is not None]
    assert found == [("ready", {}), ("job.ended", {"a": 1})]
    assert lines.last_id == "5"


def test_a_partial_event_is_discarded_with_its_id() -> None:
    """The id of an incomplete event does not count, so the stream resumes after the last complete event."""
    lines = EventStreamParser("5")
    lines.parse_line("id: 6")
    lines.parse_line("event: job.ended")
    lines.discard_partial_event()
    assert lines.last_id == "5"
    assert lines.parse_line("") is None


@pytest.mark.parametrize("size", [1, 2, 7, 1_000])
def test_only_line_feeds_end_a_line(size: int) -> None:
    """Texts may contain separators at which `str.splitlines` splits, and may arrive in any pieces."""
    data = {"title": "a\u2028b\u0085c ü"}
    sent = f"id: 1\r\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
    lines, parser = StreamLines(), EventStreamParser()
    pieces = [sent[first : first + size] for first in range(0, len(sent), size)]
    found = [event for piece in pieces for line in lines.add(piece) if (event := parser.parse_line(line))]
    assert found == [("", data)]
    assert parser.last_id == "1"
