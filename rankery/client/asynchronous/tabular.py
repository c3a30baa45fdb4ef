"""What the service keeps as tables."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from rankery.client.frames.outgoing import as_numpy, as_pandas, as_polars

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow as pa


class AsyncTabular(ABC):
    """Something of the service that is also a table."""

    @abstractmethod
    async def to_arrow(self) -> "pa.Table":
        """Ask for all of it as a table of Arrow."""

    async def to_pandas(self) -> "pandas.DataFrame":
        """Ask for all of it as a data frame of pandas.

        Raises:
            PackageMissing: pandas is not installed.
        """
        return as_pandas(await self.to_arrow())

    async def to_polars(self) -> "polars.DataFrame":
        """Ask for all of it as a data frame of polars.

        Raises:
            PackageMissing: polars is not installed.
        """
        return as_polars(await self.to_arrow())

    async def to_numpy(self) -> "dict[str, np.ndarray[Any, Any]]":
        """Ask for all of its columns as arrays, by name."""
        return as_numpy(await self.to_arrow())
