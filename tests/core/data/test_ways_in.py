"""A table gives the same dataset in every file format and library, or is refused."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import dump_svmlight_file

from core.data import read_dataset
from core.data.options import Columns
from core.data.trec.run import read_run
from core.errors import DatasetError
from rankery.client.frames.incoming import as_table, table_of_arrays, temporary_parquet
from rankery.client.frames.judged import checked_columns
from rankery.client.frames.runs import run_of_mapping, run_of_table, scores_table
from rankery.errors import DataUnusable, InvalidArgument
from rankery.query_groups import group_by_ids

Outcome = dict[str, list[Any]]
TEXTS = ("a", "7", "007", "1.0", "2.00", "-0.0", "00.0", "+1.0", "1e5", "1.5", "v1.0", "True", "None", "ä")


@dataclass(frozen=True, eq=False)
class Ids:
    """Ids of rows.

    Attributes:
        column: As pandas holds them.
        texts: As text formats hold them: as pandas writes them.
        is_fit: Whether each is an id.
    """

    column: pd.Series
    texts: list[str]
    is_fit: bool = True


@dataclass(frozen=True, eq=False)
class Drawn:
    """A table: ids of queries and documents, labels, and two features."""

    queries: Ids
    documents: Ids
    labels: "pd.Series[Any]"
    features: pd.DataFrame

    @property
    def frame(self) -> pd.DataFrame:
        """The table as pandas holds it."""
        columns = {"query_id": self.queries.column, "document_id": self.documents.column}
        return pd.DataFrame({**columns, "label": self.labels, **self.features})

    @property
    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Texts of query and document, label and both features of each row."""
        labels, (first, second) = self.labels.tolist(), self.features.to_numpy(np.float64).T.tolist()
        return zip(self.queries.texts, self.documents.texts, labels, first, second, strict=True)


def _drawn_ids(rng: np.random.Generator, kind: str, indices: "np.ndarray[Any, Any]") -> Ids:
    """Draw distinct ids of a kind, and put those of `indices` into rows."""
    n = int(indices.max()) + 1
    small = rng.permutation(50)[:n] - 10
    large = small + int(rng.choice([10**10, 4006381333931, 2**52, 2**53 - 60]))
    whole = rng.choice([small, large])
    fractions = [*(small[:-1] + 0.0), 0.5 + rng.integers(9)]
    values, dtype, is_fit = {
        "int64": (whole, "int64", True),
        "uint8": (np.abs(small) % 50 if n == 1 else np.arange(n), "uint8", True),
        "Int64": (whole, "Int64", True),
        "float64": (whole, "float64", True),
        "float32": (small, "float32", True),
        "missing": ([np.nan, *whole[1:]], "float64", False),
        "missing Int64": ([pd.NA, *whole[1:]], "Int64", False),
        "missing text": ([None, *(str(one) for one in whole[1:])], "object", False),
        "fractions": (fractions, str(rng.choice(["float32", "float64"])), False),
        "too large": ([*small[:-1], 2**60], "float64", False),
        "infinite": ([*small[:-1], np.inf], "float64", False),
        "texts": (rng.choice(TEXTS, n, replace=False), "object", True),
        "digits": ([f"{one}" for one in whole], "object", True),
        "digits with a point": ([f"{one}.0" for one in whole], "object", True),
        "long digits": ([f"{2**70 + int(one)}" for one in small], "object", True),
        "words for missing": (["nan", *(f"w{one}" for one in small[1:])], "object", False),
        "categories": (rng.choice(TEXTS, n, replace=False), "category", True),
        "bytes": ([f"b{one}".encode() for one in small], "object", True),
        "decimals": ([Decimal(f"{one}.00") for one in small], "object", True),
        "decimals with fractions": ([*map(Decimal, small[:-1].tolist()), Decimal("1.50")], "object", False),
        "truths": (np.arange(n) == 0, "bool", False),
        "times": (pd.Timestamp("2024-05-01") + pd.to_timedelta(small, "D"), "datetime64[ns]", False),
    }[kind]
    column = pd.Series(values, dtype=dtype).take(indices).reset_index(drop=True)
    texts = ["nan" if one is None or one is pd.NA else _text(one) for one in column.tolist()]
    return Ids(column, texts, is_fit)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value).removesuffix(" 00:00:00")


