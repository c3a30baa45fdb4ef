"""Candidate documents in the form of dictionaries."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankery.client.frames.cells import suggestion
from rankery.client.references import described
from rankery.errors import DataUnusable, RankeryApiError, WrongType

_ACCEPTED_TYPES = "a data frame, an array of features, queries with documents, or a list of documents"
_QUERY_NAMES, _DOCUMENT_NAMES = ("query_id", "query"), ("id", "document_id")
_POINTER = re.compile(r"/queries/(\d+)/documents/(\d+)/features/(.+)")

Query = dict[str, Any]


def scoring_queries(candidates: Any) -> list[Query]:
    """Return candidates as the queries of a scoring request.

    Args:
        candidates: `{"id", "documents": [{"id", "features"}]}`, or a list of these; or a document,
            `{feature: value}`, or a list of them. Documents of several queries have `query_id` beside the
            features, and documents with ids have `id`.

    Raises:
        DataUnusable: A value is NaN, infinite or not a feature value; the message has its location.
        WrongType: The candidates have another form.

    Example:
        >>> scoring_queries({"bm25": 1.5})
        [{'id': '0', 'documents': [{'id': '0', 'features': {'bm25': 1.5}}]}]
    """
    entries = [candidates] if isinstance(candidates, Mapping) else candidates
    if isinstance(entries, str) or not isinstance(entries, Sequence):
        raise WrongType(f"{_ACCEPTED_TYPES} is expected here, not {described(candidates)}")
    for one in entries:
        if not isinstance(one, Mapping):
            raise WrongType(f"{_ACCEPTED_TYPES} is expected here, not a list with {described(one)}")
    with_documents = ["documents" in one for one in entries]
    if any(with_documents) and not all(with_documents):
        raise WrongType(f"item {with_documents.index(False)} has no documents, although others have")
    queries = entries if any(with_documents) else _group_by_query(entries)
    return [
        {**query, "documents": [_as_json(query, index, one) for index, one in enumerate(query["documents"])]}
        for query in queries
    ]


# Default limits of one scoring request; the operator may change them. The bytes are 1 MiB below the limit.
MAX_QUERIES, MAX_DOCUMENTS, MAX_CELLS, MAX_BYTES = 1_000, 10_000, 2**24, 15 * 2**20


def batches(
    queries: Sequence[Query], max_documents: int, max_bytes: int, max_queries: int
) -> Iterator[list[Query]]:
    """Split queries into batches for one scoring request each; a larger query is alone in its batch.

    Args:
        max_bytes: Maximum size of a batch in JSON.
    """
    batch: list[Query] = []
    documents = n_bytes = 0
    for query in queries:
        own_documents, own_bytes = len(query["documents"]), len(json.dumps(query))
        if batch and (
            len(batch) == max_queries
            or documents + own_documents > max_documents
            or n_bytes + own_bytes > max_bytes
        ):
            yield batch
            batch, documents, n_bytes = [], 0, 0
        batch.append(query)
        documents, n_bytes = documents + own_documents, n_bytes + own_bytes
    if batch:
        yield batch


def with_locations(
    error: RankeryApiError, queries: Sequence[Query], feature_names: Sequence[str]
) -> RankeryApiError:
    """Return the refusal of candidates, with query, document and feature in the message."""
    sentences = []
    for one in error.problem.get("errors") or ():
        match = _POINTER.fullmatch(str(one.get("pointer")))
        if match is None:
            return error
        query = queries[int(match[1])]
        document = query["documents"][int(match[2])]
        name = match[3].replace("~1", "/").replace("~0", "~")
        features, detail = document["features"], str(one.get("detail"))
        if detail.startswith("not a feature"):
            detail += suggestion(name, feature_names)
        elif detail.startswith("must be") and isinstance(features, Mapping) and name in features:
            rule, semicolon, reason = detail.partition(";")
            detail = f"{rule}, not {features[name]!r:.40}{semicolon}{reason}"
        location = _location(query, int(match[2]), document)
        sentences.append(f"{location}, feature {name!r}: {detail}")
    if not sentences:
        return error
    return RankeryApiError(error.status, {**error.problem, "detail": "; ".join(sentences), "errors": []})


def _group_by_query(documents: Sequence[Mapping[str, Any]]) -> list[Query]:
    """Return documents by query, in the order in which queries first appear."""
    queries: dict[str, Query] = {}
    for index, one in enumerate(documents):
        features = dict(one)
        query = _pop_first(features, _QUERY_NAMES) or "0"
        document = _pop_first(features, _DOCUMENT_NAMES) or str(index)
        entry = queries.setdefault(query, {"id": query, "documents": []})
        entry["documents"].append({"id": document, "features": features.get("features", features)})
    return list(queries.values())


def _pop_first(document: dict[str, Any], names: Sequence[str]) -> str | None:
    for name in names:
        if name in document:
            return str(document.pop(name))
    return None


def _as_json(query: Mapping[str, Any], index: int, document: Any) -> dict[str, Any]:
    if not isinstance(document, Mapping) or "features" not in document:
        raise WrongType(
            f"document {index} of query {query.get('id')!r} must be {{'id': …, 'features': {{name: value}}}},"
            f" not {described(document)}"
        )
    features = document["features"]
    where = _location(query, index, document)
    if isinstance(features, Mapping):
        values: Any = {name: _value(value, f"{where}, feature {name!r}") for name, value in features.items()}
    else:
        values = _value(features, where)
    return {**document, "id": document.get("id", str(index)), "features": values}


def _location(query: Mapping[str, Any], index: int, document: Mapping[str, Any]) -> str:
    return f"document {document.get('id', index)!r} of query {query.get('id')!r}"


def _value(value: Any, where: str) -> Any:
    """Return the value of a feature in JSON: a number, a text, None, or a list of these."""
    if hasattr(value, "tolist"):
        value = value.tolist()  # a scalar or an array of numpy
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_cell(one, f"{where}, value {index}") for index, one in enumerate(value)]
    return _cell(value, where)


def _cell(value: Any, where: str) -> Any:
    """Return a number, a text or None in JSON."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, str | int):
        return int(value) if isinstance(value, bool) else value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        hint = "leave it out, or give None" if math.isnan(value) else "give a finite number"
        raise DataUnusable(f"{where}: the value is {value}; {hint}")
    raise DataUnusable(f"{where}: expected a number, a text or None, not {described(value)}")
