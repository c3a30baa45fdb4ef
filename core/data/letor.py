"""LETOR (SVMlight with `qid`) text: `2 qid:10 1:0.5 3:1e-2 # docid = GX1`."""

from typing import BinaryIO, Literal, NoReturn, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.data.dataset import RankingDataset, numbered_features, row_numbers
from core.data.grouping import Grouping, group_rows
from core.data.letor_kernel import (
    FEATURE_MALFORMED,
    FEATURE_REPEATED,
    FEATURE_ZERO,
    FINE,
    LABEL_COLUMN,
    LABEL_MALFORMED,
    LABEL_OUT_OF_RANGE,
    MAX_FEATURE_ID,
    QUERY_EMPTY,
    QUERY_MISSING,
    VALUE_INFINITE,
    VALUE_MALFORMED,
    VALUE_TOO_LARGE,
    fill,
    measure,
)
from core.errors import DatasetError, InvalidInput
from core.types import Float32Array, Int64Array

RepeatedFeatures = Literal["last", "reject"]
MAX_CELLS = 2**31  # 8 GiB of float32; MSLR-WEB30K has 5e8
_PENDING_ROWS = 65_536
_WRITTEN_CELLS = 1_000_000  # bounds the texts in memory to about 100 MB
_TEXT_SHOWN = 40
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_VALUE = "a number such as 0.5, -2e-3 or nan after the colon"

_EXPECTED = {
    LABEL_MALFORMED: "expected a label, a number of at least 0",
    LABEL_OUT_OF_RANGE: "expected a label that is finite in float32 and at least 0",
    QUERY_MISSING: "expected qid:<query id> after the label",
    QUERY_EMPTY: "expected a query id after qid:",
    FEATURE_MALFORMED: "expected <feature id>:<value>",
    FEATURE_ZERO: "expected a feature id of at least 1",
    FEATURE_REPEATED: "expected each feature once in a row",
    VALUE_MALFORMED: f"expected {_VALUE}",
    VALUE_INFINITE: "expected a finite feature value, or nan for a missing one",
    VALUE_TOO_LARGE: "expected a feature value within float32's range of 3.4e38",
}


def read_letor(
    text: npt.NDArray[np.uint8],
    file: str,
    *,
    repeated_features: RepeatedFeatures = "last",
    max_cells: int = MAX_CELLS,
) -> RankingDataset:
    """Parse LETOR text.

    Features may come in any order, absent ones are 0, `nan` is missing. Numbers are rounded to float64 and
    then to float32. The rows of a query that is scattered over the file are gathered, in file order, where
    it first appears. A document's id is X of a comment `#docid = X` or `# X ...`, else its row number within
    the query.

    Args:
        text: The bytes of the file.
        file: The file's name for error messages.
        repeated_features: Whether a feature that comes twice in a row counts with its last value or is an
            error.
        max_cells: The most documents times features to make room for.

    Raises:
        DatasetError: At the first token that cannot be understood, or when the matrix would be too large.
    """
    source = _Source(text, file)
    start = 3 if text[:3].tobytes() == _BYTE_ORDER_MARK else 0
    rows, n_features, largest_at, most_tokens = measure(text, start)
    if rows == 0:
        raise DatasetError.at(
            "expected lines such as '2 qid:1 1:0.5 2:0.1', but found no document", file=file
        )
    source.check_size(rows, n_features, largest_at, max_cells)
    parsed = _Rows(rows, n_features)
    parsed.parse(source, start, most_tokens, repeated_features == "reject")
    if n_features == 0:
        raise DatasetError.at("expected features such as 1:0.5, but no document has any", file=file)
    return parsed.dataset(source)


