"""Documents to be ranked, read out of files; a border to core as `local` is one."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from rankery.local import FilesUnusable, one_sentence

Query: TypeAlias = dict[str, Any]

_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")
_QUERY_OF_A_TABLE_WITHOUT_QUERIES = "1"


def read_candidates(path: Path, features: Sequence[str]) -> list[Query]:
    """Read queries with their candidate documents.

    Args:
        path: JSON as `/v1/models/{ref}/rank` takes it, or its list of queries alone; a table with a column a
            feature; or any file of judged documents, whose labels do not matter.
        features: The model's; other columns of a table are left out.

    Returns:
        `{"id", "documents": [{"id", "features": {name: value}}]}` each; values that are missing are None.

    Raises:
        FilesUnusable: In one sentence.
    """
    try:
        with path.open("rb") as file:
            first = file.read(64).lstrip()
    except OSError as error:
        raise FilesUnusable(f"{path} cannot be read: {error.strerror}") from None
    if first[:1] in (b"{", b"["):
        return _from_json(path)
    if path.name.lower().endswith(_TABLES) or first.startswith(b"PAR1"):
        return list(_from_table(path, features))
    return list(_from_judged(path, features))


def _from_json(path: Path) -> list[Query]:
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise FilesUnusable(f"{path.name} is no JSON: {error}") from None
    queries = content.get("queries", [content]) if isinstance(content, dict) else content
    if not all(isinstance(query, dict) and "documents" in query for query in queries):
        raise FilesUnusable(
            f'{path.name} must hold queries such as {{"id": "q1", "documents": [{{"id": "d1", "features":'
            ' {"bm25": 12.5}}]}'
        )
    return list(queries)


def _from_table(path: Path, features: Sequence[str]) -> Iterator[Query]:
    from pyarrow import types

    from core.data.tables.roles import USUAL_NAMES

    table = _table(path)
    columns = {name.lower(): name for name in table.column_names}
    roles = {
        role: next((columns[name] for name in USUAL_NAMES[role] if name in columns), None)
        for role in ("query", "document")
    }
    known = [name for name in features if name in table.column_names]
    if not known:
        raise _NothingKnown(path, features, table.column_names)
    for name in known:
        kind = table.schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise FilesUnusable(f"{path.name}: the feature {name!r} holds {kind}, not numbers")
    rows: dict[str, list[dict[str, Any]]] = {}
    for number, row in enumerate(table.to_pylist(), start=1):
        query = _QUERY_OF_A_TABLE_WITHOUT_QUERIES if roles["query"] is None else str(row[roles["query"]])
        document = str(number) if roles["document"] is None else str(row[roles["document"]])
        values = {name: _finite(row[name]) for name in known}
        rows.setdefault(query, []).append({"id": document, "features": values})
    for query, documents in rows.items():
        yield {"id": query, "documents": documents}


def _table(path: Path) -> Any:
    import pyarrow
    from pyarrow import csv, parquet

    try:
        if path.name.lower().endswith(".parquet"):
            return parquet.read_table(path)
        delimiter = "\t" if ".tsv" in path.name.lower() else ","
        return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter))
    except (pyarrow.ArrowException, OSError) as error:
        raise FilesUnusable(f"{path.name} cannot be read: {error}") from None


def _from_judged(path: Path, features: Sequence[str]) -> Iterator[Query]:
    from core.data import read_dataset

    with one_sentence():
        dataset = read_dataset(path)
    known = [column for column, name in enumerate(dataset.feature_names) if name in set(features)]
    if not known:
        raise _NothingKnown(path, features, dataset.feature_names)
    names = [dataset.feature_names[column] for column in known]
    matrix = dataset.features[:, known].tolist()
    bounds = dataset.query_boundaries.tolist()
    for query, first, end in zip(dataset.query_ids, bounds, bounds[1:], strict=False):
        documents = [
            {
                "id": str(dataset.document_ids[row]),
                "features": dict(zip(names, map(_finite, matrix[row]), strict=True)),
            }
            for row in range(first, end)
        ]
        yield {"id": str(query), "documents": documents}


class _NothingKnown(FilesUnusable):
    def __init__(self, path: Path, features: Sequence[str], columns: Sequence[str]) -> None:
        super().__init__(
            f"{path.name} has none of the model's features, {_some(features)}; it has {_some(columns)}"
        )


def _finite(value: Any) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
