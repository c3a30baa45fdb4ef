"""Several files that are one dataset."""

import io
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import write_parquet
from core.data.dataset import RankingDataset
from core.data.options import Columns, Limits, ReadingOptions
from core.data.part_files.joining import join_parts
from core.data.part_files.part import PartSpool, read_part
from core.data.reading import JudgedFile, form_of_file, read_file
from core.data.result import Reading
from core.errors import DatasetError, InvalidInput

WHOLE = ReadingOptions()


def joined(paths: Sequence[Path], options: ReadingOptions = WHOLE, limits: Limits | None = None) -> Reading:
    """Read files one by one, the last first, and join them."""
    limits = limits or Limits()
    files = [JudgedFile(path, path.name) for path in paths]
    form = form_of_file(files[0], options, limits)
    with PartSpool() as spool:
        for place in reversed(range(len(files))):
            spool.add(place, read_part(files[place], "", form, options, limits))
        return join_parts(spool.parts(), options, limits)


def stored(dataset: RankingDataset) -> bytes:
    """Return the bytes that are stored of a dataset: all its arrays, names and texts."""
    file = io.BytesIO()
    write_parquet(dataset, file)
    return file.getvalue()


def assert_equal(whole: Reading, parts: Reading) -> None:
    """Assert that two readings are the same in all that is stored or reported."""
    assert stored(parts.dataset) == stored(whole.dataset)
    assert parts.format == whole.format
    assert parts.scattered_queries == whole.scattered_queries
    assert parts.scattered_examples == whole.scattered_examples


def table(seed: int, n_rows: int = 400) -> pa.Table:
    """Return rows of few queries, most of which are contiguous, with everything that a table may have."""
    random = np.random.default_rng(seed)
    queries = np.sort(random.integers(0, 40, n_rows))
    strays = random.random(n_rows) < 0.03
    queries[strays] = random.integers(0, 40, strays.sum())
    ids = np.where(random.random(n_rows) < 0.3, "", np.arange(n_rows).astype(str))
    return pa.table(
        {
            "query_id": [f"q{query}" for query in queries],
            "document_id": ids,
            "label": random.integers(0, 5, n_rows),
            "bm25": random.normal(size=n_rows),
            "brand": random.choice(["acme", "zenith", "", *(f"b{at}" for at in range(30))], n_rows),
            "price": np.where(random.random(n_rows) < 0.2, np.nan, random.random(n_rows)),
            "embedding": [list(map(float, row)) for row in random.random((n_rows, 3))],
            "market": [f"m{query % 3}" for query in queries],
            "query_text": [f"text of {query}" for query in queries],
            "title": random.choice(["Shoe", "Coat", "Hat"], n_rows),
            "query_weight": [0.5 + query for query in queries],
            "document_weight": random.random(n_rows),
        }
    )


def cuts(n_rows: int, seed: int) -> list[tuple[int, int]]:
    """Return four spans of rows, one of a single row."""
    first, second = sorted(random.Random(seed).sample(range(2, n_rows - 1), 2))
    return [(0, first), (first, first + 1), (first + 1, second + 1), (second + 1, n_rows)]


@pytest.mark.parametrize("seed", range(6))
def test_joined_parquet_parts_equal_the_whole_file(tmp_path: Path, seed: int) -> None:
    """Wherever the rows are cut: queries, ids, categories, weights and texts are those of one file."""
    whole = table(seed)
    pq.write_table(whole, tmp_path / "whole")
    paths = []
    for number, (first, last) in enumerate(cuts(len(whole), seed)):
        paths.append(tmp_path / f"part-{number}")
        pq.write_table(whole.slice(first, last - first), paths[-1])
    options = ReadingOptions(
        columns=Columns(categorical_features=("brand",)), feature_names={"bm25": "first"}
    )
    reading = read_file(JudgedFile(tmp_path / "whole", "whole"), options)
    assert reading.scattered_queries
    assert_equal(reading, joined(paths, options))


@pytest.mark.parametrize("seed", range(4))
def test_joined_delimited_parts_equal_the_whole_file(tmp_path: Path, seed: int) -> None:
    """Columns are used as in the first part: numbers in a column of texts stay texts."""
    rows = [f"q{seed + row // 7},{row % 3},{row / 8},{'x' if row < 60 else 1}\n" for row in range(100)]
    header = "query_id,label,bm25,title\n"
    (tmp_path / "whole").write_text(header + "".join(rows))
    paths = []
    for number, (first, last) in enumerate([(0, 25 + seed), (25 + seed, 61), (61, 62), (62, 100)]):
        paths.append(tmp_path / f"part-{number}.csv")
        paths[-1].write_text(header + "".join(rows[first:last]))
    whole = read_file(JudgedFile(tmp_path / "whole", "whole"))
    assert list(whole.dataset.document_columns) == ["document_title"]
    assert_equal(whole, joined(paths))


