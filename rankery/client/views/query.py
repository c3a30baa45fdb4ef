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
        cells = [[_cell(value) for value in self.feature_values(index)] for index in range(len(features))]
        labels = ["" if one.label is None else f"{one.label:g}" for one in self.documents]
        ids = [one.document_id for one in self.documents]
        title = f"and {more} more features" if more > 0 else ""
        names = [name if name in (self.categories or {}) else f"#{name}" for name in features]
        table = CardTable(["document", "#label", *names], list(zip(ids, labels, *cells, strict=True)), title)
        return Card(
            f"query {self.query_id}", {"documents": count(self.total), **self.columns}, tables=[table]
        )

    def feature_values(self, index: int) -> list[float | str | None]:
        """Return the values of a feature by document: categories as texts, None where a value is missing.

        Args:
            index: Position of the feature in `feature_names`.
        """
        texts = (self.categories or {}).get(self.feature_names[index])
        values = [None if (value := one.features[index]) is None else float(value) for one in self.documents]
        if texts is None:
            return list(values)
        return [None if code is None else texts[str(int(code))] for code in values]

    def to_arrow(self) -> "pa.Table":
        """Return a table with one row per document: `document_id`, `label`, `weight` if any, features.

        Categories are texts, as scoring expects them.
        """
        from rankery.client.frames.arrow import pa

        documents = self.documents
        columns = {
            "document_id": pa.array([one.document_id for one in documents], pa.string()),
            "label": pa.array([one.label for one in documents], pa.float64()),
        }
        if any(one.weight is not None for one in documents):
            columns["weight"] = pa.array([one.weight for one in documents], pa.float64())
        for index, name in enumerate(self.feature_names):
            kind = pa.string() if name in (self.categories or {}) else pa.float64()
            columns[name] = pa.array(self.feature_values(index), kind)
        return pa.table(columns)


def _cell(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:g}"
