"""Files that LightGBM reads from the folder of a data file."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rankery.local_files import is_file

_REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        ".weight": "LightGBM reads document weights from it. Upload a table with a column `document_weight`",
        ".position": "LightGBM reads ranks of documents from it. Upload a table with a column of ranks"
        " from 1, in the role `document_columns`, and train on clicks",
        ".init": "LightGBM reads initial scores from it. Continue the training of a model instead",
    }
)


def query_sizes_beside(path: Path, columns: Mapping[str, Any] | None = None) -> Path | None:
    """Return LightGBM's query file of a data file: the file name with `.query` appended, if it exists.

    Args:
        columns: Columns of a table by role; with a query column, no query file is used.
    """
    sizes = path.with_name(f"{path.name}.query")
    return sizes if is_file(sizes) and "query" not in (columns or {}) else None


def ignored_files_beside(path: Path) -> dict[str, str]:
    """Return the remedy by file name for companion files that LightGBM reads and Rankery ignores."""
    remedies = {f"{path.name}{ending}": remedy for ending, remedy in _REMEDIES.items()}
    return {name: remedy for name, remedy in remedies.items() if is_file(path.with_name(name))}
