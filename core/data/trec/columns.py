"""Read lines with a fixed number of words as columns, and gather rows by query."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from core.data.compression import Bytes
from core.data.file_text import FileText, Span, span_texts
from core.data.options import Limits
from core.data.result import Grouping, group_codes
from core.data.text_kernel import HASH, LINE_FEED, is_blank, line_stop, skip_blanks, word_stop
from core.data.texts import Texts
from core.errors import MAX_PROBLEMS, DatasetError
from core.jit import exact_nonallocating
from core.text.bytes_kernel import Text
from core.types import Float64Array, Int64Array
from rankery.identifiers import EXPECTED, SeveralSpellings, normalise_column

MAX_FLOAT64 = float(np.finfo(np.float64).max)


@exact_nonallocating
def _is_comment(text: Text, at: np.uint64, size: np.uint64) -> bool:
    """Return whether a line is a comment; a judgment may begin with #, as its query id may be "#7"."""
    if text[at] != HASH:
        return False
    one = np.uint64(1)
    alone = at + one == word_stop(text, at, size)
    words, has_iteration = 0, False  # the second word of a judgment, TREC's unused iteration
    while at < size and text[at] != LINE_FEED:
        if is_blank(text[at]):
            at += one
            continue
        stop = word_stop(text, at, size)
        words += 1
        if words == 2:
            last = text[stop - one]
            has_iteration = (stop == at + one and (last == 48 or last == 49)) or (  # 0, 1
                stop == at + np.uint64(2) and text[at] == 81 and last == 48  # Q0
            )
        at = stop
    return alone or words != 4 or not has_iteration


@exact_nonallocating
def count_lines(text: Text, start: int, comments: bool) -> int:
    """Count the lines that have words and, if `comments`, are not comments."""
    size, at, lines = np.uint64(len(text)), np.uint64(start), 0
    while at < size:
        at = skip_blanks(text, at, size)
        if at < size and text[at] != LINE_FEED and not (comments and _is_comment(text, at, size)):
            lines += 1
        at = line_stop(text, at, size) + np.uint64(1)
    return lines


@exact_nonallocating
def find_words(
    text: Text,
    start: int,
    comments: bool,
    starts: Int64Array,
    stops: Int64Array,
    counts: Int64Array,
    numbers: Int64Array,
) -> None:
    """Store the positions of the first words of each line, and the number of words; skip lines without words.

    Args:
        text: (n_bytes,) text.
        comments: Whether lines that begin with # and are not judgments are skipped.
        starts: (n_columns, n_lines) receives the position of each word, for missing words the line end.
        stops: (n_columns, n_lines) receives the position after its last byte.
        counts: (n_lines,) receives the number of words.
        numbers: (n_lines,) receives the line number in the file, blank lines included.
    """
    size, at = np.uint64(len(text)), np.uint64(start)
    one = np.uint64(1)
    line, number = 0, 1
    while at < size:
        at = skip_blanks(text, at, size)
        if at >= size:
            return
        if text[at] == LINE_FEED:
            at += one
            number += 1
            continue
        if comments and _is_comment(text, at, size):
            at = line_stop(text, at, size) + one
            number += 1
            continue
        words = 0
        while at < size and text[at] != LINE_FEED:
            if is_blank(text[at]):
                at += one
                continue
            stop = word_stop(text, at, size)
            if words < starts.shape[0]:
                starts[words, line], stops[words, line] = at, stop
            words += 1
            at = stop
        for missing in range(words, starts.shape[0]):
            starts[missing, line], stops[missing, line] = at, at
        counts[line], numbers[line] = words, number
        line += 1
        number += 1
        at += one


