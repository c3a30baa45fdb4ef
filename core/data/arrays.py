"""Store a dataset as a folder of NumPy arrays, which a process memory-maps instead of parsing."""

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from core.data.categories import categories_of, values_by_feature
from core.data.dataset import RankingDataset
from core.data.texts import Texts

_NAMES = "names.json"
_IDS = "document_id"
_ALWAYS = ("features", "labels", "query_boundaries")
_WEIGHTS = ("query_weights", "document_weights")


def save_arrays(dataset: RankingDataset, folder: Path) -> None:
    """Write a dataset into an empty folder, for `load_arrays` on the same machine."""
    arrays = [*_ALWAYS, *(name for name in _WEIGHTS if getattr(dataset, name) is not None)]
    for name in arrays:
        np.save(_file(folder, name), getattr(dataset, name))
    _save_texts(folder, _IDS, dataset.document_ids)
    for number, texts in enumerate(dataset.document_columns.values(), start=1):
        _save_texts(folder, f"document_column_{number}", texts)
    names = {
        "arrays": arrays,
        "query_ids": dataset.query_ids,
        "feature_names": dataset.feature_names,
        "query_columns": dict(dataset.query_columns),
        "document_columns": list(dataset.document_columns),
        "categories": values_by_feature(dataset.categories),
    }
    (folder / _NAMES).write_text(json.dumps(names))


def load_arrays(folder: Path) -> RankingDataset:
    """Memory-map a dataset that `save_arrays` wrote.

    The arrays are copy-on-write: writes do not change the files. They stay valid after the files are deleted.

    Raises:
        OSError: A file is missing.
        ValueError: A file is damaged.
    """
    names = json.loads((folder / _NAMES).read_text())
    try:
        return _loaded(folder, names)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{_NAMES} does not describe a dataset: {error!r}") from error


def _loaded(folder: Path, names: dict[str, Any]) -> RankingDataset:
    return RankingDataset(
        **{name: _mapped(folder, name) for name in names["arrays"]},
        query_ids=tuple(names["query_ids"]),
        document_ids=_mapped_texts(folder, _IDS),
        feature_names=tuple(names["feature_names"]),
        query_columns=MappingProxyType(
            {name: tuple(values) for name, values in names["query_columns"].items()}
        ),
        document_columns=MappingProxyType(
            {
                name: _mapped_texts(folder, f"document_column_{number}")
                for number, name in enumerate(names.get("document_columns", ()), start=1)
            }
        ),
        categories=categories_of(names.get("categories", {})),
    )


def _save_texts(folder: Path, name: str, texts: Texts) -> None:
    offsets, content = texts.buffers()
    np.save(_file(folder, f"{name}_offsets"), offsets)
    np.save(_file(folder, f"{name}_bytes"), content)


def _mapped_texts(folder: Path, name: str) -> Texts:
    return Texts.of_buffers(_mapped(folder, f"{name}_offsets"), _mapped(folder, f"{name}_bytes"))


def _mapped(folder: Path, name: str) -> npt.NDArray[Any]:
    # "c" is copy-on-write: the array is writable, which is the type that the kernels are compiled for.
    array: npt.NDArray[Any] = np.lib.format.open_memmap(_file(folder, name), mode="c").view(np.ndarray)
    return array


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.npy"
