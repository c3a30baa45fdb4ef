"""Features whose values are categories: how their columns are read, kept and translated."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import RankingDataset, read_dataset
from core.data.categories import MAX_CATEGORIES, Categories
from core.data.options import Columns
from core.errors import DatasetError, InvalidInput

CSV = """label,query_id,bm25,brand,price
2,q1,0.5,acme,3
0,q1,0.1,,4
1,q2,0.7,"Zürich, AG",5
0,q1,0.2,acme,6
"""
BRAND = Columns(categorical_features=("brand",))


def _read(folder: Path, content: str, columns: Columns = BRAND, **options: Any) -> RankingDataset:
    (folder / "data.csv").write_text(content)
    return read_dataset(folder / "data.csv", columns=columns, **options)


def _codes(dataset: RankingDataset, name: str) -> Any:
    return dataset.features[:, dataset.feature_names.index(name)]


def test_texts_become_codes_by_first_appearance(tmp_path: Path) -> None:
    """The column keeps its position; an empty cell is missing, and the rows of a query become contiguous."""
    dataset = _read(tmp_path, CSV)
    assert dataset.feature_names == ("bm25", "brand", "price")
    assert dataset.categories["brand"].values == ("acme", "Zürich, AG")
    np.testing.assert_array_equal(_codes(dataset, "brand"), [0, np.nan, 0, 1])
    assert dataset.query_columns == {}
    assert dataset.categorical_columns == (1,)
    held_out = dataset.select_queries([1])
    assert held_out.categories is dataset.categories


def test_categorical_features_follow_the_named_features(tmp_path: Path) -> None:
    """Categorical features need not be among the named features; a renamed one has its new name."""
    columns = Columns(features=("price",), categorical_features=("brand",), ignore=("bm25",))
    dataset = _read(tmp_path, CSV, columns, feature_names={"brand": "maker"})
    assert dataset.feature_names == ("price", "maker")
    assert list(dataset.categories) == ["maker"]
    ordered = replace(columns, features=("brand", "price"))
    assert _read(tmp_path, CSV, ordered).feature_names == ("brand", "price")
    with pytest.raises(InvalidInput, match="already"):
        Columns(features=("price",), categorical_features=("brand", "brand"))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pa.array(["b", "a", None, "b"]), ("b", "a")),
        (pa.array(["b", "a", None, "b"]).dictionary_encode(), ("b", "a")),
        (pa.array([7, 1001, None, 7], pa.int64()), ("7", "1001")),
        (pa.array([7.0, 1001.0, None, 7.0]), ("7", "1001")),
        (pa.array([7, 1001, None, 7], pa.decimal128(9, 2)), ("7", "1001")),
        (pa.array([7, 1001, None, 7], pa.int32()).dictionary_encode(), ("7", "1001")),
        (pa.array([False, True, None, False]), ("false", "true")),
    ],
    ids=["text", "dictionary", "whole", "float", "decimal", "dictionary of whole numbers", "boolean"],
)
def test_columns_of_parquet_become_codes(tmp_path: Path, column: Any, values: tuple[str, ...]) -> None:
    """Texts and whole numbers become the same values, whatever their Parquet type."""
    table = pa.table({"label": [1, 0, 2, 0], "query_id": ["a", "a", "b", "b"], "brand": column})
    pq.write_table(table, tmp_path / "data")
    dataset = read_dataset(tmp_path / "data", columns=BRAND)
    assert dataset.categories["brand"] == Categories(values)
    np.testing.assert_array_equal(_codes(dataset, "brand"), [0, 1, np.nan, 0])


@pytest.mark.parametrize(
    ("values", "categories"),
    [
        (pa.array([7.0, None, 1001.0, np.nan]), ("7", "1001")),
        (pa.array([7.0, 1001.5, None, 7.0]), None),
        (pa.array([2.0**24, 7.0, None, 7.0], pa.float32()), None),
        (pa.array([None, None, None, np.nan]), None),
        (pa.array([7, 1001, None, 7], pa.int16()), ("7", "1001")),
        (pa.array([True, False, None, True]), ("true", "false")),
    ],
    ids=["whole", "fraction", "rounded", "missing", "integers", "booleans"],
)
def test_numbers_of_a_categorical_type_are_categories(
    tmp_path: Path, values: Any, categories: tuple[str, ...] | None
) -> None:
    """Whole floats, too, as pandas makes of integers beside missing values; others stay numbers."""
    table = pa.table({"label": [1, 0, 2, 0], "query_id": list("aabb"), "shop": values.dictionary_encode()})
    pq.write_table(table, tmp_path / "data")
    dataset = read_dataset(tmp_path / "data")
    assert dataset.feature_names == ("shop",)
    found = dataset.categories["shop"].values if dataset.categories else None
    assert found == categories


@pytest.mark.parametrize("blocks", [1, 3])
def test_blocks_share_their_codes(tmp_path: Path, blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value has the code of its first appearance in every block of a file."""
    rows = 6_000
    brands = [f"brand {number % 700}" for number in range(rows)]
    table = pa.table(
        {"label": [1] * rows, "query_id": [str(row // 10) for row in range(rows)], "brand": brands}
    )
    pq.write_table(table, tmp_path / "data")
    monkeypatch.setattr("core.data.tables.parquet_file._BATCH_ROWS", rows // blocks)
    dataset = read_dataset(tmp_path / "data", columns=BRAND)
    assert dataset.categories["brand"].values == tuple(dict.fromkeys(brands))
    assert dataset.categories["brand"].texts(_codes(dataset, "brand")) == brands


def test_a_text_that_differs_within_a_query_is_refused_with_a_solution(tmp_path: Path) -> None:
    """The error of a text column without the option names `columns.categorical_features`."""
    with pytest.raises(DatasetError, match=r"in columns\.categorical_features if it is a feature"):
        _read(tmp_path, "label,query_id,x,brand\n1,q,1,acme\n0,q,2,zenith\n", Columns())


def test_values_that_cannot_be_categories_are_refused(tmp_path: Path) -> None:
    """Fractions, very long texts, lists, and more values than LightGBM has bins are refused."""
    rows: dict[str, Any] = {"label": [1, 0], "query_id": ["a", "a"]}
    for column, detail in (
        (
            pa.array([1.0, 0.5]),
            r"row 2, column brand: expected a text, true, false or a whole number.*'0\.5'",
        ),
        (pa.array([1.0, 2.0**24 + 1], pa.float32()), "row 2, column brand: expected a text, true"),
        (pa.array(["x", "y" * 1_001]), "row 2, column brand: expected at most 1,000 characters"),
        (pa.array([[1], [2]]), "list"),
    ):
        pq.write_table(pa.table({**rows, "brand": column}), tmp_path / "data")
        with pytest.raises(DatasetError, match=detail):
            read_dataset(tmp_path / "data", columns=BRAND)
    wide = "label,query_id,brand\n" + "".join(f"1,q,{row}\n" for row in range(MAX_CATEGORIES + 1))
    with pytest.raises(DatasetError, match="at most 65,535 different values"):
        _read(tmp_path, wide)


def test_codes_are_translated_by_value() -> None:
    """Codes of another list become this list's codes of the same values; unknown values become missing."""
    ours, theirs = Categories(("a", "b", "c")), Categories(("c", "x", "a"))
    codes = np.array([0, 1, 2, np.nan, 7, -1], np.float32)
    np.testing.assert_array_equal(ours.recoded(codes, theirs), [2, np.nan, 0, np.nan, np.nan, np.nan])
    assert ours.recoded(codes, Categories(("a", "b", "c"))) is codes
    assert theirs.texts(codes) == ["c", "x", "a", None, None, None]
    np.testing.assert_array_equal(ours.codes(["b", "x", "c"]), [1, np.nan, 2])


def test_whole_numbers_are_looked_up_as_numbers() -> None:
    """If all values are whole numbers, a number is looked up as a value; otherwise it already is a code."""
    shops = Categories(("1001", "0", "-7"))
    numbers = np.array([0, 1001, 1, -7, np.nan, 1e30, np.inf, 0.5])
    np.testing.assert_array_equal(shops.codes_of_numbers(numbers), [1, 0, *[np.nan, 2], *[np.nan] * 4])
    for values in (("1001", "x"), ("01",), ("1.0",)):
        assert not Categories(values).are_numbers
        np.testing.assert_array_equal(Categories(values).codes_of_numbers(numbers), numbers)


@pytest.mark.parametrize("values", [("true", "false"), ("True", "False")])
def test_booleans_are_looked_up_as_numbers(values: tuple[str, ...]) -> None:
    """The client sends 1 for true, whose code depends on the file: values are coded as they appear."""
    numbers = [1.0, 0.0, 2.0, np.nan]
    for dtype in (np.float64, np.float32):
        codes = Categories(values).codes_of_numbers(np.array(numbers, dtype))
        np.testing.assert_array_equal(codes, [0, 1, np.nan, np.nan])
    codes_one_by_one = [Categories(values).code_of_number(number) for number in numbers]
    np.testing.assert_array_equal(codes_one_by_one, [0, 1, np.nan, np.nan])
    for others in (("true", "True"), ("true", "no")):
        np.testing.assert_array_equal(Categories(others).codes_of_numbers(np.array(numbers)), numbers)


def test_numbers_with_fractions_are_looked_up_as_numbers() -> None:
    """A model that LightGBM trained on a data frame may have such categories, as sizes of shoes are."""
    sizes = Categories(("36", "36.5", "0.1", "-1e-07"))
    numbers = [36.0, 36.5, 0.1, -1e-07, 37.0, np.nan, np.inf]
    expected = [0, 1, 2, 3, *[np.nan] * 3]
    for dtype in (np.float64, np.float32):
        np.testing.assert_array_equal(sizes.codes_of_numbers(np.array(numbers, dtype)), expected)
    np.testing.assert_array_equal([sizes.code_of_number(number) for number in numbers], expected)


def test_a_decimal_beyond_float64_is_a_text() -> None:
    """Its value as a number would be infinite, which is the value of no text."""
    digits = "1" * 400 + ".5"
    categories = Categories((digits, "2"))
    assert not categories.are_numbers
    assert categories.codes([digits, "2"]).tolist() == [0.0, 1.0]


def test_numbers_that_float32_rounds_are_unknown() -> None:
    """Otherwise a product would have the category of another product."""
    products = Categories(("20000000", "20000001", "7", str(2**24)))
    numbers = np.array([20_000_000, 20_000_001, 7, 2**24, 2**24 + 1])  # float32 rounds the last to 2^24
    codes = products.codes_of_numbers(numbers.astype(np.float64))
    np.testing.assert_array_equal(codes, [0, 1, 2, 3, np.nan])
    codes = products.codes_of_numbers(numbers.astype(np.float32))
    np.testing.assert_array_equal(codes, [np.nan, np.nan, 2, np.nan, np.nan])


def test_long_whole_numbers_are_looked_up_if_exact() -> None:
    """A float from 2^53 on may be another id, rounded; the number 1 is an id, not the code of one."""
    ids = Categories((str(2**53 + 1), str(2**60), "7", str(2**53), str(2**53 - 1)))
    exact = [ids.code_of_number(number) for number in (2**53 + 1, 2**60, 7, 7.0, 2.0**53 - 1)]
    assert exact == [0.0, 1.0, 2.0, 2.0, 4.0]
    floats = [7.0, 2.0**53 - 1, 1.0, 2.0**53, 2.0**60, 7.5, np.inf, np.nan]
    for codes in (ids.codes_of_numbers(np.array(floats)), list(map(ids.code_of_number, floats))):
        np.testing.assert_array_equal(codes, [2, 4, *[np.nan] * 6])
    np.testing.assert_array_equal(ids.codes_of_numbers(np.array([7, 1], np.float32)), [2, np.nan])
    huge = Categories((*ids.values, "9" * 60))  # beyond float32
    np.testing.assert_array_equal(
        huge.codes_of_numbers(np.array([7, 1, np.inf], np.float32)), [2, np.nan, np.nan]
    )


def test_names_and_values_of_categories_are_checked() -> None:
    """Categories must belong to features, and each value has one code."""
    for categories in ({"y": ["a"]}, {"f1": ["a", "a"]}):
        with pytest.raises(InvalidInput, match="/categories/"):
            RankingDataset.from_arrays([[0.0]], [1], [0, 1], categories=categories)
