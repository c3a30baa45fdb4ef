"""The first query of a user's judged file, for the demo's live request."""

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rankery.errors import UserError

_GZIP = b"\x1f\x8b"
_MAX_DOCUMENTS = 100


@dataclass(frozen=True)
class FirstQuery:
    """One query and its candidate documents.

    Attributes:
        features: Values in the model's feature order, by document.
        labels: Graded relevance by document, where judged.
    """

    id: str
    features: dict[str, list[float]]
    labels: dict[str, float]


def first_query(path: Path, n_features: int) -> FirstQuery:
    """Read the first query of LETOR text that the service has already accepted.

    Args:
        path: Plain or gzip-compressed.
        n_features: Number of features of the model; higher features are ignored, absent ones are 0.

    Raises:
        UserError: The file can no longer be read as LETOR text.
    """
    features: dict[str, list[float]] = {}
    labels: dict[str, float] = {}
    first_id: str | None = None
    try:
        with _text(path) as lines:
            for line in lines:
                words = line.partition("#")[0].split()
                if not words:
                    continue
                query_id = words[1].removeprefix("qid:")
                first_id = first_id or query_id
                if query_id != first_id or len(features) == _MAX_DOCUMENTS:
                    break
                document = f"d{len(features) + 1}"
                features[document] = _values(words[2:], n_features)
                labels[document] = float(words[0])
    except (OSError, ValueError, IndexError, EOFError) as error:
        raise UserError(f"{path.name} cannot be read again: {error}") from error
    return FirstQuery(first_id or "", features, labels)


def _text(path: Path) -> TextIO:
    with path.open("rb") as file:
        is_gzip = file.read(len(_GZIP)) == _GZIP
    if is_gzip:
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    return path.open(encoding="utf-8", errors="replace")


def _values(words: list[str], n_features: int) -> list[float]:
    values = [0.0] * n_features
    for word in words:
        number, _, value = word.partition(":")
        if 1 <= int(number) <= n_features:
            values[int(number) - 1] = float(value)
    return values
