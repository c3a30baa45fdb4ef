"""Numbers out of JSON, against Python's own parser."""

import json
import math
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.json_values import FeatureReader, read_arrays
from core.json_values.name_hash import name_hash
from core.types import Float64Array, Int64Array
from tests.examples import examples

NAMES = ("bm25", "b", "page rank", 'a "quoted" one', "größe", "features", "a name beyond eight bytes")
READER = FeatureReader("features", NAMES)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**18), 10**18) | st.none()
BLANKS = st.text(" \t\n\r", max_size=2)
# Midpoints between two floats and their neighbours, extreme values, and unusual spellings.
SPELLINGS = (
    *(
        "0",
        "-0",
        "-0.0",
        "0e0",
        "1E5",
        "1e+05",
        "1e-05",
        "-1.50e-3",
        "123456789012345678",
        "0.1000000000000000000",
    ),
    *("9007199254740993", "9007199254740992.5", "4503599627370497.5", "4503599627370496.5", "1e22", "1e23"),
    *("8.9e307", "2.2250738585072014e-308", "0.00000000000000000000000012345678901234567"),
    *("9223372036854775807", "18446744073709551615", "3.4028236e38", "1.00000017881393432617187499"),
)
# Text that a damaged document may have in place of features or beside them.
NOISE = (
    '"\\u0066eatures":0',
    '"\\u0066eatures":null,',
    '"features":{},',
    '"features":null',
    "0",
    "null",
    "7,",
)
MALFORMED = (
    "01",
    "-",
    "+1",
    ".5",
    "5.",
    "1e",
    "1e+",
    "0x1",
    "1_0",
    "--1",
    "nul",
    "nulll",
    "NaN",
    "Infinity",
    "1 2",
    "",
)


def _bits(value: float) -> bytes:
    return struct.pack("<d", value)


@pytest.mark.long
@settings(max_examples=examples(500))
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_numbers_are_read_as_python_reads_them(values: list[float]) -> None:
    """Numbers are equal bit for bit, whatever the sign and the exponent."""
    found = read_arrays(json.dumps({"data": values}).encode(), "data")
    assert found is not None
    assert found.rest == b'{"data": null}'
    assert [_bits(value) for value in found.arrays[0]] == [_bits(value) for value in values]


@given(st.integers(0, 10**19 - 1), st.integers(-60, 60))
def test_decimals_of_19_digits_are_rounded_correctly(mantissa: int, exponent: int) -> None:
    """Numbers near the midpoint of two floats are correct, too, where a product of fewer bits would fail."""
    text = f"{mantissa}e{exponent}"
    found = read_arrays(f'{{"data":[{text}]}}'.encode(), "data")
    assert found is not None
    assert _bits(found.arrays[0][0]) == _bits(float(text))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_unusual_spellings_are_read_exactly_or_left_to_a_general_parser(spelling: str) -> None:
    """A general parser reads numbers with more than 19 digits."""
    found = read_arrays(f'{{"data":[{spelling}]}}'.encode(), "data")
    if found is not None:
        assert _bits(found.arrays[0][0]) == _bits(float(spelling))
    assert (found is None) == (len(spelling.strip("-0.").replace(".", "").split("e")[0]) > 19)


@pytest.mark.parametrize(
    "spelling",
    [
        *(f"0.{'0' * zeros}1e{zeros + 1}" for zeros in (200_000, 99_999, 400)),
        *(f"1{'0' * 18}e-{10**size}" for size in (3, 6, 30)),
        *(f"0.{'0' * 200_000}123e{exponent}" for exponent in (199_000, 200_300, 10**40)),
        f"-{'0.' + '0' * 150_000}5e149999",
    ],
)
def test_many_digits_and_a_large_exponent_can_cancel_out(spelling: str) -> None:
    """Numbers of any length are read as Python reads them; infinite ones are left to a general parser."""
    found = read_arrays(f'{{"data":[{spelling}]}}'.encode(), "data")
    if found is not None:
        assert _bits(found.arrays[0][0]) == _bits(float(spelling))
    assert (found is None) == math.isinf(float(spelling))


@pytest.mark.parametrize("spelling", MALFORMED)
def test_spellings_that_are_not_json_are_not_read(spelling: str) -> None:
    """Python's `float` would accept some of them."""
    assert read_arrays(f'{{"data":[1,{spelling}]}}'.encode(), "data") is None


