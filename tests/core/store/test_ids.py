"""Identifiers."""

import itertools
import re
import threading
import time

from core.store.repositories import ids


def test_ids_are_a_prefix_and_20_characters() -> None:
    """An id is its prefix and 20 characters of Crockford's base32 in lower case."""
    assert re.fullmatch(r"ds_[0-9a-hjkmnp-tv-z]{20}", ids.new_id("ds_"))


def test_later_ids_are_greater() -> None:
    """Ids created one after another sort in that order, within a millisecond too."""
    created = [ids.new_id("job_") for _ in range(20_000)]
    assert all(earlier < later for earlier, later in itertools.pairwise(created))


def test_threads_never_share_an_id() -> None:
    """Ids that several threads make at the same time differ."""
    created: list[str] = []
    threads = [
        threading.Thread(target=lambda: created.extend([ids.new_id("job_") for _ in range(2_000)]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(created)) == 16_000


def test_ids_begin_with_their_creation_time() -> None:
    """The first nine characters are the milliseconds since 1970, so that processes agree on the order."""
    before = time.time_ns() // 1_000_000
    digits = ids.new_id("ds_")[3:12]
    milliseconds = 0
    for digit in digits:
        milliseconds = milliseconds * 32 + "0123456789abcdefghjkmnpqrstvwxyz".index(digit)
    # Many ids within a millisecond are up to a second ahead of the clock, since each id is above the last.
    assert before <= milliseconds <= time.time_ns() // 1_000_000 + 1_000


def test_an_id_has_a_prefix_a_length_and_an_alphabet() -> None:
    """Only a text of the right prefix, length and alphabet is an id."""
    good = ids.new_id("ds_")
    assert ids.is_id(good, "ds_")
    assert not ids.is_id(good, "job_")
    assert not ids.is_id(good[:-1], "ds_")
    assert not ids.is_id(good[:-1] + "U", "ds_")
    assert not ids.is_id(good[3:], "ds_")
