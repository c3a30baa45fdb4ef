"""Read queries, features and texts of a stored dataset in parts; recognise public corpora."""

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import numpy as np

from app.datasets import browsing_schemas
from app.http.parquet_pages import row_cursor
from core.data import RankingDataset
from core.data.options import DOCUMENT_TITLE, DOCUMENT_URL, QUERY_TEXT, TEXT_ROLES
from core.data.parquet import read_document_texts, read_judgments, read_rows
from core.data.query_index import QueryEntry as IndexedQuery
from core.data.query_index import QueryIndex
from core.data.trec import refuse_equal_spellings, write_qrels
from core.doctor.corpora import Counts, recognise
from core.errors import ArtifactDamaged, NotFound, WrongState
from core.store import Dataset, Store, Transaction
from core.store.artifacts.keys import features_key, queries_key


def corpus_of(tx: Transaction, dataset_id: str) -> browsing_schemas.Corpus:
    """Compare a dataset's counts, or those of all parts of its upload if ready, with published counts.

    Raises:
        NotFound: There is no such dataset.
        WrongState: The dataset is not ready.
    """
    dataset = tx.datasets.get(dataset_id)
    if dataset.statistics is None:
        raise WrongState(
            "dataset", dataset_id, dataset.status, "its counts are available after it has been read"
        )
    return browsing_schemas.Corpus.model_validate(
        recognise(_counts_by_part(tx, dataset), dataset.source.get("folder"))
    )


def _counts_by_part(tx: Transaction, dataset: Dataset) -> dict[str, Counts]:
    parts = {}
    for part, dataset_id in (dataset.parts or {}).items():
        try:
            statistics = tx.datasets.get(dataset_id).statistics
        except NotFound:
            break
        if statistics is None:
            break
        parts[part] = _counts(statistics)
    else:
        if parts:
            return parts
    return {"dataset": _counts(dataset.statistics or {})}


def _counts(statistics: dict[str, Any]) -> Counts:
    max_label = (statistics.get("label_range") or {}).get("maximum")
    return Counts(statistics["queries"], statistics["documents"], statistics["features"], max_label)


_CACHED_INDEXES = 8
MAX_CELLS = 200_000  # feature values in one response: 2 to 4 MB of JSON


