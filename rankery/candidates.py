"""Read candidate documents from files, using core."""

import math
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from rankery.companion_files import query_sizes_beside
from rankery.errors import FileUnusable
from rankery.json_text import parsed_json
from rankery.local import convert_core_errors
from rankery.server_package import require_server_package

Query: TypeAlias = dict[str, Any]


def read_candidates(
    path: Path, features: Sequence[str], columns: Mapping[str, Any] | None = None
) -> list[Query]:
    """Read queries with their candidate documents.

    Args:
        path: JSON of a request to `/v1/models/{ref}/rank`, or its list of queries alone. Or a table with a
            column for each feature, or any file of judged documents, whose labels are ignored.
        features: Features of the model; other columns of a table are ignored.
        columns: Column roles of a table, as in an upload: `{"query": "search"}`.

    Returns:
        `{"id", "documents": [{"id", "features": {name: value}}]}` of each query; missing values are None, and
        values of `categorical_features` are texts.

    Raises:
        FileUnusable: The file cannot be read, or lacks a query column or all features of the model.
    """
    try:
        with path.open("rb") as file:
            if not file.seekable():
                raise FileUnusable(f"{path} is a pipe; write it to a file")
            first = file.read(64).removeprefix(BOM_UTF8).lstrip()
    except OSError as error:
        raise FileUnusable(f"{path} cannot be read: {error.strerror}") from None
    if first[:1] in (b"{", b"["):
        return _from_json(path)
    return list(_from_documents(path, features, columns))


def _from_json(path: Path) -> list[Query]:
    try:
        content = parsed_json(path.read_bytes())
    except ValueError as error:
        raise FileUnusable(f"{path.name} is not valid JSON: {error}") from None
    queries = _queries_by_pointer(content, path)
    if not all(isinstance(query, dict) and "documents" in query for query in queries.values()):
        raise FileUnusable(
            f'{path.name} must hold queries such as {{"id": "q1", "documents": [{{"id": "d1", "features":'
            ' {"bm25": 12.5}}]}'
        )
    for pointer, query in queries.items():
        _require_list(query["documents"], path, f"{pointer}/documents")
    return list(queries.values())


def _queries_by_pointer(content: Any, path: Path) -> dict[str, Any]:
    if isinstance(content, dict) and "queries" not in content:
        return {"": content}
    pointer, queries = ("/queries", content["queries"]) if isinstance(content, dict) else ("", content)
    _require_list(queries, path, pointer)
    return {f"{pointer}/{index}": query for index, query in enumerate(queries)}


def _require_list(value: Any, path: Path, pointer: str) -> None:
    if not isinstance(value, list):
        raise FileUnusable(f"{path.name}: {pointer} must be a list")


def _from_documents(
    path: Path, features: Sequence[str], columns: Mapping[str, Any] | None
) -> Iterator[Query]:
    require_server_package()
    from core.data.options import reading_options
    from core.data.reading import JudgedFile, read_unjudged

    sizes = query_sizes_beside(path, columns)
    with convert_core_errors():
        file = JudgedFile(path, path.name, sizes)
        reading = read_unjudged(file, features, reading_options({"columns": columns}).columns)
    dataset, named = reading.dataset, (columns or {}).get("categorical_features") or ()
    used = set(features)
    feature_columns = [column for column, name in enumerate(dataset.feature_names) if name in used]
    if not feature_columns:
        raise FileUnusable(
            f"{path.name} has none of the model's features, {_first_names(features)};"
            f" it has {_first_names(dataset.feature_names)}"
        )
    names = [dataset.feature_names[column] for column in feature_columns]
    values: dict[str, list[Any]] = {
        name: categories.texts(dataset.features[:, dataset.feature_names.index(name)])
        for name, categories in dataset.categories.items()
    }
    for name in reading.number_categories.intersection(values).difference(named):
        categories = dataset.categories[name]
        numbers = dict(zip(categories.values, map(int, categories.typed_values), strict=True))
        values[name] = [text and numbers[text] for text in values[name]]
    matrix = dataset.features[:, feature_columns].tolist()
    bounds = dataset.query_boundaries.tolist()
    for query, first, end in zip(dataset.query_ids, bounds, bounds[1:], strict=False):
        documents = [
            {
                "id": str(dataset.document_ids[row]),
                "features": dict(zip(names, map(_none_if_nan, matrix[row]), strict=True))
                | {name: column[row] for name, column in values.items()},
            }
            for row in range(first, end)
        ]
        yield {"id": str(query), "documents": documents}


def _none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def _first_names(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
