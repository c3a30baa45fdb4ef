"""Write LETOR text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.data.dataset import RankingDataset
from core.data.parquet import opened_parquet, read_row_groups, read_texts
from core.data.parquet_layout import Layout
from core.data.trec.spelling import BLANK
from core.errors import InvalidInput
from core.types import Float32Array

_SEPARATOR = re.compile(r"[ \t\r\n]")
_ANY_BLANK = re.compile(r"\s")  # readers refuse other blanks in the id of a query
_KEY = re.compile(r"[A-Za-z][^ \t\r\n=]*")
_WRITTEN_CELLS = 100_000  # bounds the texts in memory to about 10 MB


def write_letor(dataset: RankingDataset, file: BinaryIO) -> None:
    """Write LETOR text that `read_letor` reads back to the same features, labels, ids and document columns.

    Zeros are left out, except in the last column, which preserves the number of features. Names and
    categories of features, weights and query columns are lost, as the format cannot hold them. Document
    columns without a value, and those after the 32nd, are not read back.

    Raises:
        InvalidInput: There are no features, an id is empty, or an id or document column value holds a
            blank or line break. Also when a column name is not a key: a letter, followed by characters other
            than blanks and =.
    """
    if not dataset.n_features:
        raise InvalidInput.at("/features", "cannot be written as LETOR: there must be at least one feature")
    _check_ids("/query_ids", dataset.query_ids, _ANY_BLANK)
    _check_ids("/document_ids", dataset.document_ids, _SEPARATOR)
    for name, column in dataset.document_columns.items():
        _check_column(name, column)
    for lines in _line_blocks(dataset):
        file.write(lines)


def _line_blocks(dataset: RankingDataset) -> Iterator[bytes]:
    queries = np.repeat(np.arange(dataset.n_queries), np.diff(dataset.query_boundaries)).tolist()
    step = max(1, _WRITTEN_CELLS // dataset.n_features)
    for first in range(0, dataset.n_documents, step):
        rows = slice(first, first + step)
        lines = [
            f"{label} qid:{dataset.query_ids[query]} {features} #docid = {document}{pairs}\n"
            for label, query, features, document, pairs in zip(
                _texts(dataset.labels[rows]),
                queries[rows],
                _feature_texts(dataset.features[rows]),
                dataset.document_ids[rows],
                _pair_texts(dataset, rows),
                strict=True,
            )
        ]
        yield "".join(lines).encode()


def letor_blocks(file: BinaryIO) -> Iterator[bytes]:
    """Check a stored dataset, and return an iterator over blocks of its LETOR text; see `write_letor`.

    Document columns that the format cannot hold, such as titles, are left out.

    Args:
        file: File that `core.data.parquet.write_parquet` wrote.

    Raises:
        InvalidInput: The dataset has no features, or an id is empty or holds a blank or line break.
        DatasetError: The file is damaged.
    """
    with opened_parquet(file) as parquet:
        features = Layout.in_schema(parquet.schema_arrow).feature_names
    if not features:
        raise InvalidInput.at("/format", "cannot be letor, because the dataset has no features")
    return _letor_blocks(file, _writable_columns(file))


def _letor_blocks(file: BinaryIO, writable: set[str]) -> Iterator[bytes]:
    for block in read_row_groups(file):
        columns = {name: column for name, column in block.document_columns.items() if name in writable}
        yield from _line_blocks(replace(block, document_columns=columns))


def _writable_columns(file: BinaryIO) -> set[str]:
    """Check the ids, and return the document columns that can be written."""
    writable: set[str] | None = None
    for batch in read_texts(file):
        if writable is None:
            writable = {name for name in batch.schema.names[2:] if _KEY.fullmatch(name)}
        for name, blank in (("query_id", BLANK), ("document_id", _SEPARATOR.pattern)):
            ids = batch.column(name).cast(pa.large_string())
            refused = pc.match_substring_regex(ids, f"^$|{blank}")
            if pc.any(refused).as_py():
                first = ids.filter(refused)[0].as_py()
                detail = f"cannot be letor, because a {name} is empty or contains a blank: {first!r}"
                raise InvalidInput.at("/format", detail)
        writable = {
            name
            for name in writable
            if not pc.any(pc.match_substring_regex(batch.column(name), _SEPARATOR.pattern)).as_py()
        }
    return writable or set()


def _feature_texts(features: Float32Array) -> list[str]:
    is_written = (features != 0) | np.signbit(features)
    is_written[:, -1] = True
    columns = [f"{column + 1}:" for column in range(features.shape[1])]
    pairs = [
        columns[column] + text
        for column, text in zip(np.nonzero(is_written)[1].tolist(), _texts(features[is_written]), strict=True)
    ]
    ends = np.cumsum(np.count_nonzero(is_written, axis=1)).tolist()
    return [" ".join(pairs[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def _pair_texts(dataset: RankingDataset, rows: slice) -> list[str]:
    """Return the document columns of each document as text ` key = value key = value …`."""
    texts = [""] * len(dataset.labels[rows])
    for name, column in dataset.document_columns.items():
        for row, value in enumerate(column[rows]):
            if value:
                texts[row] += f" {name} = {value}"
    return texts


def _texts(values: Float32Array) -> list[str]:
    """Return the shortest text of each number that reads back to the same float32."""
    written = pa.array(values).cast(pa.string())
    texts = cast("list[str]", written.to_pylist())
    # The shortest text assumes one rounding; reading rounds twice, which may differ at halfway values.
    read = written.cast(pa.float64()).to_numpy().astype(np.float32)
    for position in np.flatnonzero((read != values) & ~np.isnan(values)).tolist():
        texts[position] = repr(float(values[position]))
    return texts


def _check_column(name: str, column: Sequence[str]) -> None:
    if not _KEY.fullmatch(name):
        raise InvalidInput.at(
            f"/document_columns/{name}",
            "cannot be written as LETOR: must begin with a letter and contain neither blanks nor =",
        )
    for position, value in enumerate(column):
        if _SEPARATOR.search(value):
            raise InvalidInput.at(
                f"/document_columns/{name}/{position}",
                f"cannot be written as LETOR: must not contain blanks; found {value!r}",
            )


def _check_ids(pointer: str, ids: Sequence[str], blank: re.Pattern[str]) -> None:
    for position, name in enumerate(ids):
        if not name or blank.search(name):
            raise InvalidInput.at(
                f"{pointer}/{position}",
                f"cannot be written as LETOR: must not be empty or contain blanks; found {name!r}",
            )
