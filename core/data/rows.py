"""Parse rows of LETOR text, with or without query ids, into arrays in parallel."""

import re
from collections.abc import Iterator
from itertools import islice

import numpy as np

from core.data.features import new_matrix
from core.data.file_text import FileText, Span
from core.data.letor_kernel import (
    FEATURE_MALFORMED,
    FEATURE_REPEATED,
    FEATURE_ZERO,
    LABEL_INFINITE,
    LABEL_MALFORMED,
    MAX_FEATURE_ID,
    QUERY_EMPTY,
    QUERY_MISSING,
    VALUE_MALFORMED,
    VALUE_TOO_LARGE,
    fill,
    measure,
)
from core.data.number_kernel import INFINITE_FROM
from core.data.options import Limits
from core.errors import MAX_PROBLEMS, DatasetError
from core.ranges import over_ranges, use_threads
from core.types import Float32Array, Int32Array, Int64Array, OnProgress

CHUNK_BYTES = 2**22
_CHUNKS_PER_THREAD = 4  # in one kernel call: balances the load, and keeps progress reports frequent
_UNDECIDED_CAPACITY = 64  # per chunk, rows with a number halfway between two float32; more are rare

_TOKEN = re.compile(rb"[^ \t\r\n]+")
_VALUE = "a number such as 0.5, -2e-3 or nan after the colon"
_EXPECTED = {
    LABEL_MALFORMED: "expected a label, a number such as 2",
    LABEL_INFINITE: "expected a label that is finite in float32",
    QUERY_MISSING: "expected qid:<query id> after the label",
    QUERY_EMPTY: "expected a query id after qid:",
    FEATURE_MALFORMED: "expected <feature id>:<value>",
    FEATURE_ZERO: "expected a feature id of at least 1",
    FEATURE_REPEATED: "expected each feature at most once in a row",
    VALUE_MALFORMED: f"expected {_VALUE}",
    VALUE_TOO_LARGE: "expected a feature value within float32's range of 3.4e38, or inf",
}


