"""A LETOR file in the proportions of MSLR-WEB30K, of any size."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

N_FEATURES = 136
_ROWS = 10_000
_LABEL_SHARES = (0.515, 0.325, 0.134, 0.018, 0.008)
_DOCUMENTS_PER_QUERY = (40, 200)


def write_web30k_like(path: Path, megabytes: float, seed: int = 0) -> int:
    """Write about so many megabytes of text: labels 0 to 4, counts, and numbers of six digits.

    Returns:
        The number of documents.
    """
    generator = np.random.default_rng(seed)
    n_documents, first_query = 0, 1
    with path.open("wb") as file:
        while file.tell() < megabytes * 1e6:
            lengths = generator.integers(*_DOCUMENTS_PER_QUERY, _ROWS)
            lengths = lengths[: int(np.searchsorted(np.cumsum(lengths), _ROWS))]
            queries = np.repeat(np.arange(first_query, first_query + len(lengths)), lengths)
            first_query += len(lengths)
            labels = generator.choice(len(_LABEL_SHARES), len(queries), p=_LABEL_SHARES)
            file.write(_lines(labels, queries, _features(generator, labels)))
            n_documents += len(queries)
    return n_documents


def _features(generator: np.random.Generator, labels: Any) -> list[Any]:
    """Draw the columns: of eight, five are shares, two are counts and one is a score of either sign."""
    columns = []
    for column in range(N_FEATURES):
        signal = labels * (0.3 if column % 10 == 0 else 0.0)
        drawn = generator.standard_normal(len(labels)) + signal
        if column % 8 in (3, 6):
            columns.append(np.floor(np.exp(2.0 + drawn)).astype(np.int64))
        else:
            columns.append(np.round(drawn if column % 8 == 5 else 1.0 / (1.0 + np.exp(-drawn)), 6))
    return columns


def _lines(labels: Any, queries: Any, features: list[Any]) -> bytes:
    parts: list[Any] = [_texts(labels), _join("qid", queries)]
    parts += [_join(str(number), column) for number, column in enumerate(features, 1)]
    lines: Any = pc.binary_join_element_wise(*parts, " ")
    return ("\n".join(lines.to_pylist()) + "\n").encode()


def _join(name: str, values: Any) -> Any:
    return pc.binary_join_element_wise(name, _texts(values), ":")


def _texts(values: Any) -> Any:
    return pc.cast(pa.array(values), pa.string())
