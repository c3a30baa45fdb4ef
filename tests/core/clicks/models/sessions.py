"""Sixty lists of ten documents, from a random generator that is simple to implement in any language."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from core.clicks import ClickLog
from core.data.texts import Texts

QUERIES, DOCUMENTS, LISTS, LENGTH = 3, 12, 60, 10


class Session(NamedTuple):
    """A list: its query, its documents by rank, and which of them were clicked."""

    query: int
    documents: tuple[int, ...]
    clicks: tuple[bool, ...]


def uniform(seed: int) -> Iterator[float]:
    """Yield numbers from 0 to 1 by Knuth's MMIX generator."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 33) / 2**31


def draw_sessions() -> list[Session]:
    """Draw lists of users who continue with probability 0.85, or 0.5 after a click.

    Documents with higher numbers are clicked more often.
    """
    numbers, sessions = uniform(40), []
    for _ in range(LISTS):
        query = int(next(numbers) * QUERIES)
        order = sorted((next(numbers) + document / 20, document) for document in range(DOCUMENTS))
        documents = tuple(document for _, document in order[:LENGTH])
        clicks, examines = [], True
        for document in documents:
            click = next(numbers) < 0.1 + 0.05 * document and examines
            examines = examines and next(numbers) < (0.5 if click else 0.85)
            clicks.append(click)
        sessions.append(Session(query, documents, tuple(clicks)))
    return sessions


def as_log(sessions: list[Session], users: list[int] | None = None) -> ClickLog:
    """Return the sessions as a log; pair 12q + d is query q and document d."""
    lengths = [len(session.documents) for session in sessions]
    pairs = [session.query * DOCUMENTS + document for session in sessions for document in session.documents]
    return ClickLog(
        list_boundaries=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        list_queries=np.array([session.query for session in sessions], np.int32),
        pairs=np.array(pairs, np.int32),
        ranks=np.array([rank for n in lengths for rank in range(1, n + 1)], np.int16),
        clicks=np.array([click for session in sessions for click in session.clicks], np.bool_),
        pair_queries=np.repeat(np.arange(QUERIES, dtype=np.int32), DOCUMENTS),
        pair_documents=np.tile(np.arange(DOCUMENTS, dtype=np.int32), QUERIES),
        query_ids=Texts.of([f"q{query}" for query in range(QUERIES)]),
        document_ids=Texts.of([f"d{document}" for document in range(DOCUMENTS)]),
        list_users=None if users is None else np.array(users, np.int32),
    )
