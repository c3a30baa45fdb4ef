"""Copy parts of a text into `Texts`, without a Python object for each part."""

import numpy as np
import numpy.typing as npt

from core.data.file_text import FileText
from core.data.texts import Texts
from core.jit import exact_bare
from core.text.bytes_kernel import Text
from core.types import Int32Array, Int64Array


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


@exact_bare
def _copy(text: Text, starts: Int64Array, offsets: Int64Array, data: npt.NDArray[np.uint8]) -> None:
    for i in range(len(starts)):
        first = np.uint64(offsets[i])
        start = np.uint64(starts[i])
        for offset in range(np.uint64(offsets[i + 1]) - first):
            data[first + offset] = text[start + offset]
