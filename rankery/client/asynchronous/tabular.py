"""Resources that are tables."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from rankery.client.frames.outgoing import as_numpy, as_pandas, as_polars

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow as pa


class AsyncTabular(ABC):
    """A resource that converts to a table."""

    @abstractmethod
    async def to_arrow(self) -> "pa.Table":
        """Fetch all rows as an Arrow table."""

    async def to_pandas(self) -> "pandas.DataFrame":
        """Fetch all rows as a pandas data frame.

        Raises:
            PackageMissing: pandas is not installed.
        """
        return as_pandas(await self.to_arrow())

    async def to_polars(self) -> "polars.DataFrame":
        """Fetch all rows as a polars data frame.

        Raises:
            PackageMissing: polars is not installed.
        """
        return as_polars(await self.to_arrow())

    async def to_numpy(self) -> "dict[str, np.ndarray[Any, Any]]":
        """Fetch all columns as arrays, by name."""
        return as_numpy(await self.to_arrow())