class Rows:
    """The rows of a file as arrays.

    Args:
        has_queries: Whether `qid:` follows the label.
        reject_repeated: Whether a repeated feature in a row is an error; else its last value counts.
        on_progress: Called with the number of bytes done and their total; may raise to stop.

    Attributes:
        features: (n_rows, n_features) float32.
        labels: (n_rows,) float32.
        query_starts: (n_rows,) position of the query id, at the rows that begin a run of a query; else 0.
        query_lengths: (n_rows,) length of the query id at these rows.
        document_starts: (n_rows,) position of the document id, or where an absent one would be.
        document_lengths: (n_rows,) length of the document id, 0 where a row has none.
        has_longer_comments: Whether the comment of any row continues after the document id.

    Raises:
        DatasetError: The file has invalid tokens, no documents or features, or too many of either.
    """

    def __init__(
        self,
        source: FileText,
        *,
        has_queries: bool,
        reject_repeated: bool,
        limits: Limits,
        threads: int,
        on_progress: OnProgress | None,
    ) -> None:
        self._source = source
        self._has_queries = has_queries
        self._reject_repeated = reject_repeated
        self._cuts = source.cuts(CHUNK_BYTES)
        self._step = threads * _CHUNKS_PER_THREAD
        self._on_progress = on_progress
        use_threads(threads)
        first_rows, n_features = self._measure(limits)
        n_rows = int(first_rows[-1])
        self.features: Float32Array = new_matrix(n_rows, n_features)
        self.labels: Float32Array = np.empty(n_rows, np.float32)
        self.query_starts: Int64Array = np.zeros(n_rows, np.int64)
        self.query_lengths: Int32Array = np.zeros(n_rows, np.int32)
        self.document_starts: Int64Array = np.empty(n_rows, np.int64)
        self.document_lengths: Int32Array = np.empty(n_rows, np.int32)
        self.has_longer_comments = False
        self._fill(first_rows)
        if n_features == 0:
            raise DatasetError.at(
                "expected features such as 1:0.5, but no document has any; write judgments without features"
                " as TREC qrels, such as q1 0 d7 2 for query q1, document d7 and label 2",
                file=source.file,
            )

    def _blocks(self, done: int) -> Iterator[slice]:
        """Yield the chunks of each kernel call, and report progress after the call."""
        n_chunks = len(self._cuts) - 1
        for first in range(0, n_chunks, self._step):
            last = min(first + self._step, n_chunks)
            yield slice(first, last)
            if self._on_progress is not None:
                self._on_progress(done + int(self._cuts[last]), 2 * self._source.text.size)

    def _measure(self, limits: Limits) -> tuple[Int64Array, int]:
        shape: Int64Array = np.zeros((len(self._cuts) - 1, 4), np.int64)
        for block in self._blocks(0):
            cuts = self._cuts[block.start : block.stop + 1]
            text, n = self._source.text, len(cuts) - 1
            over_ranges(measure, n, text, cuts, self._has_queries, shape[block], work=int(cuts[-1] - cuts[0]))
        first_rows: Int64Array = np.concatenate(([0], np.cumsum(shape[:, 0])))
        n_rows = int(first_rows[-1])
        if n_rows == 0:
            example = "2 qid:1 1:0.5 2:0.1" if self._has_queries else "2 1:0.5 2:0.1"
            raise DatasetError.at(
                f"expected lines such as '{example}', but found no document", file=self._source.file
            )
        self.first_id = 0 if int(shape[:, 3].min()) == 0 else 1
        widest = int(np.argmax(shape[:, 1]))
        n_features = max(int(shape[widest, 1]) + 1 - self.first_id, 0)
        limits.check_documents(n_rows, self._source.file)
        self._check_size(n_rows, n_features, int(shape[widest, 2]), limits)
        return first_rows, n_features

    def _check_size(self, n_rows: int, n_features: int, largest_at: int, limits: Limits) -> None:
        expected = None
        max_features = min(limits.features, MAX_FEATURE_ID)
        if n_features > max_features:
            expected = f"expected feature ids of at most {max_features - 1 + self.first_id:,}"
        elif oversize := limits.oversize(n_rows, n_features, self._source.text.size):
            expected = f"{oversize}; this is the largest feature id"
        if expected is not None:
            rest = self._source.slice(largest_at, largest_at + 400)
            token = rest.split(maxsplit=1)[0].split("#", 1)[0]
            raise self._source.error(expected, largest_at, largest_at + len(token.encode()))

    def _fill(self, first_rows: Int64Array) -> None:
        spans: list[Span] = []
        n_problems = 0
        for block in self._blocks(self._source.text.size):
            block_spans, n_block_problems = self._fill_block(block, first_rows)
            spans += islice(block_spans, MAX_PROBLEMS - len(spans))
            n_problems += n_block_problems
            if n_problems > MAX_PROBLEMS:
                break
        if spans:
            raise DatasetError(*self._source.errors(spans), more=n_problems > len(spans))

    def _fill_block(
        self, block: slice, first_rows: Int64Array, capacity: int = _UNDECIDED_CAPACITY
    ) -> tuple[list[Span], int]:
        """Parse the rows of some chunks; return invalid tokens in file order, and the number of all."""
        n_chunks = block.stop - block.start
        n_seen = self.features.shape[1] if self._reject_repeated else 0
        problems: Int64Array = np.empty((n_chunks, MAX_PROBLEMS, 3), np.int64)
        undecided: Int64Array = np.empty((n_chunks, capacity, 3), np.int64)
        counts: Int64Array = np.zeros((n_chunks, 3), np.int64)
        cuts = self._cuts[block.start : block.stop + 1]
        over_ranges(
            fill,
            n_chunks,
            self._source.text,
            cuts,
            first_rows[block],
            self._has_queries,
            self.first_id,
            self.features,
            self.labels,
            self.query_starts,
            self.query_lengths,
            self.document_starts,
            self.document_lengths,
            np.full((n_chunks, n_seen), -1, np.int64),
            problems,
            undecided,
            counts,
            work=int(cuts[-1] - cuts[0]),
        )
        max_undecided = int(counts[:, 1].max())
        if max_undecided > capacity:
            return self._fill_block(block, first_rows, max_undecided)
        self.has_longer_comments |= bool(counts[:, 2].any())
        spans = [
            (_EXPECTED[kind], start, stop)
            for chunk in range(n_chunks)
            for kind, start, stop in problems[chunk, : counts[chunk, 0]].tolist()
        ]
        for chunk in range(n_chunks):
            for row, line, _ in undecided[chunk, : counts[chunk, 1]].tolist():
                spans += self._read_again(row, line)
        unshown = int(np.maximum(counts[:, 0] - MAX_PROBLEMS, 0).sum())
        return sorted(spans, key=lambda span: span[1]), len(spans) + unshown

    def _read_again(self, row: int, at: int) -> Iterator[Span]:
        """Read a row's numbers again with Python's `float`, which rounds all numbers correctly."""
        line = self._source.text[at : self._source.line_start(at + 1)]
        for offset, token in _tokens(line.tobytes(), self._has_queries):
            name, colon, number = token.rpartition(b":")
            exact = np.nan if number.lower() == b"null" else float(number)
            with np.errstate(over="ignore"):
                value = np.float32(exact)
            is_word = b"n" in number.lower()
            if np.isinf(value) and not is_word and not INFINITE_FROM <= abs(exact) < np.inf:
                kind = VALUE_TOO_LARGE if colon else LABEL_INFINITE
                yield _EXPECTED[kind], at + offset, at + offset + len(token)
            elif colon:
                self.features[row, int(name.lstrip(b"0") or b"0") - self.first_id] = value
            else:
                self.labels[row] = value


def _tokens(line: bytes, has_queries: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the label and the features of a row that the kernel has accepted, with their offsets."""
    # Split at the blanks of the kernel; bytes.split would split at other whitespace, too.
    for position, match in enumerate(_TOKEN.finditer(line)):
        if has_queries and position == 1:
            continue
        content, comment, _ = match[0].partition(b"#")
        if content:
            yield match.start(), content
        if comment:
            return