KINDS = (
    "int64", "uint8", "Int64", "float64", "float32", "missing", "missing Int64", "missing text", "fractions",
    "too large", "infinite", "texts", "digits", "digits with a point", "long digits", "words for missing",
    "categories", "bytes", "decimals", "decimals with fractions", "truths", "times",
)  # fmt: skip


def _drawn(rng: np.random.Generator) -> Drawn:
    n_queries = int(rng.integers(2, 5))
    queries = np.concatenate([np.arange(n_queries), rng.integers(0, n_queries, rng.integers(1, 8))])
    if rng.random() < 0.5:
        queries = np.sort(queries)
    n = len(queries)
    if rng.random() < 0.5:
        documents = rng.permutation(n)
    else:  # the documents of different queries may have one id
        documents = np.array([int((queries[:row] == query).sum()) for row, query in enumerate(queries)])
    labels = pd.Series(rng.integers(0, 4, n)).astype(str(rng.choice(["int64", "float64", "float32"])))
    shape = (n, 2)
    numbers = 10 ** rng.normal(0, 9, shape) if rng.random() < 0.5 else rng.integers(-9, 9, shape) + 0.0
    numbers[rng.random((n, 2)) < 0.1] = rng.choice([np.nan, 0.0])
    numbers[0] = 1.0  # sparse text has only features that some row gives
    kind = str(rng.choice(["float64", "float32"]))
    features = pd.DataFrame({"f1": numbers[:, 0].astype(kind), "f2": numbers[:, 1].astype(kind)})
    kinds = rng.choice(KINDS, 2).tolist()
    ids = _drawn_ids(rng, kinds[0], queries), _drawn_ids(rng, kinds[1], documents)
    return Drawn(ids[0], ids[1], labels, features)


def _of_file(path: Path, **options: Any) -> Outcome:
    dataset = read_dataset(path, **options)
    features = [None if np.isnan(one) else float(one) for one in dataset.matrix.ravel()]
    queries = np.repeat(np.array(dataset.query_ids, object), np.diff(dataset.query_boundaries))
    return {
        "queries": queries.tolist(),
        "documents": list(dataset.document_ids),
        "labels": dataset.labels.tolist(),
        "features": features,
    }


def _letor(drawn: Drawn, path: Path) -> Outcome:
    path.write_text(
        "".join(f"{label!r} qid:{q} 1:{a!r} 2:{b!r} #docid = {d}\n" for q, d, label, a, b in drawn.rows)
    )
    return _of_file(path)


def _svmlight(drawn: Drawn, path: Path) -> Outcome:
    """Write with scikit-learn, whose text has whole numbers as query ids and no document ids."""
    features = np.nan_to_num(drawn.features.to_numpy(np.float64))
    queries = drawn.queries.column.to_numpy(np.int64, copy=True)
    dump_svmlight_file(
        features, drawn.labels.to_numpy(copy=True), str(path), zero_based=False, query_id=queries
    )
    return {"queries": _of_file(path)["queries"]}


def _starts(drawn: Drawn) -> list[int]:
    """Return the rows in which another query begins."""
    pairs = enumerate(pairwise(["", *drawn.queries.texts]))
    return [row for row, (before, query) in pairs if query != before]


def _lightgbm(drawn: Drawn, path: Path) -> Outcome:
    """Write LightGBM's pairs, whose queries are sizes in a file beside it."""
    path.write_text("".join(f"{label!r} 0:{a!r} 1:{b!r} #docid = {d}\n" for _, d, label, a, b in drawn.rows))
    starts = _starts(drawn)
    sizes = path.with_suffix(".query")
    sizes.write_text("".join(f"{size}\n" for size in np.diff(starts, append=len(drawn.labels))))
    found = _of_file(path, query_sizes=sizes)
    del found["queries"]
    return found


def _csv(drawn: Drawn, path: Path, separator: str = ",") -> Outcome:
    frame = drawn.frame
    for name, ids in (("query_id", drawn.queries), ("document_id", drawn.documents)):
        if ids.column.map(type).eq(bytes).any():  # which pandas writes as Python shows them
            frame[name] = ids.texts
    frame.to_csv(path, index=False, sep=separator)
    return _of_file(path)


def _tsv(drawn: Drawn, path: Path) -> Outcome:
    return _csv(drawn, path, "\t")


def _parquet(drawn: Drawn, path: Path) -> Outcome:
    drawn.frame.to_parquet(path, index=False)
    return _of_file(path)


