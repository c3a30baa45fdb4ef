"""Reading remote files in few pieces of suitable sizes."""

import io
import random

from core.store.artifacts.file_systems import BUFFER_BYTES, READ_AHEAD_BYTES, open_ranges

CONTENT = random.Random(1).randbytes(40 * BUFFER_BYTES + 17)


class Storage:
    """A storage that records the lengths of the requested ranges."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def fetch(self, start: int, stop: int) -> bytes:
        """Return a piece."""
        self.lengths.append(stop - start)
        return CONTENT[start:stop]


def test_sequential_reading_requests_larger_and_larger_pieces() -> None:
    """Larger pieces need fewer requests; the content is the same."""
    storage, found = Storage(), io.BytesIO()
    with open_ranges(len(CONTENT), storage.fetch) as file:
        while block := file.read(10_000):
            found.write(block)
    assert found.getvalue() == CONTENT
    assert storage.lengths[:5] == [
        BUFFER_BYTES,
        2 * BUFFER_BYTES,
        4 * BUFFER_BYTES,
        READ_AHEAD_BYTES,
        READ_AHEAD_BYTES,
    ]
    assert sum(storage.lengths) == len(CONTENT)


def test_random_access_requests_small_pieces() -> None:
    """A page of a large table does not need half of the table."""
    storage, places = Storage(), [30, 3, 17, 38, 9, 24]
    with open_ranges(len(CONTENT), storage.fetch) as file:
        for place in places:
            file.seek(place * BUFFER_BYTES + 5)
            assert file.read(100) == CONTENT[place * BUFFER_BYTES + 5 :][:100]
    assert storage.lengths == [BUFFER_BYTES] * len(places)


def test_a_large_piece_needs_few_requests() -> None:
    """Sequential reading continues after a large piece."""
    storage = Storage()
    with open_ranges(len(CONTENT), storage.fetch) as file:
        assert file.read(20 * BUFFER_BYTES) == CONTENT[: 20 * BUFFER_BYTES]
        assert file.read() == CONTENT[20 * BUFFER_BYTES :]
    assert len(storage.lengths) <= 3