class WordColumns:
    """The words of a text, line by line; blank lines are skipped.

    Args:
        text: (n_bytes,) the bytes of the file.
        file: Name of the file for messages.
        names: Names of the columns, which are the words of a line.
        comments: Whether lines that begin with # are skipped, except judgments: four words, the second of
            which is 0, 1 or Q0.
        more_words: Whether lines may have more words, which are ignored.

    Raises:
        DatasetError: A line has a wrong number of words, or no line has words.
    """

    def __init__(
        self,
        text: Bytes,
        file: str,
        names: Sequence[str],
        limits: Limits,
        *,
        comments: bool = False,
        more_words: bool = False,
    ) -> None:
        self._source = FileText(text, file)
        self._names = tuple(names)
        n_lines = count_lines(text, self._source.start, comments)
        if not n_lines:
            raise DatasetError.at(
                f"expected lines of {', '.join(names)}, but found only blank lines", file=file
            )
        limits.check_documents(n_lines, file)
        self._starts, self._stops = np.empty((2, len(names), n_lines), np.int64)
        counts, self._numbers = np.empty((2, n_lines), np.int64)
        find_words(text, self._source.start, comments, self._starts, self._stops, counts, self._numbers)
        expected = f"expected {len(names)} words ({' '.join(names)})"
        self._refuse(
            (counts < len(names)) | ((counts > len(names)) & (not more_words)),
            lambda line: (f"{expected} instead of {counts[line]}", *self._line(line)),
        )

    def texts(self, name: str) -> Texts:
        """Return the words of a column, one for each line."""
        column = self._names.index(name)
        starts = self._starts[column]
        return span_texts(self._source, starts, (self._stops[column] - starts).astype(np.int32))

    def identifiers(self, name: str, spellings: SeveralSpellings | None = None) -> Texts:
        """Return the words of a column as ids.

        Args:
            spellings: Collects ids that are spelled in several ways.

        Raises:
            DatasetError: For each word that is not an id.
        """
        words = self.texts(name)
        normalised = normalise_column(words.array)
        wrong = normalised.texts.is_null().to_numpy(zero_copy_only=False)
        wrong[normalised.invalid] = True
        self._refuse(wrong, lambda line: (f"expected {EXPECTED}", *self._word(name, line)))
        if spellings is not None:
            spellings.take(words.array, normalised)
        return Texts(normalised.texts)

    def numbers(self, name: str, expected: str, largest: float = MAX_FLOAT64) -> Float64Array:
        """Return the words of a column as float64.

        Args:
            expected: Description of the expected number, for messages.

        Raises:
            DatasetError: For each word that is not a finite number, or too large.
        """
        words = self.texts(name).array
        try:
            values = pc.cast(words, pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            values = np.array([_number(str(word)) for word in words.to_pylist()])
        wrong = ~(np.abs(values) <= largest)
        self._refuse(wrong, lambda line: (f"expected {expected}", *self._word(name, line)))
        return values

    def refuse_blanks_in_ids(self) -> None:
        """Refuse lines of a run whose `Q0` is too far to the right, after a query id with blanks.

        Raises:
            DatasetError: With the first two words of each such line.
        """
        marker = pa.scalar("Q0", pa.large_string())
        is_marker = [
            pc.equal(self.texts(name).array, marker).to_numpy(zero_copy_only=False)
            for name in ("Q0", "docno", "rank", "score")
        ]
        self._refuse(
            ~is_marker[0] & np.any(is_marker[1:], axis=0),
            lambda line: (
                "expected a query id without blanks; write %20 in place of each blank",
                int(self._starts[0, line]),
                int(self._stops[1, line]),
            ),
        )

    def refuse_repeated(self, queries: Int64Array, documents: Texts) -> None:
        """Refuse duplicate documents within a query.

        Args:
            queries: (n_lines,) index of each line's query.
            documents: (n_lines,) document ids, the column `docno`.

        Raises:
            DatasetError: With the position of each duplicate, and the line of its first occurrence.
        """
        keys = pair_keys(queries, documents.array)
        order = np.argsort(keys, kind="stable")
        differs = np.diff(keys[order], prepend=-1) != 0
        if differs.all():
            return
        first = np.empty_like(order)
        first[order] = order[differs][np.cumsum(differs) - 1]
        self._refuse(
            first != np.arange(len(first)),
            lambda line: (
                f"expected each document once per query (first on line {self._numbers[first[line]]})",
                *self._word("docno", line),
            ),
        )

    def _refuse(self, wrong: npt.NDArray[np.bool_], span: Callable[[int], Span]) -> None:
        lines = np.flatnonzero(wrong)
        if len(lines):
            problems = self._source.errors([span(int(line)) for line in lines[:MAX_PROBLEMS]])
            raise DatasetError(*problems, more=len(lines) > MAX_PROBLEMS)

    def _word(self, name: str, line: int) -> tuple[int, int]:
        column = self._names.index(name)
        return int(self._starts[column, line]), int(self._stops[column, line])

    def _line(self, line: int) -> tuple[int, int]:
        return int(self._starts[0, line]), int(self._stops[-1, line])


def pair_keys(queries: Int64Array, documents: Any) -> Int64Array:
    """Return an integer key for each pair of query and document; equal pairs have equal keys.

    Args:
        queries: (n,) numbers of queries.
        documents: (n,) Arrow texts.
    """
    encoded = pc.dictionary_encode(documents)
    codes = encoded.indices.to_numpy().astype(np.int64)
    keys: Int64Array = queries * len(encoded.dictionary) + codes
    return keys


def _number(word: str) -> float:
    try:
        # Python's float also accepts "1_000" and digits of other scripts, which other tools refuse.
        return float(word) if word.isascii() and "_" not in word else np.nan
    except ValueError:
        return np.nan


def group_queries(query_ids: Texts) -> Grouping:
    """Gather rows by query id, (n_rows,); rows of a query keep their order."""
    encoded: Any = pc.dictionary_encode(query_ids.array)
    return group_codes(encoded.indices.to_numpy().astype(np.int64), encoded.dictionary.to_pylist())
