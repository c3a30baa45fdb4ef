"""Find cells of data frames with an unexpected type, and name them in messages."""

import sys
import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from rankery.errors import DataUnusable, DataWarning
from rankery.identifiers import EXPECTED, NormalisedIds, exact_limit, several_spellings

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_SHOWN_NAMES = 8
_SHOWN_CHARACTERS = 40


def warn(text: str) -> None:
    """Issue a warning with the location of the code that called the client."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("rankery."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, DataWarning, stacklevel=level)


def warn_of_spellings(where: str, ids: Any, normalised: NormalisedIds) -> None:
    """Warn about ids that are spelled in several ways, and are read as one id.

    Args:
        where: The column or the argument.
        ids: Argument of `rankery.identifiers.normalise_ids`.
        normalised: Result of `rankery.identifiers.normalise_ids`.
    """
    several = several_spellings(ids, normalised)
    if several:
        one, ids_are = several[0], "id is" if len(several) == 1 else "ids are"
        warn(
            f"{where}: {len(several):,} {ids_are} spelled in several ways; {one} and {one}.0 count as one id."
            f" If they are different ids, write texts such as v{one} and v{one}.0"
        )


def row_text(frame: Any, row: int) -> str:
    """Return the position of a row from 0, and its label in a pandas index if that differs."""
    index = getattr(frame, "index", None) if type(frame).__module__.startswith("pandas") else None
    label = row if index is None else index[row]
    label = label.item() if hasattr(label, "item") else label
    return f"row {row}" if label == row else f"row {row} (index {label!r})"


def listed(names: Any) -> str:
    """Join names into one text; a long list is shortened to its first names."""
    names = [str(name) for name in names]
    return ", ".join(names[:_SHOWN_NAMES]) + (", …" if len(names) > _SHOWN_NAMES else "")


def suggestion(name: str, names: Any) -> str:
    """Return "; did you mean …?" for the nearest name; empty if none is near."""
    matches = get_close_matches(name.lower(), [str(one).lower() for one in names], n=1, cutoff=0.65)
    near = next((one for one in names if matches and str(one).lower() == matches[0]), None)
    return "" if near is None else f"; did you mean {near!r}?"


def is_text(kind: "pa.DataType") -> bool:
    """Return whether a column holds texts."""
    from rankery.client.frames.arrow import pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def text_columns(table: "pa.Table") -> list[str]:
    """Return the names of the columns that hold texts."""
    return [field.name for field in table.schema if is_text(field.type)]


def is_whole_number(kind: "pa.DataType") -> bool:
    """Return whether a column holds whole numbers."""
    from rankery.client.frames.arrow import pa

    return bool(pa.types.is_integer(kind))


def is_number(kind: "pa.DataType") -> bool:
    """Return whether a column holds numbers or booleans."""
    from rankery.client.frames.arrow import pa

    return is_whole_number(kind) or bool(pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def are_categories(column: "pa.ChunkedArray[Any]") -> bool:
    """Return whether values of a categorical type are categories: floats must be whole and exact."""
    from rankery.client.frames.arrow import np, pa

    if not pa.types.is_floating(column.type):
        return True
    values = np.asarray(column.drop_null())
    present = values[~np.isnan(values)]
    is_exact = np.abs(present) < exact_limit(values.dtype)
    return bool(len(present) and ((present == np.floor(present)) & is_exact).all())


def refuse_invalid_ids(
    frame: Any, name: str, column: "pa.ChunkedArray[Any]", normalised: NormalisedIds
) -> None:
    """Refuse a column of ids with a value that is not an id; the error has the first one.

    Args:
        normalised: Result of `rankery.identifiers.normalise_ids` for the column.

    Raises:
        DataUnusable: A value is not an id.
    """
    for row in normalised.invalid[:1].tolist():
        raise DataUnusable(
            f"{row_text(frame, row)}, column {name!r}: expected {EXPECTED}, but found {column[row].as_py()!r}"
        )


def first_missing(column: "pa.ChunkedArray[Any] | pa.Array[Any]") -> int | None:
    """Return the first row that is null or NaN; None if each has a value."""
    from rankery.client.frames.arrow import np, pa, pc

    floating = pa.types.is_floating(column.type)
    missing = np.asarray(pc.is_null(column, nan_is_null=floating))
    return int(np.argmax(missing)) if missing.any() else None


def texts_among_numbers(column: "pa.ChunkedArray[Any]") -> "tuple[np.ndarray[Any, Any], int]":
    """Return the rows of a text column whose text is not a number, and the count of numeric texts.

    Args:
        column: Column of texts; nulls and empty texts count as neither.
    """
    from rankery.client.frames.arrow import np, pa, pc

    trimmed: Any = pc.utf8_trim_whitespace(column)
    pattern = r"^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$|^(?i:nan|[-+]?inf(inity)?)$"
    numbers = _flags(pc.match_substring_regex(trimmed, pattern))
    filled = _flags(pc.not_equal(trimmed, pa.scalar("", trimmed.type)))
    return np.flatnonzero(filled & ~numbers), int(numbers.sum())


def refuse_text(frame: Any, name: str, column: "pa.ChunkedArray[Any]", further_advice: str = "") -> None:
    """Refuse texts among numbers in a column; the error has the first text that is not a number.

    Args:
        further_advice: End of the message.

    Raises:
        DataUnusable: Some texts of the column are not numbers, but at least half of them are.
    """
    words, n_numbers = texts_among_numbers(column)
    if 0 < len(words) <= n_numbers:
        row = int(words[0])
        raise not_a_number(frame, name, row, column[row].as_py(), further_advice)


def not_a_number(frame: Any, name: str, row: int, value: Any, further_advice: str = "") -> DataUnusable:
    """Return the error of a cell that holds a text among numbers."""
    return DataUnusable(
        f"{row_text(frame, row)}, column {name!r}: expected a number,"
        f" but found {_short(value)}; use NaN for a missing value,"
        f" or name the column in columns={{'ignore': [{name!r}]}}{further_advice}"
    )


def mixed_cell(frame: Any) -> DataUnusable | None:
    """Return the error of the first pandas column that mixes texts and numbers; None if there is none."""
    if not type(frame).__module__.startswith("pandas"):
        return None
    for name in frame.columns:
        values = frame[name]
        if str(getattr(values, "dtype", "")) != "object":
            continue
        is_text_cell = [isinstance(value, str) for value in values]
        n_texts = sum(is_text_cell)
        n_numbers = sum(isinstance(value, int | float) and value == value for value in values)
        if n_texts and n_numbers:
            texts_are_fewer = n_texts <= n_numbers
            row = (
                is_text_cell.index(True)
                if texts_are_fewer
                else next(
                    index
                    for index, value in enumerate(values)
                    if isinstance(value, int | float) and value == value
                )
            )
            value = values.iloc[row]
            if texts_are_fewer:
                error = not_a_number(frame, str(name), row, value)
                return DataUnusable(
                    f"{error}; if it has ids, convert them to texts: frame[{name!r}].astype(str)"
                )
            return DataUnusable(
                f"{row_text(frame, row)}, column {name!r}: expected a text as in other rows,"
                f" but found {value!r}; convert the column: frame[{name!r}].astype(str)"
            )
    return None


def _flags(values: Any) -> Any:
    from rankery.client.frames.arrow import pc

    return pc.fill_null(values, False).to_numpy()


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
