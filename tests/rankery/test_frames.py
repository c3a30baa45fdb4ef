"""Columns of lists in data frames."""

from typing import Any

import pandas
import polars
import pyarrow as pa
import pytest

from rankery.client.frames.incoming import as_stream, as_table
from rankery.errors import DataUnusable

EMBEDDINGS = [[1.0, 2.0], [3.0, 4.0]]


def _sent(table: pa.Table) -> pa.Table:
    return pa.ipc.open_stream(as_stream(table)).read_all()


@pytest.mark.parametrize(
    "frame",
    [
        pandas.DataFrame({"search": ["a", "b"], "emb": EMBEDDINGS}),
        polars.DataFrame({"search": ["a", "b"], "emb": EMBEDDINGS}),
        polars.DataFrame({"search": ["a", "b"], "emb": EMBEDDINGS}).with_columns(
            polars.col("emb").cast(polars.Array(polars.Float32, 2))
        ),
        pa.table({"search": ["a", "b"], "emb": EMBEDDINGS}),
    ],
    ids=["pandas", "polars list", "polars array", "arrow"],
)
def test_lists_are_sent_in_a_fixed_size(frame: Any) -> None:
    """Scoring requests need fixed-size lists; uploads of datasets send lists unchanged."""
    table = as_table(frame)
    assert table.column("emb").to_pylist() == EMBEDDINGS
    sent = _sent(table)
    assert sent.column_names == ["search", "emb"]
    assert sent.schema.field("emb").type.list_size == 2
    assert sent.column("emb").to_pylist() == EMBEDDINGS


def test_lists_of_different_lengths_are_not_sent() -> None:
    """The client refuses the column, since the service cannot name the row; a null list is sent as null."""
    assert _sent(pa.table({"search": ["a", "b"], "emb": [None, [1.0]]}))["emb"].to_pylist() == [None, [1.0]]
    with pytest.raises(DataUnusable, match="lists of column 'emb' have different lengths, 1 and 2"):
        _sent(pa.table({"search": ["a", "b"], "emb": [[1.0], [1.0, 2.0]]}))
