"""A judged query."""

from typing import TYPE_CHECKING

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count
from rankery.client.frames.outgoing import Tabular
from rankery.client.schemas import answers

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN_FEATURES = 8


class Query(Displayable, answers.JudgedQuery, Tabular):
    """A query of a dataset with some of its documents."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {"query": self.query_id, "documents": count(self.total)}

    def card(self) -> Card:
        """Return the card of the resource."""
        features = self.feature_names[:_SHOWN_FEATURES]
        more = len(self.feature_names) - len(features)
        rows = [
            [
                document.document_id,
                "" if document.label is None else f"{document.label:g}",
                *(
                    "" if value is None else f"{float(value):g}"
                    for value in document.features[: len(features)]
                ),
            ]
            for document in self.documents
        ]
        title = f"and {more} more features" if more > 0 else ""
        table = CardTable(["document", "#label", *(f"#{name}" for name in features)], rows, title)
        return Card(
            f"query {self.query_id}", {"documents": count(self.total), **self.columns}, tables=[table]
        )

    def to_arrow(self) -> "pa.Table":
        """Return a table with one row per document: `document_id`, `label`, `weight` if any, features."""
        from rankery.client.frames.arrow import pa

        documents = self.documents
        columns: dict[str, list[float | None]] = {"label": [one.label for one in documents]}
        if any(one.weight is not None for one in documents):
            columns["weight"] = [one.weight for one in documents]
        for place, name in enumerate(self.feature_names):
            values = [one.features[place] for one in documents]
            columns[name] = [None if value is None else float(value) for value in values]
        ids = pa.array([one.document_id for one in documents], pa.string())
        numbers = {name: pa.array(values, pa.float64()) for name, values in columns.items()}
        return pa.table({"document_id": ids, **numbers})
