"""Decimal text becomes the float32 that Python and numpy make of it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.data.letor import read_letor
from core.data.number_kernel import DECIDED, MALFORMED, TOO_LARGE, UNDECIDED, read_number
from core.errors import DatasetError
from core.jit import exact_nonallocating
from core.text.bytes_kernel import Text
from tests.examples import examples


@exact_nonallocating
def _read_number(text: Text) -> tuple[int, int, float]:
    return read_number(text, np.uint64(0), np.uint64(len(text)))  # type: ignore[no-any-return]


def _parse(text: str) -> tuple[int, float]:
    kind, stop, value = _read_number(np.frombuffer(text.encode(), np.uint8))
    return (kind, value) if stop == len(text.encode()) else (MALFORMED, 0.0)


def _read(text: str) -> np.float32:
    content = np.frombuffer(f"0 qid:1 1:{text}".encode(), np.uint8)
    value: np.float32 = read_letor(content, "x").dataset.matrix[0, 0]
    return value


def _expected(text: str) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(float(text))


def _halfway(number: float) -> str:
    """Return the exact decimal halfway between a positive float32 and the next."""
    low = np.float32(number)
    middle = (Fraction(float(low)) + Fraction(float(np.nextafter(low, np.float32(np.inf))))) / 2
    places = middle.denominator.bit_length()  # a fraction over 2**k has k decimal places
    digits = str(middle.numerator * 10**places // middle.denominator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}"


_HALFWAY = [_halfway(number) for number in (1.0, 0.1, 3.5, 123456.7, 1e-30, 1e-42, 1e-45, 3e38)]
_EDGE_CASES = [
    "0", "-0", "+0", "0.0", "-0.0e5", "0e999999999999999999999", "1", "-1", "+1.5", ".5", "-.5", "5.",
    "1e5", "1E+5", "1e-5", "007", "0.1", "0.2", "0.3", "3.4028234663852886e38", "3.4028235e38",
    "3.40282356e38", "1e-45", "7e-46", "7.1e-46", "7.006492321624085e-46", "7.0064923216240853e-46",
    "7.0064923216240854e-46", "1.401298464324817e-45", "1e-46", "1e-50", "-1e-60", "1e-400",
    "1e-99999999999999999999", "1.17549435e-38", "1.1754942e-38", "16777217", "16777219",
    "9007199254740993", "9007199791611905", "123456789012345678", "1234567890123456789",
    "12345678901234567890123456789", "0.000000000000000000000000000000000000000000001",
    "1.00000005960464477539062", "1.00000005960464477539063", "1.000000059604644775390625",
    "1.0000000596046447753906250000000000000000001", "1.000000059604644775",
    "0.333333333333333333333333333333", "6.520804200793011e-08", "1.137926713209065e-06", "8388608.5",
    "8388609.5", "33554434.000000000000001", "1e22", "1e23", "123456789e22", "9007199254740992e22",
    "9007199254740993e-22",
]  # fmt: skip
_LONG = ["1" + "0" * 38, "0." + "0" * 400 + "1e401", "1" + "0" * 400 + "e-400"]


@pytest.mark.parametrize("text", [*_EDGE_CASES, *_LONG, *_HALFWAY, *(f"{text}1" for text in _HALFWAY)])
def test_edge_cases_round_as_numpy_rounds_them(text: str) -> None:
    """Halfway cases, subnormals, long mantissas and huge exponents give np.float32(float(text))'s bits."""
    assert _read(text).tobytes() == _expected(text).tobytes()


@pytest.mark.parametrize(
    "text",
    [text for text in _HALFWAY if len(text.strip("0.")) > 20 and float(_expected(text)) < Fraction(text)],
)
def test_long_halfway_cases_are_left_to_python(text: str) -> None:
    """The first 19 digits round down, and the kernel does not guess whether the others round up."""
    assert _parse(text)[0] == UNDECIDED


@pytest.mark.parametrize("sign", ["", "-"])
def test_float32_is_rounded_from_float64(sign: str) -> None:
    """Direct rounding would give the upper number; numpy, scikit-learn and scoring read the lower one."""
    text = "1.00000005960464478"
    lower = np.float32(1)
    upper = np.nextafter(lower, np.float32(2))
    assert Fraction(text) - Fraction(float(lower)) > Fraction(float(upper)) - Fraction(text)
    assert _read(sign + text) == np.float32(float(sign + text)) == np.float32(sign + "1")


@pytest.mark.long
@settings(max_examples=examples(1000))
@given(st.one_of(st.floats(-3e38, 3e38).map(repr), st.decimals(-(10**30), 10**30).map(str)))
def test_any_decimal_rounds_as_numpy_rounds_it(text: str) -> None:
    """Each number that the kernel decides has the bits of np.float32(float(text))."""
    kind, value = _parse(text)
    assert kind in (DECIDED, UNDECIDED)
    if kind == DECIDED:
        assert np.float32(value).tobytes() == _expected(text).tobytes()