def _polars_parquet(drawn: Drawn, path: Path) -> Outcome:
    pl.from_pandas(drawn.frame, nan_to_null=False).write_parquet(path)
    return _of_file(path)


def _dictionaries_of_arrow(drawn: Drawn, path: Path) -> Outcome:
    table = pa.Table.from_pandas(drawn.frame, preserve_index=False)
    for index, name in enumerate(("query_id", "document_id")):
        if not pa.types.is_dictionary(table.schema.field(name).type):
            table = table.set_column(index, name, table.column(name).dictionary_encode())
    pq.write_table(table, path)
    return _of_file(path)


def _of_frame(frame: Any) -> Outcome:
    table = as_table(frame)
    checked_columns(frame, table, None)
    with temporary_parquet(table) as file:
        return _of_file(file)


def _pandas(drawn: Drawn, _: Path) -> Outcome:
    return _of_frame(drawn.frame)


def _polars(drawn: Drawn, _: Path) -> Outcome:
    return _of_frame(pl.from_pandas(drawn.frame, nan_to_null=False))


def _arrow(drawn: Drawn, _: Path) -> Outcome:
    return _of_frame(pa.Table.from_pandas(drawn.frame, preserve_index=False))


def _arrays(drawn: Drawn, _: Path) -> Outcome:
    table = table_of_arrays(
        drawn.features.to_numpy(),
        labels=drawn.labels.to_numpy(),
        query_ids=drawn.queries.column.to_numpy(),
        document_ids=drawn.documents.column.to_numpy(),
    )
    with temporary_parquet(table) as file:
        return _of_file(file)


def _lists(drawn: Drawn, _: Path) -> Outcome:
    groups = group_by_ids(drawn.queries.column.tolist(), len(drawn.labels))
    return {
        "queries": np.repeat(np.array(groups.query_ids, object), np.diff(groups.boundaries)).tolist(),
        "labels": groups.gather(drawn.labels.to_numpy(np.float64)).tolist(),
    }


def _qrels(drawn: Drawn, path: Path) -> Outcome:
    path.write_text("".join(f"{q} 0 {d} {label!r}\n" for q, d, label, *_ in drawn.rows))
    found = _of_file(path, format="trec-qrels")
    del found["features"]
    return found


def _of_run(path: Path) -> Outcome:
    run = read_run(path)
    queries = np.repeat(np.array(run.query_ids, object), np.diff(run.query_boundaries))
    return {
        "queries": queries.tolist(),
        "documents": list(run.document_ids),
        "labels": run.scores.tolist(),
    }


def _run(drawn: Drawn, path: Path) -> Outcome:
    path.write_text("".join(f"{q} Q0 {d} 1 {label!r} x\n" for q, d, label, *_ in drawn.rows))
    return _of_run(path)


def _run_of_a_frame(drawn: Drawn, path: Path) -> Outcome:
    path.write_text("".join(run_of_table(scores_table(drawn.frame, {"score": "label"}))))
    return _of_run(path)


def _run_of_dictionaries(drawn: Drawn, path: Path) -> Outcome:
    run: dict[Any, dict[Any, float]] = {}
    columns = (drawn.queries.column, drawn.documents.column, drawn.labels)
    for query, document, label in zip(*(column.tolist() for column in columns), strict=True):
        run.setdefault(query, {})[document] = label
    path.write_text("".join(run_of_mapping(run)))
    return _of_run(path)


Reader = Callable[[Drawn, Path], Outcome]
TEXT_READERS: tuple[Reader, ...] = (_letor, _lightgbm, _csv, _tsv, _qrels, _run)
TYPED_READERS: tuple[Reader, ...] = (
    _parquet, _polars_parquet, _dictionaries_of_arrow, _pandas, _polars, _arrow, _arrays, _lists,
    _run_of_a_frame, _run_of_dictionaries,
)  # fmt: skip
REFUSALS = (DatasetError, DataUnusable, InvalidArgument)