@pytest.mark.long
@settings(max_examples=examples(300))
@given(st.data())
def test_documents_are_read_as_python_reads_them(data: st.DataObject) -> None:
    """Objects in any order, arrays, blanks, names that JSON must escape, and nulls."""
    documents = data.draw(
        st.lists(
            st.dictionaries(st.sampled_from(NAMES), NUMBERS)
            | st.lists(NUMBERS, min_size=len(NAMES), max_size=len(NAMES)),
            max_size=6,
        )
    )
    separators = (data.draw(BLANKS) + "," + data.draw(BLANKS), data.draw(BLANKS) + ":" + data.draw(BLANKS))
    request = [{"id": 'features":[7', "features": document} for document in documents]
    text = json.dumps(request, ensure_ascii=False, separators=separators).encode()
    found = READER.read(text, 10**6)
    assert found is not None
    assert json.loads(found.rest) == [{**one, "features": None} for one in request]
    np.testing.assert_array_equal(
        found.rows, np.array([_row(document) for document in documents]).reshape(-1, len(NAMES))
    )


@pytest.mark.parametrize(
    "value",
    [
        *(
            '{"unknown":1}',
            '{"bm25":"1"}',
            '{"bm25":true}',
            '{"bm25":[1]}',
            '{"bm25":{}}',
            '{"bm25":1,}',
            "{,}",
        ),
        *(
            '{"bm25" 1}',
            '{"bm\\u00325":1}',
            "[1,2]",
            "[1,2,3,4,5,6,7,8]",
            "[1,2,3,4,5,6,[7]]",
            "[1,2,3,4,5,6,7,]",
        ),
        *('[1,2,3,4,5,6,7],"\\u0066eatures":0', '{},"feature\\u0073" : {}', '{},"i\\u0064":7'),
        *("5", "null", '"x"', "{", "[", '{"bm25', '{"bm25":', '{"bm25":1', "[1", "[1,", '{"bm25\\'),
    ],
)
def test_unusual_documents_are_left_to_a_general_parser(value: str) -> None:
    """Such a document may be invalid, which the general parser explains, or have a rare but valid form."""
    assert READER.read(f'{{"features":{value}'.encode(), 10**6) is None


def test_the_last_value_of_a_duplicate_name_counts() -> None:
    """Python's parser also takes the last value."""
    found = READER.read(b'{"features":{"b":1,"bm25":3,"b":null}}', 10**6)
    assert found is not None
    np.testing.assert_array_equal(found.rows[0], [3.0] + [np.nan] * (len(NAMES) - 1))


BLOCKS = FeatureReader("features", ["a", "emb.0", "emb.1", "emb.2", "b"], {"emb": range(1, 4)})


def test_a_block_is_read_as_an_array() -> None:
    """A whole block may be anywhere among features; otherwise its features are missing or given by name."""
    documents = [
        {"a": 1, "emb": [0.5, None, -2], "b": 3},
        {"emb": [7, 8, 9]},
        {"emb.1": 5, "b": None},
        [1, 2, 3, 4, 5],
        {},
    ]
    found = BLOCKS.read(json.dumps([{"features": one} for one in documents]).encode(), 10)
    assert found is not None
    assert json.loads(found.rest) == [{"features": None}] * 5
    missing = math.nan
    expected = [
        [1, 0.5, missing, -2, 3],
        [missing, 7, 8, 9, missing],
        [missing, missing, 5, missing, missing],
        [1, 2, 3, 4, 5],
        [missing] * 5,
    ]
    np.testing.assert_array_equal(found.rows, expected)


def test_the_last_value_of_a_duplicate_block_counts() -> None:
    """A duplicate feature has the same rule."""
    found = BLOCKS.read(b'{"features":{"emb":[1,2,3],"a":0,"emb":[4,null,6]}}', 1)
    assert found is not None
    np.testing.assert_array_equal(found.rows[0], [0, 4, math.nan, 6, math.nan])


