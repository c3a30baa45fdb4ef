"""Explain the scores of a frame, in one or more requests."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankery.errors import RankeryApiError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_PREFIX = "contribution."
_IDS = ("query_id", "document_id")
_ALL_FEATURES = "features"
_LIMIT_POINTERS = ("/explain", "/queries")


class Explanations:
    """Feature contributions to the scores of some rows.

    Args:
        table: Candidates as they were sent.
        features: Features of the model.
        rows: (n_documents,) the rows of the table to explain.
    """

    def __init__(self, table: "pa.Table", features: Sequence[str], rows: "np.ndarray[Any, Any]") -> None:
        from rankery.client.frames.arrow import np

        self._table = table.select([name for name in table.column_names if name not in _IDS])
        self._features = {name: index for index, name in enumerate(features)}
        self._rows = rows
        self._done = 0
        self._requested = 0
        self._bases = np.zeros(len(rows))
        self._contributions = np.zeros((len(rows), len(features)), order="F")

    @property
    def complete(self) -> bool:
        """Whether all rows are explained."""
        return self._done == len(self._rows)

    def next_query(self, n_rows: int) -> dict[str, Any]:
        """Return the next rows as one query of a scoring request."""
        from rankery.client.frames.arrow import pa

        rows = self._rows[self._done : self._done + n_rows]
        self._requested = len(rows)
        documents = self._table.take(pa.array(rows)).to_pylist()
        return {
            "id": "rows",
            "documents": [
                {"id": str(index), "features": row_features(document)}
                for index, document in enumerate(documents)
            ],
        }

    def is_too_many(self, error: RankeryApiError) -> bool:
        """Return whether the service refused the number of explanations in one request."""
        errors = error.problem.get("errors") or ()
        return error.status == 413 or any(one.get("pointer") in _LIMIT_POINTERS for one in errors)

    def store(self, answer: Mapping[str, Any]) -> None:
        """Store the explanations of the last requested rows."""
        for document in answer["queries"][0]["ranking"]:
            row = self._done + int(document["id"])
            explanation = document["explanation"]
            self._bases[row] = explanation["base"]
            for one in explanation["contributions"]:
                self._contributions[row, self._features[one["feature"]]] = one["contribution"]
        self._done += self._requested

    def added_to(self, answer: "pa.Table") -> "pa.Table":
        """Return the answer with `base` and one column per feature, `contribution.…`."""
        from rankery.client.frames.arrow import pa

        # One table from all columns: appending them singly takes quadratic time in the number of features.
        names = ["base", *(f"{_PREFIX}{name}" for name in self._features)]
        columns = [pa.array(self._bases), *map(pa.array, self._contributions.T)]
        return pa.Table.from_arrays([*answer.columns, *columns], names=[*answer.column_names, *names])


def row_features(document: dict[str, Any]) -> Any:
    """Return the features of a row as requests in JSON have them: NaN as None, booleans as numbers."""
    if set(document) == {_ALL_FEATURES} and isinstance(document[_ALL_FEATURES], list):
        return [_number(value) for value in document[_ALL_FEATURES]]
    return {
        name: [_number(one) for one in value] if isinstance(value, list) else _number(value)
        for name, value in document.items()
    }


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return None if value != value else value