@pytest.mark.parametrize("seed", range(6))
def test_joined_letor_parts_equal_the_whole_file(tmp_path: Path, seed: int) -> None:
    """Features that a part lacks are 0; ids and pairs in comments are those of one file."""
    chance = random.Random(seed)
    rows = []
    for row in range(300):
        query = row // 9 if chance.random() < 0.97 else chance.randrange(30)
        wide = f" {5 + row // 60}:{chance.random()}" if chance.random() < 0.2 else ""
        comment = chance.choice(["", f" # docid = d{row}", f" #docid = d{row} inc = {row} k{row // 50} = v"])
        rows.append(f"{chance.randrange(5)} qid:{query} 1:{chance.random()}{wide}{comment}\n")
    (tmp_path / "whole").write_text("".join(rows))
    paths = []
    for number, (first, last) in enumerate(cuts(len(rows), seed)):
        paths.append(tmp_path / f"part-{number}")
        paths[-1].write_text("".join(rows[first:last]))
    options = ReadingOptions(feature_names={"9": "clicks"})
    assert_equal(read_file(JudgedFile(tmp_path / "whole", "whole"), options), joined(paths, options))


def parts_of(tmp_path: Path, *texts: str) -> list[Path]:
    """Write the texts of files."""
    paths = [tmp_path / f"part-{number}" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_features_from_0_and_from_1_are_joined_by_their_ids(tmp_path: Path, order: slice) -> None:
    """A part of sparse text may lack feature 0."""
    texts = ["1 qid:a 0:1 1:2\n0 qid:a 2:3\n", "1 qid:b 1:4 3:5\n"][order]
    whole = tmp_path / "whole.txt"
    whole.write_text("".join(texts))
    reading = read_file(JudgedFile(whole, whole.name), WHOLE)
    assert reading.dataset.feature_names == ("f0", "f1", "f2", "f3")
    assert_equal(reading, joined(parts_of(tmp_path, *texts)))


def test_a_query_that_ends_one_part_and_begins_the_next_is_whole(tmp_path: Path) -> None:
    """The query is contiguous, and its documents are numbered from 1 across the parts."""
    paths = parts_of(tmp_path, "1 qid:a 1:1\n0 qid:b 1:2\n", "2 qid:b 1:3\n1 qid:b 1:4\n", "0 qid:b 1:5\n")
    reading = joined(paths, ReadingOptions(non_contiguous_queries="error"))
    assert reading.scattered_queries == 0
    assert reading.dataset.query_ids == ("a", "b")
    assert reading.dataset.query_boundaries.tolist() == [0, 1, 5]
    assert reading.dataset.document_ids == ["1", "1", "2", "3", "4"]
    assert reading.dataset.labels.tolist() == [1, 0, 2, 1, 0]


def test_a_scattered_query_is_gathered_or_refused(tmp_path: Path) -> None:
    """The error has the file and, for Parquet, the row."""
    first, second = ["a", "b"], ["c", "a"]
    for number, queries in enumerate((first, second)):
        rows = pa.table({"query_id": queries, "label": [1, 0], "x": [0.5, 1.5]})
        pq.write_table(rows, tmp_path / f"part-{number}")
    paths = [tmp_path / "part-0", tmp_path / "part-1"]
    reading = joined(paths)
    assert (reading.scattered_queries, reading.scattered_examples) == (1, ("a",))
    assert reading.dataset.features[:, 0].tolist() == [0.5, 1.5, 1.5, 0.5]
    with pytest.raises(DatasetError, match="'a' to be contiguous, but they stopped in part-0") as caught:
        joined(paths, ReadingOptions(non_contiguous_queries="error"))
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("part-1", 2)


CSV = "query_id,label,bm25,price\nq1,1,0.5,2\n"


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("query_id,label,bm25\nq2,1,1\n", "part-1, line 1, column price: .* of part-0, but it lacks price"),
        ("query_id,label,bm25,price,age\nq2,1,1,1,1\n", "column age: .* but it also has age"),
        ("query_id,label,fee,price\nq2,1,1,1\n", "lacks bm25 and it also has fee"),
        ("query_id,label,price,bm25\nq2,1,1,1\n", "column 3 is 'price' instead of 'bm25'"),
        ("query_id,label,bm25,price\nq2,1,x,1\n", "file part-1, line 2, column bm25: expected a number"),
        ("1 qid:1 1:0.5\n", "file part-1, line 1: expected delimited text .* as in part-0, but found LETOR"),
    ],
)
def test_columns_that_disagree_are_named(tmp_path: Path, second: str, message: str) -> None:
    """The error names the part and the difference."""
    with pytest.raises(DatasetError, match=message):
        joined(parts_of(tmp_path, CSV, second))