class DatasetFiles:
    """The stored files of one dataset.

    Raises:
        NotFound: There is no such dataset.
        WrongState: The dataset is not ready.
    """

    def __init__(self, store: Store, dataset_id: str) -> None:
        with store.read() as tx:
            self._dataset = tx.datasets.get(dataset_id)
        self._store = store
        self.data_key = _data_key(self._dataset)

    def queries(self, prefix: str | None, cursor: str | None, limit: int) -> browsing_schemas.QueryPage:
        """Return a page of queries in the dataset's order; with `prefix`, only of ids that start with it.

        Raises:
            InvalidInput: The cursor is not from an earlier page.
        """
        index = query_index(self._store, self.data_key)
        if prefix:
            index = index.with_prefix(prefix)
        first = row_cursor(cursor, len(index))
        entries = index.entries(first, limit)
        stop = first + len(entries)
        return browsing_schemas.QueryPage(
            items=[_entry(entry) for entry in entries],
            next_cursor=str(stop) if stop < len(index) else None,
        )

    def query(self, query_id: str, offset: int, limit: int) -> browsing_schemas.JudgedQuery:
        """Read up to `limit` documents of one query, but at most `MAX_CELLS` feature values.

        Raises:
            NotFound: There is no query of this id.
        """
        entry = query_index(self._store, self.data_key).find(query_id)
        features: int = (self._dataset.statistics or {}).get("features", 1)
        limit = max(1, min(limit, MAX_CELLS // max(features, 1)))
        first = entry.first_row + min(offset, entry.documents)
        stop_row = min(first + limit, entry.first_row + entry.documents)
        # Read at least the first row, for the weight of the query and the names of the features.
        rows = read_rows_of(self._store, self.data_key, min(first, stop_row - 1), stop_row)
        skipped = rows.n_documents - (stop_row - first)
        return browsing_schemas.JudgedQuery(
            query_id=query_id,
            weight=None if rows.query_weights is None else float(rows.query_weights[0]),
            query_text=entry.columns.get(QUERY_TEXT) or None,
            columns=_other_columns(entry.columns),
            total=entry.documents,
            offset=first - entry.first_row,
            feature_names=list(rows.feature_names),
            documents=[_document(rows, row) for row in range(skipped, rows.n_documents)],
            categories=_categories(rows),
        )

    def first_queries(self, limit: int) -> RankingDataset:
        """Read the first queries, up to `limit` documents in total.

        If the first query alone has more, read its first `limit` documents.
        """
        entries = query_index(self._store, self.data_key).entries(0, limit)
        ends = [entry.first_row + entry.documents for entry in entries]
        stop_row = max((end for end in ends if end <= limit), default=limit)
        return read_rows_of(self._store, self.data_key, 0, stop_row)

    def features(self) -> browsing_schemas.FeatureProfiles:
        """Read the profile of each feature."""
        with self._store.verified.open(features_key(self.data_key)) as file:
            profiles = json.load(file)
        return browsing_schemas.FeatureProfiles(items=profiles)

    def open(self) -> BinaryIO:
        """Verify and open the stored Parquet file; the caller closes it."""
        self._store.verified.check(self.data_key)
        return self._store.artifacts.open(self.data_key)

    def qrels(self) -> Iterator[str]:
        """Verify the stored file, and return its judgments as TREC qrels in blocks of lines."""
        self._store.verified.check(self.data_key)
        return _qrels(self._store, self.data_key)

    def refuse_equal_spellings(self) -> None:
        """Refuse ids that qrels would not distinguish.

        Raises:
            InvalidInput: Two queries, or two documents of a query, have one spelling.
        """
        with self._store.artifacts.open(self.data_key) as file:
            refuse_equal_spellings(read_judgments(file))


def read_rows_of(store: Store, data_key: str, first: int, stop_row: int) -> RankingDataset:
    """Read the rows from `first` to before `stop_row` of a stored dataset; skip all other row groups."""
    with store.verified.open(data_key) as file:
        return read_rows(file, first, stop_row)


def _qrels(store: Store, data_key: str) -> Iterator[str]:
    with store.verified.open(data_key) as file:
        yield from write_qrels(read_judgments(file))


@functools.lru_cache(_CACHED_INDEXES)
def query_index(store: Store, data_key: str) -> QueryIndex:
    """Return the cached index of a stored dataset's queries; read it on the first use."""
    with store.verified.open(queries_key(data_key)) as file:
        return QueryIndex.read(file)


def _data_key(dataset: Dataset) -> str:
    if dataset.status != "ready" or dataset.data_key is None:
        raise WrongState("dataset", dataset.id, dataset.status, "it can be browsed when it is ready")
    return dataset.data_key


def _entry(entry: IndexedQuery) -> browsing_schemas.QueryEntry:
    return browsing_schemas.QueryEntry.model_validate(
        {
            **asdict(entry),
            "query_text": entry.columns.get(QUERY_TEXT) or None,
            "columns": _other_columns(entry.columns),
        }
    )


def _other_columns(columns: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in columns.items() if name not in TEXT_ROLES}


def _document(rows: RankingDataset, row: int) -> browsing_schemas.JudgedDocument:
    columns = {name: column[row] for name, column in rows.document_columns.items() if column[row]}
    return browsing_schemas.JudgedDocument(
        document_id=rows.document_ids[row],
        label=_number(rows.labels[row]),
        weight=None if rows.document_weights is None else float(rows.document_weights[row]),
        document_title=columns.get(DOCUMENT_TITLE),
        document_url=columns.get(DOCUMENT_URL),
        columns=_other_columns(columns),
        features=[_number(value) for value in rows.features[row]],
    )


def _categories(rows: RankingDataset) -> dict[str, dict[str, str]]:
    """Return the text of each category in the rows by its code, for each categorical feature."""
    texts: dict[str, dict[str, str]] = {}
    for name, categories in rows.categories.items():
        values = rows.features[:, rows.feature_names.index(name)]
        codes = sorted({int(code) for code in values[~np.isnan(values)].tolist()})
        texts[name] = {str(code): categories.values[code] for code in codes}
    return texts


def _number(value: Any) -> browsing_schemas.Value:
    """Convert a float32 for JSON: 0.1 rather than 0.10000000149011612, None for NaN, text for infinities."""
    number = float(str(value))
    if math.isnan(number):
        return None
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return number


@dataclass(frozen=True)
class DocumentTexts:
    """Title and URL of a document, None if it has none."""

    document_title: str | None = None
    document_url: str | None = None


NO_TEXTS = DocumentTexts()


class DatasetTexts:
    """The texts of a stored dataset; empty if it is deleted or damaged, so that its results stay readable."""

    def __init__(self, store: Store, dataset_id: str) -> None:
        self._store = store
        try:
            with store.read() as tx:
                dataset = tx.datasets.get(dataset_id)
        except NotFound:
            self._data_key, self._roles = None, frozenset[str]()
            return
        self._data_key = dataset.data_key
        self._roles = frozenset((dataset.statistics or {}).get("texts", ()))

    def of_queries(self, query_ids: Sequence[str]) -> dict[str, str]:
        """Return the texts of queries by query id; queries without a text are left out."""
        if self._data_key is None or QUERY_TEXT not in self._roles:
            return {}
        try:
            return query_index(self._store, self._data_key).texts(query_ids)
        except (ArtifactDamaged, NotFound):
            return {}

    def of_documents(self, query_ids: Sequence[str]) -> dict[str, dict[str, DocumentTexts]]:
        """Return titles and URLs of documents by query id and document id."""
        roles = self._roles & {DOCUMENT_TITLE, DOCUMENT_URL}
        if self._data_key is None or not roles:
            return {}
        try:
            entries = query_index(self._store, self._data_key).among(query_ids)
            spans = [(entry.first_row, entry.first_row + entry.documents) for entry in entries]
            with self._store.verified.open(self._data_key) as file:
                tables = read_document_texts(file, spans, roles)
        except (ArtifactDamaged, NotFound):
            return {}
        return {
            entry.query_id: {
                row["document_id"]: DocumentTexts(
                    row.get(DOCUMENT_TITLE) or None, row.get(DOCUMENT_URL) or None
                )
                for row in table.to_pylist()
            }
            for entry, table in zip(entries, tables, strict=True)
        }
