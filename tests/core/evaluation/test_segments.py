"""Segments that are stored beside the values of queries."""

import io

import numpy as np

from core.evaluation import Segment, Slice, StoredSegments, write_segments


def test_segments_read_back_with_their_queries() -> None:
    """Segments are found by name and listed by size; one of fewer than five queries is not stored."""
    parts = [
        Slice("documents a query", "11 to 20", np.arange(5)),
        Slice("documents a query", "3 to 5", np.arange(5, 10)),
        Slice("market", "de", np.array([0, 2, 4, 6, 8, 10])),
        Slice("market", "fr", np.array([1, 3, 5, 7])),
    ]
    file = io.BytesIO()
    write_segments(parts, 12, file)
    stored = StoredSegments.read(io.BytesIO(file.getvalue()))
    assert stored.all() == [
        Segment("documents a query: 3 to 5", "documents a query", "3 to 5", 5),
        Segment("documents a query: 11 to 20", "documents a query", "11 to 20", 5),
        Segment("market: de", "market", "de", 6),
    ]
    members = stored.members("market: de")
    assert members is not None
    assert np.flatnonzero(members).tolist() == [0, 2, 4, 6, 8, 10]
    assert stored.members("market: fr") is None
    assert stored.members("market") is None


def test_an_empty_list_of_segments_is_read_back() -> None:
    """A dataset whose queries are all alike has no segments."""
    file = io.BytesIO()
    write_segments([], 12, file)
    assert StoredSegments.read(io.BytesIO(file.getvalue())).all() == []
