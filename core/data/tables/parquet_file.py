"""Parquet tables of anybody's, read a row group at a time."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from core.data.packing import Bytes, Progress
from core.data.tables.cells import Kind, kind_of
from core.data.tables.problems import Problems
from core.errors import DatasetError

_BATCH_ROWS = 16_384


class ParquetTable:
    """Rows of a Parquet file; see `Table`. Its lines are its rows, from 1.

    Raises:
        DatasetError: When the file is damaged or has no row.
    """

    format: str = "parquet"
    header_line: int | None = None

    def __init__(self, content: Bytes, file: str) -> None:
        self.file = file
        try:
            self._parquet = pq.ParquetFile(pa.BufferReader(pa.py_buffer(cast("Any", content))))
            self._schema = self._parquet.schema_arrow
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damage(error) from error
        self.names = tuple(self._schema.names)
        self.n_rows = self._parquet.metadata.num_rows
        if self.n_rows == 0:
            raise DatasetError.at("expected rows, but the table has none", file=file)

    def kinds(self) -> Sequence[Kind]:
        """Tell numbers from texts by the types of the columns."""
        return [kind_of(field.type) for field in self._schema]

    def blocks(
        self, positions: Sequence[int], problems: Problems, on_progress: Progress | None
    ) -> Iterator[Sequence[Any]]:
        """Yield the arrays of these columns."""
        names = [self.names[position] for position in positions]
        done = 0
        try:
            for batch in self._parquet.iter_batches(_BATCH_ROWS, columns=names):
                yield [batch.column(name) for name in names]
                done += batch.num_rows
                if on_progress is not None:
                    on_progress(done, self.n_rows)
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise self._damage(error) from error

    def record(self, row: int) -> int:
        """Return the row itself: none is ever left out."""
        return row

    def lines(self, records: Sequence[int]) -> list[int]:
        """Return the numbers of rows, from 1."""
        return [record + 1 for record in records]

    def _damage(self, error: Exception) -> DatasetError:
        reason = str(error).splitlines()[0] if str(error) else "no reason given"
        return DatasetError.at(f"expected a whole Parquet file, but found damage: {reason}", file=self.file)