@pytest.mark.long
@settings(max_examples=examples(1000))
@given(st.floats(2.0**-149, 2.0**127, width=32), st.integers(-2, 2), st.integers(1, 40))
def test_decimals_near_a_halfway_point_round_as_numpy_rounds_them(low: float, step: int, places: int) -> None:
    """A halfway decimal that is cut, or changed in its last place, is not rounded to the wrong neighbour."""
    halfway = Fraction(_halfway(low))
    exponent = int(f"{float(low):e}".split("e")[1]) - places
    text = f"{round(halfway / Fraction(10) ** exponent) + step}e{exponent}"
    kind, value = _parse(text)
    if kind == DECIDED:
        assert np.float32(value).tobytes() == _expected(text).tobytes()


@pytest.mark.long
@settings(max_examples=examples(2000))
@given(st.integers(0, 10**40), st.integers(0, 40), st.integers(-60, 60), st.sampled_from(("", "-", "+")))
def test_decimals_of_any_length_round_as_numpy_rounds_them(
    digits: int, places: int, exponent: int, sign: str
) -> None:
    """Numbers have up to 41 digits, the point anywhere among them, with an exponent or without."""
    written = str(digits).rjust(places + 1, "0")
    plain = f"{sign}{written[: len(written) - places]}.{written[len(written) - places :]}"
    for text in (plain, f"{plain}e{exponent}"):
        kind, value = _parse(text)
        expected = _expected(text)
        assert kind == UNDECIDED or (kind == TOO_LARGE) == np.isinf(expected)
        if kind == DECIDED:
            assert np.float32(value).tobytes() == expected.tobytes()


@given(st.text("0123456789.eE+-_xnaif ", max_size=8))
def test_a_number_has_the_grammar_of_pythons_float(text: str) -> None:
    """The grammar is that of Python's float without underscores and surrounding blanks."""
    try:
        float(text)
        readable = "_" not in text and text == text.strip()
    except ValueError:
        readable = False
    assert (_parse(text)[0] != MALFORMED) == readable


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "+NAN"])
def test_nan_is_a_missing_feature(text: str) -> None:
    """A feature spelled nan, in any case, is NaN."""
    assert np.isnan(_read(text))


def test_more_halfway_numbers_than_the_buffer_holds_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the buffer of rows that are left to Python is full, the block is parsed again with a larger one."""
    monkeypatch.setattr("core.data.rows._UNDECIDED_CAPACITY", 4)
    rows = "\n".join(f"{_HALFWAY[0]} qid:{i // 3} 1:{_HALFWAY[1]} 2:{i} 3:{_HALFWAY[2]}" for i in range(50))
    dataset = read_letor(np.frombuffer(rows.encode(), np.uint8), "x").dataset
    assert dataset.labels.tolist() == [_expected(_HALFWAY[0])] * 50
    assert dataset.matrix.tolist() == [
        [_expected(_HALFWAY[1]), float(i), _expected(_HALFWAY[2])] for i in range(50)
    ]


def test_rows_left_to_python_may_hold_anything_else() -> None:
    """A wrong token after a halfway number is reported as usual, and odd bytes in the query id are kept."""
    halfway = _HALFWAY[0]
    content = f"{halfway} qid:a\x01b 1:{halfway}#x\n{halfway} 1:2\n{halfway} qid:1 1:{halfway} x:1\n".encode()
    with pytest.raises(DatasetError) as caught:
        read_letor(np.frombuffer(content, np.uint8), "x")
    assert [(problem.line, problem.text) for problem in caught.value.problems] == [(2, "1:2"), (3, "x:1")]
    dataset = read_letor(np.frombuffer(content[: content.index(b"\n")], np.uint8), "x").dataset
    assert (dataset.query_ids, dataset.matrix.tolist()) == (("a\x01b",), [[_expected(halfway)]])


def test_rows_left_to_python_may_have_ids_with_many_zeros() -> None:
    """Python does not convert texts of more than 4,300 digits to int."""
    text = f"0 qid:1 {'0' * 5_000}2:{_HALFWAY[0]}"
    found = read_letor(np.frombuffer(text.encode(), np.uint8), "x").dataset
    assert found.matrix.tolist() == [[0.0, _expected(_HALFWAY[0])]]


@pytest.mark.parametrize("text", ["3.4028235677973366163753939545814e38", "1e39", "1e9999", "1" + "0" * 50])
def test_values_beyond_float32_are_refused(text: str) -> None:
    """A number that would round to infinity is an error, even if it is only slightly too large."""
    with pytest.raises(DatasetError, match="within float32's range"):
        _read(text)


@pytest.mark.long
def test_many_numbers_read_as_numpy_reads_them() -> None:
    """Random decimals of every usual shape, in one file, have the bits of np.float32(float(text))."""
    generator = np.random.default_rng(5)
    values = generator.standard_normal(400_000) * 10.0 ** generator.integers(-9, 9, 400_000)
    shapes = ("%.6f", "%.0f", "%r", "%.3e", "%.12g", "%.17g", "%.8f", "%+.1f")
    texts = [shapes[i % len(shapes)] % value for i, value in enumerate(values.tolist())]
    rows = [texts[i : i + 100] for i in range(0, len(texts), 100)]
    lines = [
        f"0 qid:{i // 9} " + " ".join(f"{j + 1}:{t}" for j, t in enumerate(r)) for i, r in enumerate(rows)
    ]
    content = np.frombuffer("\n".join(lines).encode(), np.uint8)
    found = read_letor(content, "x", threads=2).dataset.matrix
    expected = np.array(list(map(float, texts))).astype(np.float32).reshape(found.shape)
    assert found.tobytes() == expected.tobytes()
