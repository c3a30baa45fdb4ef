"""A dataset as a folder of plain arrays, which a process maps into memory instead of reading."""

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from core.data.dataset import RankingDataset
from core.data.texts import Texts

_NAMES = "names.json"
_ID_OFFSETS = "document_id_offsets"
_ID_BYTES = "document_id_bytes"
_ALWAYS = ("features", "labels", "query_boundaries")
_WEIGHTS = ("query_weights", "document_weights")


def save_arrays(dataset: RankingDataset, folder: Path) -> None:
    """Write a dataset into an empty folder, for `load_arrays` on the same machine."""
    arrays = [*_ALWAYS, *(name for name in _WEIGHTS if getattr(dataset, name) is not None)]
    for name in arrays:
        np.save(_file(folder, name), getattr(dataset, name))
    offsets, content = dataset.document_ids.buffers()
    np.save(_file(folder, _ID_OFFSETS), offsets)
    np.save(_file(folder, _ID_BYTES), content)
    names = {
        "arrays": arrays,
        "query_ids": dataset.query_ids,
        "feature_names": dataset.feature_names,
        "query_columns": dict(dataset.query_columns),
    }
    (folder / _NAMES).write_text(json.dumps(names))


def load_arrays(folder: Path) -> RankingDataset:
    """Map a dataset that `save_arrays` wrote.

    Its arrays can be written to without any change to the files, and stay when the files are deleted.

    Raises:
        OSError: When a file is gone.
        ValueError: When a file is damaged.
    """
    names = json.loads((folder / _NAMES).read_text())
    return RankingDataset(
        **{name: _mapped(folder, name) for name in names["arrays"]},
        query_ids=tuple(names["query_ids"]),
        document_ids=Texts.of_buffers(_mapped(folder, _ID_OFFSETS), _mapped(folder, _ID_BYTES)),
        feature_names=tuple(names["feature_names"]),
        query_columns=MappingProxyType(
            {name: tuple(values) for name, values in names["query_columns"].items()}
        ),
    )


def _mapped(folder: Path, name: str) -> npt.NDArray[Any]:
    # "c": writable pages of one's own, so that kernels see the type that they are compiled for.
    array: npt.NDArray[Any] = np.load(_file(folder, name), mmap_mode="c").view(np.ndarray)
    return array


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.npy"
