"""Convert cells of a table to numbers, lists of numbers, texts and category codes."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from core.data.categories import MAX_CHARACTERS, Categories
from core.types import Float32Array, Float64Array, Int64Array
from rankery.identifiers import EXACT_LIMIT, exact_limit

# list: a list of numbers; category: whole numbers or booleans that the file declares as categories
Kind = Literal["number", "text", "list", "category", "other"]

# Missing values as pandas, R and SQL write them; an empty cell is missing, too.
_MISSING = ("", "NA", "N/A", "n/a", "<NA>", "#N/A", "NULL", "null", "None", "NaT")
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_NUMBER_OR_WORD = _NUMBER + r"|^[+-]?(?i:nan|inf|infinity)$"
_DECIMAL_COMMA = r"^[+-]?[0-9]*,[0-9]+$"
_WHOLE_NUMBER = r"^(0|-?[1-9][0-9]*)?$"
_LONG_NUMBER = r"^-?[0-9]{8,}$"  # float32 may round a whole number of eight digits
_MAX_FLOAT64 = np.finfo(np.float64).max
STRING_CHECKS = (
    types.is_string,
    types.is_large_string,
    types.is_string_view,
    types.is_binary,
    types.is_large_binary,
    types.is_binary_view,
)
_TEXT_CHECKS = (
    *STRING_CHECKS,
    types.is_fixed_size_binary,
    types.is_date,
    types.is_timestamp,
    types.is_time,
)
_LIST_CHECKS = (types.is_list, types.is_large_list, types.is_fixed_size_list)


@cache
def _missing_texts() -> Any:
    # Called lazily: the first array of a process makes pyarrow import pandas, if installed.
    return pa.array(_MISSING)


def kind_of(type: Any) -> Kind:
    """Return the kind of cells of an Arrow type."""
    if types.is_dictionary(type):
        kind = kind_of(type.value_type)
        return "other" if kind == "list" else kind
    if any(is_list(type) for is_list in _LIST_CHECKS):
        return "list" if kind_of(type.value_type) == "number" else "other"
    if (
        types.is_integer(type)
        or types.is_floating(type)
        or types.is_boolean(type)
        or types.is_decimal(type)
        or types.is_null(type)
    ):
        return "number"
    return "text" if any(is_text(type) for is_text in _TEXT_CHECKS) else "other"


def kind_of_texts(column: Any) -> Kind:
    """Classify cells of delimited text as numbers or texts, by the majority."""
    trimmed = pc.utf8_trim_whitespace(column)
    filled = trimmed.filter(pc.invert(pc.fill_null(pc.is_in(trimmed, _missing_texts()), True)))
    # Numbers with a decimal comma count as numbers, to be refused later with a specific message.
    numeric = [pc.match_substring_regex(filled, pattern) for pattern in (_NUMBER_OR_WORD, _DECIMAL_COMMA)]
    boolean = pc.is_in(pc.utf8_lower(filled), pa.array(["true", "false"]))
    matching = pc.sum(pc.or_(pc.or_(*numeric), boolean)).as_py() or 0
    return "number" if matching * 2 >= len(filled) else "text"


def numbers(column: Any) -> tuple[Float64Array, Int64Array]:
    """Convert cells, numbers or UTF-8 texts, to correctly rounded float64; true is 1, false is 0.

    Returns:
        float64 (n,), NaN where a cell is empty; a text with a finite number beyond the range of float64
        becomes ± the largest float64. Second, the positions of the cells that are not numbers.

    Raises:
        pyarrow.ArrowInvalid: Bytes are not UTF-8.
    """
    if types.is_dictionary(column.type):
        values, wrong = numbers(column.dictionary)
        codes = _codes(column)
        return np.append(values, np.nan)[codes], np.flatnonzero(np.isin(codes, wrong))
    if kind_of(column.type) == "number":
        return _float64(pc.cast(column, pa.float64(), safe=False)), np.empty(0, np.int64)
    if not types.is_string(column.type):  # Arrow does not parse numbers in bytes, dates and times
        column = texts(column)
    try:
        values, wrong = _float64(pc.cast(column, pa.float64())), np.empty(0, np.int64)
    except pa.ArrowInvalid:
        values, wrong = _numbers_of_mixed_texts(column)
    for position in np.flatnonzero(np.isinf(values)).tolist():
        if "i" not in column[position].as_py().lower():  # overflow of a finite number, not "inf"
            values[position] = np.copysign(_MAX_FLOAT64, values[position])
    return values, wrong


def category_texts(column: Any) -> tuple[Any, Int64Array]:
    """Convert cells to category values: texts, true and false, and exact whole numbers as `7`.

    Returns:
        large_string (n,), empty where a cell is empty; and the positions of the cells that are not such
        values.
    """
    if types.is_dictionary(column.type):
        values, wrong = category_texts(column.dictionary)
        codes = _codes(column)
        return plain_texts(values.take(column.indices)), np.flatnonzero(np.isin(codes, wrong))
    if not (types.is_floating(column.type) or types.is_decimal(column.type)):
        return plain_texts(column), np.empty(0, np.int64)
    values, _ = numbers(column)
    limit = EXACT_LIMIT if types.is_decimal(column.type) else exact_limit(column.type.to_pandas_dtype())
    is_whole = (values == np.floor(values)) & (np.abs(values) < limit)
    whole = pa.array(np.where(is_whole, values, 0.0).astype(np.int64), mask=~is_whole)
    return plain_texts(whole), np.flatnonzero(~(is_whole | np.isnan(values)))


def are_whole_numbers(column: Any) -> tuple[bool, bool]:
    """Return whether all cells are whole numbers or empty, and whether float32 may round one of them."""
    texts, invalid = category_texts(column)
    if len(invalid):
        return False, False
    are_whole = pc.all(pc.match_substring_regex(texts, _WHOLE_NUMBER), min_count=0).as_py()
    return are_whole, pc.any(pc.match_substring_regex(texts, _LONG_NUMBER), min_count=0).as_py()


def _codes(column: Any) -> Int64Array:
    """Return the indices of cells in their dictionary, -1 where they are null."""
    # Cast to int64, as unsigned indices cannot hold -1.
    return cast("Int64Array", pc.fill_null(column.indices.cast(pa.int64()), -1).to_numpy())


def plain_texts(column: Any) -> Any:
    """Convert cells to large_string, empty where they are null."""
    plain = texts(column)
    if types.is_dictionary(plain.type):
        plain = plain.dictionary_decode()
    filled = pc.fill_null(plain, "")
    filled.validate(full=True)
    return filled


def texts(column: Any) -> Any:
    """Convert cells to large_string; a dictionary array stays a dictionary array."""
    if types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, texts(column.dictionary))
    return pc.cast(column, pa.large_string())


def cell_text(column: Any, position: int) -> str:
    """Format a cell for a message."""
    value = column[position].as_py()
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return "" if value is None else str(value)


def are_decimal_commas(column: Any) -> npt.NDArray[np.bool_]:
    """Return the mask of cells that are numbers with a decimal comma."""
    trimmed = pc.utf8_trim_whitespace(plain_texts(column))
    mask: npt.NDArray[np.bool_] = pc.match_substring_regex(trimmed, _DECIMAL_COMMA).to_numpy(
        zero_copy_only=False
    )
    return mask


def _numbers_of_mixed_texts(column: Any) -> tuple[Float64Array, Int64Array]:
    """Convert texts as `numbers` does, if some are blank, missing, true, false or no numbers."""
    trimmed = pc.utf8_trim_whitespace(column)
    lower = pc.utf8_lower(trimmed)
    for word, digit in (("true", "1"), ("false", "0")):
        truth = pc.equal(lower, pa.scalar(word, lower.type))
        trimmed = pc.if_else(truth, pa.scalar(digit, lower.type), trimmed)
    missing = pc.or_kleene(pc.is_null(trimmed), pc.is_in(trimmed, pc.cast(_missing_texts(), trimmed.type)))
    number = pc.fill_null(pc.match_substring_regex(trimmed, _NUMBER_OR_WORD), False)
    wrong = pc.invert(pc.or_(number, missing))
    written = pc.if_else(number, trimmed, pa.scalar(None, trimmed.type))
    return _float64(pc.cast(written, pa.float64())), np.flatnonzero(wrong.to_numpy(zero_copy_only=False))


def _float64(column: Any) -> Float64Array:
    values = column.to_numpy(zero_copy_only=False)
    return cast("Float64Array", values if values.flags.writeable else values.copy())


@dataclass(frozen=True, eq=False)
class CategoryCodes:
    """Category codes of a block of cells.

    Attributes:
        codes: float32 (n,), NaN where a cell is empty or invalid, infinite where a text is too long.
        invalid: Positions of cells that are neither a text nor a whole number.
        too_long: Positions of cells whose text is too long.
    """

    codes: Float32Array
    invalid: Int64Array
    too_long: Int64Array


class CategoryColumn:
    """Assigns codes to values in the order of first appearance."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def categories(self) -> Categories:
        """Values of all blocks so far."""
        return Categories(tuple(self._codes))

    def take(self, column: Any) -> CategoryCodes:
        """Return the codes of a block's cells."""
        values, invalid = category_texts(column)
        encoded: Any = pc.dictionary_encode(values)
        distinct = np.array([self._code(value) for value in encoded.dictionary.to_pylist()], np.float32)
        codes = distinct[encoded.indices.to_numpy()]
        return CategoryCodes(codes, invalid, np.flatnonzero(np.isinf(codes)))

    def _code(self, value: str) -> float:
        if not value:
            return np.nan
        if len(value) > MAX_CHARACTERS:
            return np.inf  # refused by the reader of the column
        return self._codes.setdefault(value, len(self._codes))