def write_letor(dataset: RankingDataset, file: BinaryIO) -> None:
    """Write LETOR text that reads back to the same features, labels and ids.

    Zeros are left out, except in the last column, which keeps the number of features. Feature names and query
    weights have no place in the format and are lost.

    Raises:
        InvalidInput: When an id is empty or holds a blank or line break.
    """
    _check_ids("/query_ids", dataset.query_ids)
    _check_ids("/document_ids", dataset.document_ids)
    queries = np.repeat(np.arange(dataset.n_queries), np.diff(dataset.query_boundaries)).tolist()
    step = max(1, _WRITTEN_CELLS // dataset.n_features)
    for first in range(0, dataset.n_documents, step):
        rows = slice(first, first + step)
        lines = [
            f"{label} qid:{dataset.query_ids[query]} {features} #docid = {document}\n"
            for label, query, features, document in zip(
                _texts(dataset.labels[rows]),
                queries[rows],
                _feature_texts(dataset.features[rows]),
                dataset.document_ids[rows],
                strict=True,
            )
        ]
        file.write("".join(lines).encode())


class _Source:
    """The bytes of a file, and where in it something is."""

    def __init__(self, text: npt.NDArray[np.uint8], file: str) -> None:
        self.text = text
        self.file = file

    def slice(self, start: int, stop: int) -> str:
        # Old collections hold Latin-1 here and there; an escaped byte keeps different ids different.
        return self.text[start:stop].tobytes().decode(errors="backslashreplace")

    def fail(self, expected: str, start: int, stop: int) -> NoReturn:
        before = self.text[:start]
        if before[:3].tobytes() == _BYTE_ORDER_MARK:
            before = before[3:]
        feeds = np.flatnonzero(before == ord("\n"))
        found = _shortened(self.slice(start, stop))
        raise DatasetError.at(
            f"{expected}, but found {repr(found) if found else 'the end of the line'}",
            file=self.file,
            line=len(feeds) + 1,
            column=len(before) - (int(feeds[-1]) if len(feeds) else -1),
            text=found,
        )

    def check_size(self, rows: int, n_features: int, largest_at: int, max_cells: int) -> None:
        if n_features > MAX_FEATURE_ID or rows * n_features > max_cells:
            stop = largest_at
            while stop < self.text.size and self.text[stop] not in b" \t\r\n#":
                stop += 1
            limit = f"expected feature ids of at most {MAX_FEATURE_ID:,}"
            if n_features <= MAX_FEATURE_ID:
                limit = (
                    f"expected at most {max_cells:,} cells, but {rows:,} documents"
                    f" by {n_features:,} features are {rows * n_features:,}; the largest feature id is here"
                )
            self.fail(limit, largest_at, stop)


class _Rows:
    """The arrays that the kernel fills."""

    def __init__(self, rows: int, n_features: int) -> None:
        self.features: Float32Array = np.zeros((rows, n_features), np.float32)
        self.labels: Float32Array = np.empty(rows, np.float32)
        self.query_spans: Int64Array = np.empty((rows, 2), np.int64)
        self.document_spans: Int64Array = np.empty((rows, 2), np.int64)
        self.run_flags = np.zeros(rows, np.bool_)

    def parse(self, source: _Source, at: int, most_tokens: int, reject_repeated: bool) -> None:
        pending: Int64Array = np.empty((_PENDING_ROWS + most_tokens, 4), np.int64)
        last_rows: Int64Array = np.full(self.features.shape[1], -1, np.int64)
        row = 0
        while at < source.text.size:
            at, row, waiting, error, start, stop = fill(
                source.text,
                at,
                row,
                most_tokens,
                reject_repeated,
                self.features,
                self.labels,
                self.query_spans,
                self.run_flags,
                self.document_spans,
                last_rows,
                pending,
            )
            self._store(source, pending[:waiting])
            if error != FINE:
                source.fail(_EXPECTED[error], start, stop)

    def dataset(self, source: _Source) -> RankingDataset:
        grouping = self._group(source)
        features, labels, spans = self.features, self.labels, self.document_spans
        if grouping.order is not None:
            features, labels, spans = features[grouping.order], labels[grouping.order], spans[grouping.order]
        return RankingDataset(
            features=features,
            labels=labels,
            query_boundaries=grouping.query_boundaries,
            query_ids=grouping.query_ids,
            document_ids=_document_ids(source, spans, grouping.query_boundaries),
            feature_names=numbered_features(features.shape[1]),
        )

    def _store(self, source: _Source, pending: Int64Array) -> None:
        for row, column, start, stop in pending.tolist():
            with np.errstate(over="ignore"):
                value = np.float32(float(source.slice(start, stop)))
            if column == LABEL_COLUMN:
                if np.isinf(value):
                    source.fail(_EXPECTED[LABEL_OUT_OF_RANGE], start, stop)
                self.labels[row] = abs(value)
            else:
                if np.isinf(value):
                    source.fail(_EXPECTED[VALUE_TOO_LARGE], start, stop)
                self.features[row, column] = value

    def _group(self, source: _Source) -> Grouping:
        starts = np.flatnonzero(self.run_flags)
        run_ids = [source.slice(start, stop) for start, stop in self.query_spans[starts].tolist()]
        return group_rows(run_ids, starts, len(self.labels))


def _document_ids(source: _Source, spans: Int64Array, boundaries: Int64Array) -> tuple[str, ...]:
    numbers = row_numbers(boundaries)
    if np.array_equal(spans[:, 0], spans[:, 1]):
        return numbers
    return tuple(
        source.slice(start, stop) if stop > start else number
        for (start, stop), number in zip(spans.tolist(), numbers, strict=True)
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _TEXT_SHOWN else text[: _TEXT_SHOWN - 1] + "…"


def _feature_texts(features: Float32Array) -> list[str]:
    shown = (features != 0) | np.signbit(features)
    shown[:, -1] = True
    columns = [f"{column + 1}:" for column in range(features.shape[1])]
    pairs = [
        columns[column] + text
        for column, text in zip(np.nonzero(shown)[1].tolist(), _texts(features[shown]), strict=True)
    ]
    ends = np.cumsum(np.count_nonzero(shown, axis=1)).tolist()
    return [" ".join(pairs[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def _texts(values: Float32Array) -> list[str]:
    """Write each number as the shortest text that reads back to it."""
    written = pa.array(values).cast(pa.string())
    texts = cast("list[str]", written.to_pylist())
    # The shortest text takes one rounding for granted; reading rounds twice, which may differ halfway.
    read = written.cast(pa.float64()).to_numpy().astype(np.float32)
    for place in np.flatnonzero((read != values) & ~np.isnan(values)).tolist():
        texts[place] = repr(float(values[place]))
    return texts


def _check_ids(pointer: str, ids: tuple[str, ...]) -> None:
    for position, name in enumerate(ids):
        if not name or not {" ", "\t", "\r", "\n"}.isdisjoint(name):
            raise InvalidInput.at(
                f"{pointer}/{position}", f"must hold no blank and not be empty to be written; found {name!r}"
            )
