"""Storage of a click log as a folder of memory-mapped column files."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from core.clicks.log import ClickLog
from core.data.texts import Texts

MANIFEST = "columns.json"
# Types of the columns, little-endian; text columns have a file of offsets and a file of UTF-8 bytes.
_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "list_boundaries": "<i8",
        "list_queries": "<i4",
        "list_times": "<i8",
        "list_users": "<i4",
        "list_versions": "<i4",
        "pairs": "<i4",
        "ranks": "<i2",
        "clicks": "|b1",
        "gains": "<f4",
        "propensities": "<f4",
        "teams": "<i2",
        "pair_queries": "<i4",
        "pair_documents": "<i4",
    }
)
_TEXTS = ("query_ids", "document_ids", "versions")
_OFFSETS, _BYTES = "_offsets", "_bytes"


class LogWriter:
    """Writes the columns of a click log into an empty folder: arrays in blocks, texts in one call.

    The end of the `with` block writes the manifest, the list of columns, unless the block raises. A folder
    without a manifest is no log.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()
        if error is None:
            (self._folder / MANIFEST).write_text(json.dumps({"columns": sorted(self._files)}))

    def append(self, column: str, values: npt.NDArray[Any]) -> None:
        """Append values to a column that is an array of `ClickLog`; an empty array creates the column."""
        self._write(column, values.astype(_TYPES[column], copy=False))

    def write_texts(self, column: str, texts: Texts) -> None:
        """Write all texts of `query_ids`, `document_ids` or `versions`."""
        offsets, content = texts.buffers()
        self._write(column + _OFFSETS, offsets)
        self._write(column + _BYTES, content)

    def _write(self, name: str, values: npt.NDArray[Any]) -> None:
        if name not in self._files:
            self._files[name] = (self._folder / f"{name}.bin").open("wb")
        self._files[name].write(np.ascontiguousarray(values).data)


def write_click_log(log: ClickLog, folder: Path) -> None:
    """Write a log into an empty folder, for `open_click_log`."""
    with LogWriter(folder) as writer:
        for column in _TYPES:
            if (values := getattr(log, column)) is not None:
                writer.append(column, values)
        for column in _TEXTS:
            if (texts := getattr(log, column)) is not None:
                writer.write_texts(column, texts)


def open_click_log(folder: Path) -> ClickLog:
    """Map the columns of a log into memory.

    Writes to the arrays do not change the files (copy on write), and the arrays stay valid when the files are
    deleted.

    Raises:
        OSError: A file is missing.
        ValueError: The manifest is damaged, a column is absent, a text is not UTF-8, or the size of a file
            does not fit its type.
    """
    return map_click_log({name: folder / name for name in file_names(folder / MANIFEST)})


def file_names(manifest: Path) -> list[str]:
    """Return the file names of a log's columns.

    Args:
        manifest: The file `MANIFEST` of the log.

    Raises:
        OSError: The file does not exist.
        ValueError: The file is not JSON, or does not name columns.
    """
    try:
        return [f"{name}.bin" for name in json.loads(manifest.read_text())["columns"]]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{manifest.name} does not name columns: {error!r}") from error


def map_click_log(paths: Mapping[str, Path]) -> ClickLog:
    """Map the columns of a log from files in different folders.

    Args:
        paths: Paths by the names that `file_names` returns.

    Raises:
        OSError: A file is missing.
        ValueError: A column is absent, a text is not UTF-8, or the size of a file does not fit its type.
    """
    columns: dict[str, Any] = {
        name: _mapped(paths[f"{name}.bin"], dtype) for name, dtype in _TYPES.items() if f"{name}.bin" in paths
    }
    try:
        for name in _TEXTS:
            if f"{name}{_OFFSETS}.bin" in paths:
                offsets = _mapped(paths[f"{name}{_OFFSETS}.bin"], "<i8")
                columns[name] = Texts.of_buffers(offsets, _mapped(paths[f"{name}{_BYTES}.bin"], "|u1"))
        return ClickLog(**columns)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{MANIFEST} lacks columns: {error!r}") from error


def _mapped(path: Path, dtype: str) -> npt.NDArray[Any]:
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return np.empty(0, dtype)
    # "c": private writable pages (copy on write), because kernels are compiled for writable arrays.
    return np.memmap(path, dtype, mode="c").view(np.ndarray)