_NULL = -1


@dataclass(frozen=True, eq=False)
class NumberLists:
    """The lists of a block of rows.

    Attributes:
        values: (n_rows, width), NaN where a list or number is null, and where a list has the wrong length.
        lengths: (n_rows,) length of each list, -1 where the list is null.
    """

    values: Float64Array
    lengths: Int64Array
    wrong_length: Int64Array


def read_lists(column: Any, width: int) -> NumberLists:
    """Read a column of lists of numbers as a matrix.

    Args:
        column: Lists of any kind; see `cells.kind_of`.
    """
    lengths = list_lengths(column)
    has_width = lengths == width
    wrong_length = np.flatnonzero(~has_width & (lengths != _NULL))
    whole = column.filter(pa.array(has_width)) if len(wrong_length) else column
    values, _ = numbers(pc.list_flatten(whole))  # leaves null lists out
    rows = values.reshape(-1, width)
    if not has_width.all():
        rows = np.full((len(column), width), np.nan)
        rows[has_width] = values.reshape(-1, width)
    return NumberLists(rows, lengths, wrong_length)


def list_lengths(column: Any) -> Int64Array:
    """Return the length of each list, -1 where the list is null."""
    lengths: Any = pc.fill_null(pc.list_value_length(column), _NULL)
    return np.asarray(lengths.to_numpy(zero_copy_only=False), np.int64)