@pytest.mark.parametrize(
    "value",
    [
        *('{"emb":[1,2]}', '{"emb":[1,2,3,4]}', '{"emb":[]}', '{"emb":1}', '{"emb":null}', '{"emb":"1"}'),
        *('{"emb":[1,2,"3"]}', '{"emb":[1,2,[3]]}', '{"emb":{"0":1}}', '{"a":[1]}', '{"emb":[1,2,3],}'),
        *('{"emb":[1,2,3],"emb.0":1}', '{"emb.2":1,"emb":[1,2,3]}', '{"emb.0":[1]}', '{"emb":[1,2,3'),
    ],
)
def test_an_invalid_block_is_left_to_a_general_parser(value: str) -> None:
    """A block beside one of its features is invalid, too: the general parser names the duplicate."""
    assert BLOCKS.read(f'{{"features":{value}}}'.encode(), 10) is None


def test_more_documents_than_the_limit_are_not_read() -> None:
    """The limit bounds the memory before it is allocated."""
    text = json.dumps([{"features": {"b": 1}}] * 3).encode()
    assert READER.read(text, 3) is not None
    assert READER.read(text, 2) is None


@pytest.mark.long
@settings(max_examples=examples(1000))
@given(
    st.text('[]{}",:0129.e-+features null\\\n\0', max_size=12) | st.sampled_from(NOISE),
    st.integers(0, 110),
    st.integers(0, 20),
)
def test_a_damaged_text_is_not_misread(noise: str, at: int, lost: int) -> None:
    """If the rest is valid JSON, so was the text; an equal number of members and rows means equal values."""
    documents = [{"features": {"bm25": 12.5, "b": None}}, {"features": {"b": 3}, "other": 1}]
    whole = json.dumps({"documents": documents, "id": "7"})
    text = whole[:at] + noise + whole[at + lost :]
    found = READER.read(text.encode(), 10**6)
    if found is None:
        return
    try:
        rest = json.loads(found.rest)
    except ValueError:
        return
    members = list(_members(json.loads(text)))
    assert list(_members(rest)) == [None] * len(members)
    if len(members) == len(found.rows):
        for row, member in zip(found.rows, members, strict=True):
            np.testing.assert_array_equal(row, _row(member))


def _members(value: Any) -> Iterator[Any]:
    """Yield the value of each `features` member in a parsed text, in order."""
    for name, member in value.items() if isinstance(value, dict) else ():
        yield from (member,) if name == "features" else _members(member)
    for member in value if isinstance(value, list) else ():
        yield from _members(member)


def _row(document: Any) -> Float64Array:
    values = [document.get(name) for name in NAMES] if isinstance(document, dict) else document
    return np.array([math.nan if value is None else value for value in values], np.float64)


def _longest_run(slots: Int64Array) -> int:
    """Return the length of the longest run of occupied slots in a hash table."""
    taken = "".join("x" if slot >= 0 else " " for slot in slots)
    return max(map(len, taken.split()))


@pytest.mark.long
def test_names_that_collide_under_a_public_hash_do_not_collide() -> None:
    """The author of a model cannot choose names that share a slot of the table."""
    candidates = [f"f{number:06d}" for number in range(400_000)]
    hashes = np.full(len(candidates), 0xCBF29CE484222325, np.uint64)  # FNV-1a, whose offset basis is public
    for column in np.array([[*name.encode(), ord('"')] for name in candidates], np.uint64).T:
        hashes = (hashes ^ column) * np.uint64(0x100000001B3)
    names = [candidates[number] for number in np.flatnonzero(hashes % np.uint64(1024) == 0)[:300]]
    assert len(names) == 300
    slots = FeatureReader("features", names)._slots
    assert len(slots) == 1024
    assert _longest_run(slots) < 60


def test_names_are_hashed_as_python_hashes_bytes() -> None:
    """The hash is SipHash-1-3: with a seed of 0 Python's key is 0."""
    texts = [bytes(range(1, size + 1)) for size in range(1, 40)] + [name.encode() for name in NAMES]
    command = f"print([hash(text) % 2**64 for text in {texts}])"
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    python = [sys.executable, "-c", command]
    printed = subprocess.run(python, env=environment, check=True, capture_output=True)
    for offset in range(8):
        padded = [bytes(offset) + text + bytes(24 - (offset + len(text)) % 8) for text in texts]
        hashes = [
            int(name_hash(np.frombuffer(content, "<u8"), offset, offset + len(text), np.zeros(2, np.uint64)))
            for content, text in zip(padded, texts, strict=True)
        ]
        assert hashes == json.loads(printed.stdout)
