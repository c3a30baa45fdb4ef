"""Convert Arrow tables to data frames and arrays."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from rankery.errors import PackageMissing

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow as pa

    from rankery.client.frames.incoming import SomeFrame


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
        frame: The frame of the caller.
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
