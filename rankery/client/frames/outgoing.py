"""Explain the scores of a frame; convert Arrow tables to data frames and arrays."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from rankery.errors import PackageMissing, RankeryApiError

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow as pa

    from rankery.client.frames.incoming import SomeFrame


_PREFIX = "contribution."
_IDS = ("query_id", "document_id")
_ALL_FEATURES = "features"
_LIMIT_POINTERS = ("/explain", "/queries")


class Explanations:
    """Feature contributions to the scores of some rows.

    Args:
        table: Candidates as they were sent.
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


def as_pandas(table: "pa.Table") -> "pandas.DataFrame":
    """Return a table as a data frame of pandas.

    Raises:
        PackageMissing: pandas is not installed.
    """
    _pandas()  # pyarrow's own message lacks how to install it
    return table.to_pandas()


def rows_as_pandas(rows: Sequence[Mapping[str, Any]]) -> "pandas.DataFrame":
    """Return rows, as values by column, as a data frame of pandas.

    Raises:
        PackageMissing: pandas is not installed.
    """
    frame: pandas.DataFrame = _pandas().DataFrame(rows)
    return frame


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise PackageMissing("pandas is not installed: pip install 'rankery[pandas]'") from error
    return pandas


def as_polars(table: "pa.Table") -> "polars.DataFrame":
    """Return a table as a data frame of polars.

    Raises:
        PackageMissing: polars is not installed.
    """
    try:
        import polars
    except ImportError as error:
        raise PackageMissing("polars is not installed: pip install 'rankery[polars]'") from error
    return polars.DataFrame(table)


def as_numpy(table: "pa.Table") -> "dict[str, np.ndarray[Any, Any]]":
    """Return the columns of a table as arrays, by name."""
    return {name: table.column(name).to_numpy() for name in table.column_names}


def in_library_of(frame: "SomeFrame", table: "pa.Table", *, keeps_index: bool = False) -> "SomeFrame":
    """Convert a table to the library of `frame`, pandas or polars; return it as it is for other libraries.

    Args:
        table: Table with the column `row`.
        keeps_index: Whether a pandas result has the index of `frame`, looked up by the column `row`.
    """
    library = type(frame).__module__.partition(".")[0]
    found: Any = table
    if library == "pandas":
        found = as_pandas(table)
        if keeps_index:
            found.index = cast("Any", frame).index[found["row"]]
    elif library == "polars":
        found = as_polars(table)
    same_kind: SomeFrame = found
    return same_kind


class Tabular(ABC):
    """A local object that converts to a table."""

    @abstractmethod
    def to_arrow(self) -> "pa.Table":
        """Return the object as an Arrow table."""

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the object as a data frame of pandas.

        Raises:
            PackageMissing: pandas is not installed.
        """
        return as_pandas(self.to_arrow())

    def to_polars(self) -> "polars.DataFrame":
        """Return the object as a data frame of polars.

        Raises:
            PackageMissing: polars is not installed.
        """
        return as_polars(self.to_arrow())

    def to_numpy(self) -> "dict[str, np.ndarray[Any, Any]]":
        """Return the columns of the object as arrays, by name."""
        return as_numpy(self.to_arrow())
