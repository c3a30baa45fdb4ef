"""The text of a file, its parts as `Texts`, and errors at positions of the text."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from core.data.text_kernel import LINE_FEED
from core.data.texts import Texts
from core.errors import DatasetError, DatasetProblem
from core.jit import exact_nonallocating
from core.names import MAX_SHORTENED_LENGTH, shortened
from core.text.bytes_kernel import Text
from core.types import Int32Array, Int64Array

Span = tuple[str, int, int]  # expected content, first byte of the token, and the byte after the token

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_MAX_TEXT_BYTES = 4 * (MAX_SHORTENED_LENGTH + 1)  # a character takes four at most
_WINDOW = 2**22  # bytes counted in one step; bounds temporary masks
_LINE_WINDOW = 2**14  # bytes searched in one step; most lines are shorter


class FileText:
    """The bytes of a text file.

    Attributes:
        text: (n_bytes,) uint8, read-only, possibly memory-mapped.
        file: Name for messages.
        start: Offset of the text: 3 if the file begins with a byte order mark, else 0.
    """

    def __init__(self, text: Text, file: str) -> None:
        self.text = text
        self.file = file
        self.start = 3 if text[:3].tobytes() == BYTE_ORDER_MARK else 0

    def slice(self, start: int, stop: int) -> str:
        """Return a part of the text; bytes that are not UTF-8 are escaped."""
        # Old collections contain some Latin-1; escaping keeps different ids different.
        return self.text[start:stop].tobytes().decode(errors="backslashreplace")

    def cuts(self, step: int) -> Int64Array:
        """Cut the text at line ends, about every `step` bytes.

        Returns:
            (n_chunks + 1,) offsets from `start` to the end of the text, strictly increasing.
        """
        size = self.text.size
        cuts = [self.start]
        while cuts[-1] < size:
            cuts.append(self.line_start(min(cuts[-1] + step, size)))
        return np.array(cuts, np.int64)

    def errors(self, spans: Iterable[Span]) -> list[DatasetProblem]:
        """Return a problem for each span, with its line and column; spans are in file order."""
        problems = []
        counted, lines, line_start = self.start, 1, self.start
        for expected, start, stop in spans:
            for first in range(counted, start, _WINDOW):
                feeds = np.flatnonzero(self.text[first : min(first + _WINDOW, start)] == LINE_FEED)
                if len(feeds):
                    lines, line_start = lines + len(feeds), first + int(feeds[-1]) + 1
            counted = max(counted, start)
            text = shortened(self.slice(start, min(stop, start + _MAX_TEXT_BYTES)))
            detail = f"{expected}, but found {repr(text) if text else 'the end of the line'}"
            problems.append(DatasetProblem(detail, self.file, lines, start - line_start + 1, text))
        return problems

    def error(self, expected: str, start: int, stop: int) -> DatasetError:
        """Build the error for one span."""
        return DatasetError(*self.errors([(expected, start, stop)]))

    def line_start(self, at: int) -> int:
        """Return the start of the first line that begins at or after `at`, or the end of the text."""
        for first in range(max(at - 1, self.start), self.text.size, _LINE_WINDOW):
            feeds = np.flatnonzero(self.text[first : first + _LINE_WINDOW] == LINE_FEED)
            if len(feeds):
                return first + int(feeds[0]) + 1
        return self.text.size


def span_texts(source: FileText, starts: Int64Array, lengths: Int32Array) -> Texts:
    """Gather the parts of a text that start at `starts`, (n,), and are `lengths` bytes long."""
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    _copy(source.text, starts, offsets, data)
    try:
        return Texts.of_buffers(offsets, data)
    except ValueError:  # not UTF-8
        stops = starts + lengths
        return Texts.of(map(source.slice, starts.tolist(), stops.tolist()))


@exact_nonallocating
def _copy(text: Text, starts: Int64Array, offsets: Int64Array, data: npt.NDArray[np.uint8]) -> None:
    for i in range(len(starts)):
        first = np.uint64(offsets[i])
        start = np.uint64(starts[i])
        for offset in range(np.uint64(offsets[i + 1]) - first):
            data[first + offset] = text[start + offset]
