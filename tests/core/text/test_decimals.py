"""Decimal text becomes the float64 that Python makes of it."""

import json
import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.jit import exact_nonallocating
from core.text.bytes_kernel import Text
from core.text.decimal_kernel import CUT, MALFORMED, ROUNDED, read_decimal, read_short_decimal
from tests.examples import examples

# Limits of the subnormal and the normal numbers, midpoints to their neighbours, and values far beyond.
EDGES = (
    *("5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "-1e-400", "1e-99999999999999999999"),
    *("2.2250738585072011e-308", "2.2250738585072012e-308", "2.2250738585072014e-308", "4.5e-320"),
    *("1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "-1e309", "9e9999999999"),
    *("9007199254740993", "9007199254740992.5", "1e22", "1e23", "8.5e-23", "9223372036854775807"),
    *("9999999999999999999", "0.4999999999999999999", "999999999999999", "1000000000000000", "0", "-0.0e5"),
    *(f"0.{'0' * zeros}1e{zeros + 1}" for zeros in (20, 400, 200_000)),
)


@exact_nonallocating
def _read(text: Text, size: int, json: bool) -> tuple[int, int, float]:
    return read_decimal(text, np.uint64(0), np.uint64(size), json)  # type: ignore[no-any-return]


@exact_nonallocating
def _read_short(text: Text, size: int) -> tuple[bool, int, float]:
    return read_short_decimal(text, np.uint64(0), np.uint64(size))  # type: ignore[no-any-return]


def _decimal(text: str, *, json: bool = False) -> tuple[int, float]:
    content = text.encode() + bytes(8)
    kind, stop, value = _read(np.frombuffer(content, np.uint8), len(content) if json else len(text), json)
    return (kind, value) if stop == len(text) else (MALFORMED, 0.0)


def _bits(value: float) -> bytes:
    return struct.pack("<d", value)


@pytest.mark.long
@pytest.mark.parametrize("json", [False, True])
@pytest.mark.parametrize("text", EDGES)
def test_edges_are_rounded_correctly(text: str, json: bool) -> None:
    """Subnormal numbers and infinity are correct, too, in both grammars."""
    kind, value = _decimal(text, json=json)
    assert (kind, _bits(value)) == (ROUNDED, _bits(float(text)))


@pytest.mark.long
@settings(max_examples=examples(2000))
@given(st.integers(0, 10**19 - 1), st.integers(-400, 400), st.integers(0, 1))
def test_19_digits_are_always_rounded_correctly(mantissa: int, exponent: int, sign: int) -> None:
    """Any exponent is read, without a general parser as a fallback."""
    text = f"{'-' * sign}{mantissa}e{exponent}"
    kind, value = _decimal(text)
    assert (kind, _bits(value)) == (ROUNDED, _bits(float(text)))


@pytest.mark.long
@settings(max_examples=examples(1000))
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_that_python_writes_are_read_back(number: float) -> None:
    """Numbers are equal bit for bit, in both grammars."""
    assert _bits(_decimal(repr(number))[1]) == _bits(number)
    assert _bits(_decimal(repr(number), json=True)[1]) == _bits(number)


@pytest.mark.long
@settings(max_examples=examples(1000))
@given(st.integers(10**19, 10**60), st.integers(-400, 400))
def test_more_than_19_digits_are_read_to_the_next_number(digits: int, exponent: int) -> None:
    """The value is the correctly rounded number or the float directly below."""
    text = f"{digits}e{exponent}"
    kind, value = _decimal(text)
    assert kind == CUT
    assert float(text) in (value, math.nextafter(value, math.inf))


@pytest.mark.long
@settings(max_examples=examples(1000))
@given(st.text("0123456789.eE+-", min_size=1, max_size=9))
def test_numbers_follow_the_grammar_of_python_or_json(text: str) -> None:
    """The grammars are that of Python's `float` without a leading +, and that of JSON."""
    for read, is_json in ((float, False), (json.loads, True)):
        try:
            expected = float(read(text)) if text[0] != "+" else None
        except ValueError:
            expected = None
        kind, value = _decimal(text, json=is_json)
        assert (kind != MALFORMED) == (expected is not None)
        if expected is not None:
            assert value == expected


@pytest.mark.parametrize("text", ["1", "-0.5", ".5", "12345678.1234567", "0.00000000000001", "-0", "7."])
def test_short_numbers_end_where_the_text_ends(text: str) -> None:
    """The bytes after the text, which are digits here, are not read."""
    content = np.frombuffer(text.encode() + b"99999999", np.uint8)
    short, stop, value = _read_short(content, len(text))
    assert (short, stop, _bits(value)) == (True, len(text), _bits(float(text)))


@pytest.mark.parametrize("text", ["", "-", ".", "x", "1234567890123456", "0.000000000000001"])
def test_long_and_invalid_numbers_are_not_short(text: str) -> None:
    """More than 15 digits may not be exact in float64."""
    assert not _read_short(np.frombuffer(text.encode() + bytes(8), np.uint8), len(text))[0]
