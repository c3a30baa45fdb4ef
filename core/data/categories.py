"""The values of categorical features, and their codes in a matrix."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.types import Float32Array, Float64Array, FloatArray
from rankery.identifiers import EXACT_LIMIT, exact_limit

MAX_CATEGORIES = 65_535  # maximum number of bins in LightGBM
MAX_CHARACTERS = 1_000  # of a value
FLOAT32_EXACT_LIMIT = 2**24  # float32 represents every whole number below it, and rounds none to these
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,14}")  # float64 represents all of them exactly
_LONG_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]*")
_INTEGERS = ((-(2**63), 2**63 - 1), (0, 2**64 - 1))  # int64 and uint64
_FRACTION = re.compile(r"-?[0-9]+\.[0-9]+|-?[0-9]+(\.[0-9]+)?e-[0-9]+")  # as Python writes them
_BOOLEANS = {"false": 0.0, "true": 1.0}  # in lower case, as Parquet has them; CSV files have others


@dataclass(frozen=True)
class Categories:
    """The values of a categorical feature: the code of a value is its position.

    Attributes:
        values: The different values, in the order of their codes.

    Example:
        >>> brands = Categories(("acme", "zenith"))
        >>> brands.code("zenith"), brands.code("unseen")
        (1.0, nan)
        >>> Categories(("1001", "7")).codes_of_numbers(np.array([7.0, 8.0, np.nan])).tolist()
        [1.0, nan, nan]
        >>> Categories(("True", "False")).code_of_number(1.0)
        0.0
    """

    values: tuple[str, ...]

    @cached_property
    def typed_values(self) -> list[bool] | list[int] | list[str]:
        """Return the values as data frames hold them: booleans, integers of 64 bits, else texts."""
        if set(self.values) <= _BOOLEANS.keys():
            return [bool(_BOOLEANS[value]) for value in self.values]
        if all(map(_LONG_WHOLE_NUMBER.fullmatch, self.values)):
            numbers = list(map(int, self.values))
            if any(low <= min(numbers) and max(numbers) <= high for low, high in _INTEGERS):
                return numbers
        return list(self.values)

    @cached_property
    def are_numbers(self) -> bool:
        """Return whether all values are numbers, or booleans, so that numbers can be looked up, too."""
        return all(map(_is_number, self.values)) or self._are_booleans

    @cached_property
    def are_long_whole_numbers(self) -> bool:
        """Return whether all values are whole numbers, and some have more digits than float64 represents."""
        return not self.are_numbers and all(map(_LONG_WHOLE_NUMBER.fullmatch, self.values))

    @cached_property
    def are_texts(self) -> bool:
        """Return whether values are neither numbers nor booleans, so that a number is a code."""
        return not self.values or not (self.are_numbers or self.are_long_whole_numbers)

    @cached_property
    def _are_booleans(self) -> bool:
        lower = {value.lower() for value in self.values}
        return len(lower) == len(self.values) and lower <= _BOOLEANS.keys()

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {value: code for code, value in enumerate(self.values)}

    @cached_property
    def _numbers(self) -> list[float]:
        """Return the values as numbers."""
        if self._are_booleans:
            return [_BOOLEANS[value.lower()] for value in self.values]
        return list(map(float, self.values))

    @cached_property
    def _codes_by_number(self) -> dict[float, float]:
        return {number: float(code) for code, number in enumerate(self._numbers)}

    @cached_property
    def _ordered_numbers(self) -> tuple[Float64Array, Float32Array]:
        """Return the values as numbers in ascending order, NaN where rounded, and the code of each."""
        numbers = np.array(self._numbers, np.float64)
        numbers[np.abs(numbers) >= EXACT_LIMIT] = np.nan
        order = np.argsort(numbers, kind="stable")
        return numbers[order], order.astype(np.float32)

    def code(self, value: str) -> float:
        """Return the code of a value, NaN where the value is unknown."""
        return float(self._positions.get(value, np.nan))

    def code_of_number(self, number: float) -> float:
        """Return the code of a number; the number itself where the categories are not numbers.

        A float from 2^53 on may be another number, rounded, and counts as unknown.
        """
        if self.are_texts:
            return number
        if self.are_long_whole_numbers:
            is_exact = isinstance(number, int) or (number.is_integer() and abs(number) < EXACT_LIMIT)
            return self.code(str(int(number))) if is_exact else math.nan
        return self._codes_by_number.get(number, math.nan)

    def codes(self, values: Iterable[str]) -> Float32Array:
        """Return the code of each value, NaN where the value is unknown."""
        return np.array([self._positions.get(value, np.nan) for value in values], np.float32)

    def codes_of_texts(self, texts: Any) -> Float32Array:
        """Return the codes of an Arrow (dictionary) array of texts, NaN where a text is null or unknown."""
        if pa.types.is_dictionary(texts.type):
            of_dictionary = np.append(self.codes_of_texts(texts.dictionary), np.float32(np.nan))
            indices: Any = pc.fill_null(texts.indices.cast(pa.int64()), len(texts.dictionary))
            codes: Float32Array = of_dictionary[indices.to_numpy()]
            return codes
        positions: Any = pc.index_in(texts, value_set=pa.array(self.values, texts.type))
        return np.asarray(pc.cast(positions, pa.float32()).to_numpy(zero_copy_only=False), np.float32)

    def codes_of_numbers(self, numbers: FloatArray) -> FloatArray:
        """Return the codes of a column of numbers; the column itself where the categories are not numbers.

        Args:
            numbers: (n,) numbers, or codes where the values are texts; NaN where missing. Numbers from 2^53
                on may be rounded and count as unknown, in float32 those from 2^24 on.
        """
        if self.are_texts:
            return numbers
        values, codes = self._ordered_numbers
        values = values.astype(numbers.dtype)
        positions = np.minimum(np.searchsorted(values, numbers), len(values) - 1)
        # A larger number may be that of another category, rounded.
        is_known = (values[positions] == numbers) & (np.abs(numbers) < exact_limit(numbers.dtype))
        return np.where(is_known, codes[positions], np.float32(np.nan))

    def recoded(self, codes: Float32Array, source: "Categories") -> Float32Array:
        """Translate codes of the categories `source` into codes of these categories, by value."""
        if self.values == source.values:
            return codes
        translation = np.append(self.codes(source.values), np.float32(np.nan))
        return translation[_positions_in(codes, len(source.values))]

    def numbers(self, codes: Float32Array) -> Float32Array:
        """Return the number of each code; NaN where it is missing or unknown, and where values are texts."""
        numbers = [] if self.are_texts else self._numbers
        return np.array([*numbers, np.nan], np.float32)[_positions_in(codes, len(numbers))]

    def texts(self, codes: FloatArray) -> list[str | None]:
        """Return the value of each code, None where it is missing or unknown."""
        values = (*self.values, None)
        return [values[position] for position in _positions_in(codes, len(self.values)).tolist()]


def categories_of(values: Mapping[str, Sequence[str]]) -> Mapping[str, Categories]:
    """Return categories by feature from lists of values."""
    return MappingProxyType({name: Categories(tuple(each)) for name, each in values.items()})


def values_by_feature(categories: Mapping[str, Categories]) -> dict[str, list[str]]:
    """Return plain lists of values by feature, for `categories_of`."""
    return {name: list(each.values) for name, each in categories.items()}


def _is_number(text: str) -> bool:
    if _WHOLE_NUMBER.fullmatch(text):
        return True
    return bool(_FRACTION.fullmatch(text)) and _text_of_number(float(text)) == text


def _text_of_number(number: float) -> str:
    return str(int(number)) if number.is_integer() else str(number)


def _positions_in(codes: FloatArray, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return codes as integers, `size` where a code is missing or unknown."""
    is_known = (codes >= 0) & (codes < size)
    return np.where(is_known, codes, size).astype(np.int64)