def _is_possible(reader: Reader, drawn: Drawn) -> bool:
    """Return whether the format of a reader can hold a table."""
    if reader is _svmlight:
        return pd.api.types.is_integer_dtype(drawn.queries.column) and drawn.queries.is_fit
    if reader is _lightgbm:
        return len(_starts(drawn)) == len(set(drawn.queries.texts))
    if reader in (_polars, _polars_parquet):  # polars cannot convert decimals from pandas
        return not any(ids.column.map(type).isin([Decimal]).any() for ids in (drawn.queries, drawn.documents))
    return True


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::rankery.errors.DataWarning")
@pytest.mark.parametrize(
    ("seed", "n_tables"),
    [(0, 20), *(pytest.param(seed, 500, marks=pytest.mark.slow) for seed in range(1, 6))],
)
def test_one_table_is_one_dataset_or_is_refused(tmp_path: Path, seed: int, n_tables: int) -> None:
    """Every reader that accepts a table gives the same dataset; typed forms refuse invalid query ids."""
    rng = np.random.default_rng(seed)
    accepted = 0
    for number in range(n_tables):
        drawn = _drawn(rng)
        outcomes: dict[str, Outcome] = {}
        refusals: dict[str, Exception] = {}
        for reader in (_svmlight, *TEXT_READERS, *TYPED_READERS):
            if not _is_possible(reader, drawn):
                continue
            try:
                outcomes[reader.__name__] = reader(drawn, tmp_path / f"{number}.{reader.__name__}")
            except REFUSALS as refusal:
                refusals[reader.__name__] = refusal
        shown = f"table {number}:\n{drawn.frame}\n{outcomes}\n{refusals}"
        expected: Outcome = {}
        for outcome in outcomes.values():
            for part, values in outcome.items():
                assert values == expected.setdefault(part, values), f"{part} of {shown}"
        if drawn.queries.is_fit and drawn.documents.is_fit:
            assert not _unexpected(refusals), shown
            accepted += 1
        elif not drawn.queries.is_fit:
            assert not {reader.__name__ for reader in TYPED_READERS} & outcomes.keys(), shown
    assert accepted > n_tables / 8


def _unexpected(refusals: dict[str, Exception]) -> dict[str, Exception]:
    """Return refusals except those of a repeated document in a query, since several texts may be one id."""
    return {name: refusal for name, refusal in refusals.items() if "each document once" not in str(refusal)}


def _in_arrow(column: "pa.ChunkedArray[Any]") -> "pd.Series[Any]":
    return pd.Series(pd.arrays.ArrowExtensionArray(column))


@pytest.mark.parametrize(
    ("values", "categories"),
    [
        ([7, 1001, 7, 12], ("7", "1001", "12")),
        ([7, 7, 12, 12], ("7", "12")),
        ([2**60, 7, 12, 12], (str(2**60), "7", "12")),
        ([0.5, 7.0, 0.5, None], None),
        ([True, False, True, None], ("true", "false")),
        ([np.nan] * 4, None),
    ],
)
def test_categories_of_numbers_are_one_feature_in_files_and_frames(
    tmp_path: Path, values: list[Any], categories: tuple[str, ...] | None
) -> None:
    """Whole numbers and booleans of a categorical type are categories; other numbers are numbers."""
    judged = {"query_id": ["a", "a", "b", "b"], "label": [1, 0, 1, 0], "bm25": [0.5, 0.25, 1.0, 2.0]}
    frame = pd.DataFrame({**judged, "shop": pd.Categorical(values)})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    frame.to_parquet(tmp_path / "pandas.parquet", index=False)
    pq.write_table(table, tmp_path / "arrow.parquet")
    datasets = [read_dataset(tmp_path / name) for name in ("pandas.parquet", "arrow.parquet")]
    for one in (frame, frame.assign(shop=_in_arrow(table.column("shop"))), table):
        plain = as_table(one)
        listed = checked_columns(one, plain, None).get("categorical_features", ())
        with temporary_parquet(plain) as file:
            datasets.append(read_dataset(file, columns=Columns(categorical_features=tuple(listed))))
    for dataset in datasets:
        assert dataset.feature_names == ("bm25", "shop")
        assert {name: each.values for name, each in dataset.categories.items()} == (
            {} if categories is None else {"shop": categories}
        )
        np.testing.assert_array_equal(dataset.matrix, datasets[0].matrix)


def test_a_declared_category_may_be_named_as_a_number(tmp_path: Path) -> None:
    """Named roles go before the type."""
    frame = pd.DataFrame({"query_id": ["a", "a"], "label": [1, 0], "shop": pd.Categorical([7, 12])})
    frame.to_parquet(tmp_path / "data.parquet")
    assert read_dataset(tmp_path / "data.parquet", columns=Columns(features=("shop",))).categories == {}
