"""Columns of lists in data frames."""

from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

from rankery.client.frames.incoming import as_stream, as_table, table_of_arrays
from rankery.errors import DataUnusable

EMBEDDINGS = [[1.0, 2.0], [3.0, 4.0]]


def _sent_table(table: pa.Table) -> pa.Table:
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
    sent = _sent_table(table)
    assert sent.column_names == ["search", "emb"]
    assert sent.schema.field("emb").type.list_size == 2
    assert sent.column("emb").to_pylist() == EMBEDDINGS


def test_masked_values_of_arrays_are_missing() -> None:
    """Masked features and labels are sent as NaN, and masked ids as null."""
    features = np.ma.masked_equal([[1, 2], [3, 4]], 4)
    table = table_of_arrays(
        features, labels=np.ma.masked_equal([0.0, 1.0], 0.0), query_ids=np.ma.masked_equal([5, 6], 6)
    )
    assert table.column("query_id").to_pylist() == ["5", None]
    expected = {"label": [np.nan, 1.0], "f1": [1.0, 3.0], "f2": [2.0, np.nan]}
    for name, values in expected.items():
        np.testing.assert_array_equal(table.column(name).to_numpy(), values)
    scored = table_of_arrays(features, query_ids=np.ma.masked_equal([5, 6], 6))
    np.testing.assert_array_equal(scored.column("query_id").to_numpy(), [5.0, np.nan])


def test_lists_of_different_lengths_are_not_sent() -> None:
    """The client refuses the column, since the service cannot name the row; a null list is sent as null."""
    assert _sent_table(pa.table({"search": ["a", "b"], "emb": [None, [1.0]]}))["emb"].to_pylist() == [
        None,
        [1.0],
    ]
    with pytest.raises(DataUnusable, match="lists of column 'emb' have different lengths, 1 and 2"):
        _sent_table(pa.table({"search": ["a", "b"], "emb": [[1.0], [1.0, 2.0]]}))