def test_types_that_disagree_are_named(tmp_path: Path) -> None:
    """A column of numbers in the first Parquet part must have numbers in all parts."""
    for number, values in enumerate(([0.5], ["high"])):
        rows = pa.table({"query_id": ["q"], "label": [1], "bm25": values})
        pq.write_table(rows, tmp_path / f"part-{number}")
    with pytest.raises(DatasetError, match=r"part-1, column bm25: expected numbers as in part-0, .* text"):
        joined([tmp_path / "part-0", tmp_path / "part-1"])


def test_different_values_of_a_query_are_named(tmp_path: Path) -> None:
    """A query has one value of a text column in all parts."""
    paths = parts_of(
        tmp_path,
        "query_id,label,bm25,market\nq1,1,0.5,de\nq2,1,0.5,at\n",
        "query_id,label,bm25,market\nq2,1,0.5,fr\n",
    )
    message = "file part-1, column market: expected one value of 'market' in query 'q2' .* after at in part-0"
    with pytest.raises(DatasetError, match=message):
        joined(paths)
    paths = parts_of(
        tmp_path,
        f"query_id,label,bm25,note\nq1,1,0.5,{'long ' * 20}\n",
        "query_id,label,bm25,note\nq1,1,0.5,short\n",
    )
    with pytest.raises(DatasetError, match=r"'short' after long long .*… in part-0$"):
        joined(paths)


@pytest.mark.long
def test_limits_apply_to_all_parts_together(tmp_path: Path) -> None:
    """Parts that are small enough alone are refused if together, with all features, they are too large."""
    paths = parts_of(tmp_path, "1 qid:1 1:1\n" * 30_000, "1 qid:2 9000:1\n")
    with pytest.raises(DatasetError, match="30,001 documents by 9,000 features"):
        joined(paths)
    with pytest.raises(DatasetError, match="at most 20,000 documents"):
        joined(
            parts_of(tmp_path, "1 qid:1 1:1\n" * 10_001, "1 qid:2 1:1\n" * 10_001),
            limits=Limits(documents=20_000),
        )


@pytest.mark.parametrize("text", ["q1 0 d1 2\nq1 0 d2 0\n", "2 1:0.5\n1 1:0.2\n"])
def test_formats_without_rows_of_queries_are_refused(tmp_path: Path, text: str) -> None:
    """TREC judgments, and LightGBM's data with a separate query file, cannot be joined."""
    with pytest.raises(DatasetError, match="several files can only be joined to a dataset if"):
        joined(parts_of(tmp_path, text, text))


def test_names_of_features_that_no_part_has_are_refused(tmp_path: Path) -> None:
    """A name for a feature that only one part has is accepted; one for an absent feature is refused."""
    paths = parts_of(tmp_path, "1 qid:1 1:1\n", "1 qid:1 3:1\n")
    assert joined(paths, ReadingOptions(feature_names={"3": "c"})).dataset.feature_names == ("f1", "f2", "c")
    with pytest.raises(InvalidInput, match="a feature of the file, 1 to 3"):
        joined(paths, ReadingOptions(feature_names={"4": "d"}))


@pytest.mark.parametrize("is_category_in_first", [True, False])
def test_the_first_file_declares_the_categories(tmp_path: Path, is_category_in_first: bool) -> None:
    """Files with whole numbers may differ in whether the type of a column is categorical."""
    for number, is_category in enumerate((is_category_in_first, not is_category_in_first)):
        shop = pa.array([7, 12])
        columns = {"query_id": [f"q{number}"] * 2, "label": [1, 0]}
        columns["shop"] = shop.dictionary_encode() if is_category else shop
        pq.write_table(pa.table(columns), tmp_path / f"{number}.parquet")
    dataset = joined([tmp_path / "0.parquet", tmp_path / "1.parquet"]).dataset
    assert ("shop" in dataset.categories) is is_category_in_first
    assert dataset.matrix[:, 0].tolist() == ([0, 1, 0, 1] if is_category_in_first else [7, 12, 7, 12])
