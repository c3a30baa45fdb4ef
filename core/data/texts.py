"""Sequence of many short texts in two arrays, which a process can memory-map from a file."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from core.types import Int64Array


class Texts(Sequence[str]):
    """Sequence of texts that takes 8 bytes per text besides the UTF-8 bytes; `str` objects take about 60.

    Compares equal to any sequence of the same texts.

    Attributes:
        array: The texts as an Arrow array without nulls.
    """

    def __init__(self, array: pa.LargeStringArray) -> None:
        self.array = array

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Texts":
        """Build from texts."""
        if isinstance(texts, Texts):
            return texts
        return cls(pa.array(texts if isinstance(texts, Sequence) else list(texts), pa.large_string()))

    @classmethod
    def of_parts(cls, *parts: "Texts") -> "Texts":
        """Concatenate texts."""
        return cls.of_chunks([part.array for part in parts])

    @classmethod
    def of_chunks(cls, chunks: Sequence[Any]) -> "Texts":
        """Concatenate Arrow arrays of texts, each a large_string array without nulls."""
        whole: Any = pa.chunked_array(chunks, pa.large_string()).combine_chunks()
        return cls(whole)

    @classmethod
    def of_buffers(cls, offsets: Int64Array, data: npt.NDArray[np.uint8]) -> "Texts":
        """Wrap UTF-8 bytes without a copy; text i is `data[offsets[i]:offsets[i + 1]]`.

        Raises:
            ValueError: The bytes are not UTF-8 or the offsets are invalid.
        """
        buffers = [None, pa.py_buffer(cast("Any", offsets)), pa.py_buffer(cast("Any", data))]
        array = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
        array.validate(full=True)
        return cls(cast("pa.LargeStringArray", array))

    def buffers(self) -> tuple[Int64Array, npt.NDArray[np.uint8]]:
        """Return offsets, int64 (n + 1,) from 0, and the UTF-8 bytes of all texts, for `of_buffers`."""
        _, offsets, data = cast("list[Any]", self.array.buffers())
        first = self.array.offset
        cuts = np.frombuffer(offsets or bytes(8), np.int64)[first : first + len(self) + 1]
        return cuts - cuts[0], np.frombuffer(data or b"", np.uint8)[cuts[0] : cuts[-1]]

    def take(self, positions: Int64Array) -> "Texts":
        """Return the texts at these positions, in the order of the positions."""
        return Texts(self.array.take(pa.array(positions, pa.int64())))

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> "Texts": ...
    def __getitem__(self, position: int | slice) -> "str | Texts":
        if isinstance(position, slice):
            return Texts(self.array[position])
        return self.array[position].as_py()

    def __iter__(self) -> Iterator[str]:
        return iter(cast("list[str]", self.array.to_pylist()))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Texts):
            return bool(self.array.equals(other.array))
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # like a list, it may be large

    def __repr__(self) -> str:
        return f"Texts({self.array[:3].to_pylist()}{'…' if len(self) > 3 else ''}, {len(self):,} in all)"


def row_numbers(query_boundaries: Int64Array) -> Texts:
    """Name each document by its row number within its query, from 1."""
    lengths = np.diff(query_boundaries)
    numbers = np.arange(1, query_boundaries[-1] + 1) - np.repeat(query_boundaries[:-1], lengths)
    written: Any = pc.cast(pa.array(numbers), pa.large_string())
    return Texts(written)
