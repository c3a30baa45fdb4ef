"""Delimited text, Parquet and LightGBM's files, written by plain code and read back: the same bits."""

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.data import RankingDataset
from core.data.reading import JudgedFile, read_file
from tests.core.data.strategies import assert_same, datasets, is_normalised
from tests.examples import examples

_CELL = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=6
).filter(is_normalised)
_PLAIN_ID = _CELL.filter(lambda text: text == text.strip() and not text.startswith("#"))
_COLUMNS = ("label", "query_id", "document_id", "weight", "document_weight")
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "zstd": lambda content: bytes(pa.compress(content, "zstd", asbytes=True)),
}


def _pairs(kinds: list[str]) -> list[Any]:
    """Pair each kind of file with one packing, so that all packings occur; slow: with every packing."""
    return [
        pytest.param(kind, packing, marks=() if number % len(PACKINGS) == index else pytest.mark.slow)
        for number, kind in enumerate(kinds)
        for index, packing in enumerate(PACKINGS)
    ]


def _rows(dataset: RankingDataset) -> list[tuple[int, int]]:
    lengths = np.diff(dataset.query_boundaries)
    return [(query, row) for row, query in enumerate(np.repeat(np.arange(len(lengths)), lengths).tolist())]


def _text(number: float) -> str:
    return repr(float(number))


def _delimited(dataset: RankingDataset, delimiter: str) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow([*_COLUMNS, *dataset.query_columns, *dataset.feature_names])
    for query, row in _rows(dataset):
        weights = dataset.query_weights, dataset.document_weights
        assert weights[0] is not None
        assert weights[1] is not None
        writer.writerow(
            [
                float(dataset.labels[row]),
                dataset.query_ids[query],
                dataset.document_ids[row],
                float(weights[0][query]),
                float(weights[1][row]),
                *(column[query] for column in dataset.query_columns.values()),
                *(float(value) for value in dataset.features[row]),
            ]
        )
    return file.getvalue().encode()


def _parquet(dataset: RankingDataset) -> bytes:
    queries = [query for query, _ in _rows(dataset)]
    assert dataset.query_weights is not None
    columns = {
        "label": pa.array(dataset.labels),
        "query_id": pa.array([dataset.query_ids[query] for query in queries]).dictionary_encode(),
        "document_id": pa.array(list(dataset.document_ids)),
        "weight": pa.array(dataset.query_weights[queries]),
        "document_weight": pa.array(np.asarray(dataset.document_weights)),
        **{name: pa.array([texts[q] for q in queries]) for name, texts in dataset.query_columns.items()},
        **{name: pa.array(dataset.features[:, j]) for j, name in enumerate(dataset.feature_names)},
    }
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, row_group_size=3)
    return file.getvalue()


@st.composite
def _tables(draw: st.DrawFn) -> RankingDataset:
    dataset = draw(datasets(_PLAIN_ID, weighted=True, named=False))
    n_queries, n_documents = dataset.n_queries, dataset.n_documents
    weights = st.floats(0, 1e300)
    return RankingDataset.from_arrays(
        dataset.features,
        dataset.labels,
        dataset.query_boundaries,
        query_ids=dataset.query_ids,
        document_ids=list(dataset.document_ids),
        query_weights=draw(st.lists(weights, min_size=n_queries, max_size=n_queries)),
        document_weights=draw(st.lists(weights, min_size=n_documents, max_size=n_documents)),
        query_columns={"market": draw(st.lists(_WORD, min_size=n_queries, max_size=n_queries))},
    )


_WORD = st.sampled_from(["de", "fr", "it", "Zürich, CH", 'a "b"'])


@pytest.mark.long
@pytest.mark.parametrize(
    ("format", "packing"),
    _pairs(["csv", "tsv", "semicolon", "parquet"]),
)
@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(dataset=_tables())
def test_tables_read_back(tmp_path: Path, format: str, packing: str, dataset: RankingDataset) -> None:
    """Features, labels, weights, ids and columns of queries survive, whatever text the ids hold."""
    delimiter = {"csv": ",", "tsv": "\t", "semicolon": ";"}.get(format)
    content = _parquet(dataset) if delimiter is None else _delimited(dataset, delimiter)
    path = tmp_path / "file"
    path.write_bytes(PACKINGS[packing](content))
    reading = read_file(JudgedFile(path, "file"))
    assert reading.format == ("parquet" if delimiter is None else "csv")
    assert_same(reading.dataset, dataset)
    assert reading.dataset.query_columns == dataset.query_columns
    np.testing.assert_array_equal(
        np.asarray(reading.dataset.document_weights), np.asarray(dataset.document_weights)
    )


@pytest.mark.long
@pytest.mark.parametrize(("separator", "packing"), _pairs([" ", ",", "\t"]))
@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(dataset=datasets(named=False))
def test_lightgbm_files_read_back(
    tmp_path: Path, separator: str, packing: str, dataset: RankingDataset
) -> None:
    """LightGBM's pairs and delimited rows, with the query file, packed or not."""
    lines = []
    for row in range(dataset.n_documents):
        values = [_text(value) for value in dataset.features[row]]
        if separator == " ":
            values = [f"{column}:{value}" for column, value in enumerate(values, 1)]
        lines.append(separator.join([_text(dataset.labels[row]), *values]))
    path, sizes = tmp_path / "file", tmp_path / "sizes"
    path.write_bytes(PACKINGS[packing](("\n".join(lines) + "\n").encode()))
    sizes.write_bytes(PACKINGS[packing]("\n".join(map(str, np.diff(dataset.query_boundaries))).encode()))
    found = read_file(JudgedFile(path, "file", sizes, "sizes"))
    assert found.format == "lightgbm"
    expected = RankingDataset.from_arrays(dataset.features, dataset.labels, dataset.query_boundaries)
    assert_same(found.dataset, expected)
