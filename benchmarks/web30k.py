"""Generate LETOR files with the proportions of MSLR-WEB30K, of any size, and folders of folds.

`python -m benchmarks.web30k FOLDER --megabytes 50` writes FOLDER/MSLR-WEB30K/Fold1 to Fold5.
"""

import argparse
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

N_FEATURES = 136
_ROWS = 10_000
_LABEL_SHARES = (0.515, 0.325, 0.134, 0.018, 0.008)
_DOCUMENTS_PER_QUERY = (40, 200)
_FOLDS = 5
_QUERY_ID_STEP = 1_000_000  # more than the queries of any part, so that query ids differ


def main() -> None:
    """Write folds; each has about the requested megabytes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--megabytes", type=float, default=10.0)
    arguments = parser.parse_args()
    write_folds(arguments.folder / "MSLR-WEB30K", arguments.megabytes)


def write_folds(folder: Path, megabytes: float) -> None:
    """Write five folds with the layout of MSLR-WEB30K.

    The queries are split into five parts. In each fold three parts are for training, the next for validation
    and the last for test; the next fold begins one part later.

    Args:
        folder: Target folder of Fold1 to Fold5, each with train.txt, vali.txt and test.txt.
        megabytes: Approximate size of a fold.
    """
    folder.mkdir(parents=True)
    parts = [folder / f"part-{number}" for number in range(_FOLDS)]
    for number, part in enumerate(parts):
        write_web30k_like(part, megabytes / _FOLDS, seed=number, first_query=1 + number * _QUERY_ID_STEP)
    for fold in range(_FOLDS):
        fold_folder = folder / f"Fold{fold + 1}"
        fold_folder.mkdir()
        rotated = parts[fold:] + parts[:fold]
        for name, used in (("train.txt", rotated[:3]), ("vali.txt", rotated[3:4]), ("test.txt", rotated[4:])):
            with (fold_folder / name).open("wb") as file:
                for part in used:
                    with part.open("rb") as content:
                        shutil.copyfileobj(content, file)
    for part in parts:
        part.unlink()


def write_web30k_like(path: Path, megabytes: float, seed: int = 0, first_query: int = 1) -> int:
    """Write about `megabytes` of text: labels 0 to 4, counts, and numbers of six digits.

    Args:
        path: The file.
        megabytes: Approximate size of the file; at least 10 kB are written.
        seed: Seed of all numbers.
        first_query: Id of the first query.

    Returns:
        The number of documents.
    """
    generator = np.random.default_rng(seed)
    n_documents = 0
    n_rows = max(_DOCUMENTS_PER_QUERY[1], min(_ROWS, int(1_000 * megabytes)))
    with path.open("wb") as file:
        while file.tell() < megabytes * 1e6:
            lengths = generator.integers(*_DOCUMENTS_PER_QUERY, n_rows)
            lengths = lengths[: int(np.searchsorted(np.cumsum(lengths), n_rows))]
            queries = np.repeat(np.arange(first_query, first_query + len(lengths)), lengths)
            first_query += len(lengths)
            labels = generator.choice(len(_LABEL_SHARES), len(queries), p=_LABEL_SHARES)
            file.write(_lines(labels, queries, _features(generator, labels)))
            n_documents += len(queries)
    return n_documents


def _features(generator: np.random.Generator, labels: Any) -> list[Any]:
    """Draw the columns: of every eight, five hold shares, two hold counts and one holds signed scores."""
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


if __name__ == "__main__":
    main()
