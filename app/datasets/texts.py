"""Texts of queries and documents, to show beside ids in results."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.datasets.browsing import query_index
from core.data.options import DOCUMENT_TITLE, DOCUMENT_URL, QUERY_TEXT
from core.data.parquet import read_document_texts
from core.errors import ArtifactDamaged, NotFound
from core.store import Store


@dataclass(frozen=True)
class DocumentTexts:
    """Title and URL of a document.

    Attributes:
        document_title: None if the document has none.
        document_url: None if the document has none.
    """

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
