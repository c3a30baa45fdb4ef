"""Normalise the ids of queries and documents of all types.

An id is a text or a whole number. Each is normalised independently, so that ids of different files match:

- A text is its own id, and bytes are decoded as UTF-8.
- A whole number becomes its digits. A floating-point number or decimal without a fraction also becomes its
  digits, as does a text of such a number. `1`, `1.0` and `1.00` are one id, since integer columns with
  missing values are often stored as floats.
- Null, NaN, the texts `nan` and `NaN`, and an empty text are missing ids.
- All other values are invalid: numbers with a fraction (1.10 would be 1.1), booleans, times, and
  floating-point numbers so large that their type does not represent every integer.
"""

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXPECTED = (
    "an id, which is a text or a whole number that its type represents exactly; write other ids as texts"
)
_WITH_POINT = r"^(?:-?(0)|(-?[1-9][0-9]*))\.0+$"
_WHOLE_DECIMAL = r"^(?:(0)E-[0-9]+|(-?[0-9]+)(?:\.0+)?)$"  # Arrow writes 0 with seven decimals as 0E-7
_MISSING = ("", "nan", "NaN")
_BLANK = re.compile(r"\s")
EXACT_LIMIT = 2**53  # float64 represents every integer below it
_LIMIT_DIGITS = 16  # digits of 2**53; whole numbers with fewer digits are less


def exact_limit(kind: Any) -> float:
    """Return the number below which a floating-point type of numpy represents every whole number."""
    import numpy as np

    return 2.0 ** (np.finfo(kind).nmant + 1)


def encode_blanks(identifier: str) -> str:
    """Percent-encode the blanks of an id, which would shift the columns of a TREC file."""
    return _BLANK.sub(lambda blank: quote(blank[0]), identifier)


class EqualSpelling(ValueError):
    """A TREC file does not distinguish two ids."""


class TrecSpelling:
    """Spelling of the ids of one TREC file, see `encode_blanks`.

    Example:
        >>> TrecSpelling().of("red shoes", "sku-1")
        ('red%20shoes', 'sku-1')
    """

    def __init__(self) -> None:
        self._ids: dict[tuple[str | None, str], str] = {}

    def of(self, query: str, document: str) -> tuple[str, str]:
        """Return the spelling of a query and of one of its documents.

        Raises:
            EqualSpelling: Another query of the file, or document of the query, has the same spelling.
        """
        return self.of_id(query), self.of_id(document, query)

    def of_id(self, identifier: str, query: str | None = None) -> str:
        """Return the spelling of a query, or of a document of `query`.

        Raises:
            EqualSpelling: Another query of the file, or document of the query, has the same spelling.
        """
        spelled = encode_blanks(identifier)
        other = self._ids.setdefault((query, spelled), identifier) if "%" in spelled else identifier
        if other != identifier:
            raise EqualSpelling(f"a TREC file has {spelled!r} for both {other!r} and {identifier!r}")
        return spelled


@dataclass(frozen=True, eq=False)
class NormalisedIds:
    """Normalised ids of a column.

    Attributes:
        texts: Arrow's large_string (n,), null where an id is missing.
        invalid: int64 positions of values that are not ids.
        respelled: Whether the fraction of a text was removed: `1.0` became `1`.
    """

    texts: Any
    invalid: "NDArray[np.int64]"
    respelled: bool = False


class SeveralSpellings:
    """Collect the ids with several spellings, such as `1` and `1.0`, in all blocks of a text column.

    Attributes:
        several: Distinct ids with several spellings.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self.several: dict[str, None] = {}

    def take(self, given: Any, normalised: NormalisedIds) -> None:
        """Add the ids of a block.

        Args:
            given: Arrow's array (n,) of texts, or a dictionary of them.
            normalised: Result of `normalise_column` for the block.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        ids = pc.unique(normalised.texts)
        texts = ids
        if normalised.respelled:
            pairs = pa.table({"text": pc.cast(given, pa.large_string()), "id": normalised.texts})
            pairs = pairs.group_by(["text", "id"]).aggregate([])
            texts, ids = pairs["text"], pairs["id"]
        for text, name in zip(texts.to_pylist(), ids.to_pylist(), strict=True):
            if name is not None and self._first.setdefault(name, text) != text:
                self.several[name] = None


def normalise_ids(values: Any) -> NormalisedIds:
    """Normalise ids in memory.

    Args:
        values: (n,) an array, a list or a column of a data frame, whose values may be of several types.

    Raises:
        pyarrow.ArrowInvalid: Bytes of an Arrow column are not UTF-8.

    Example:
        >>> normalise_ids([4006381333931.0, b"a", "1.0", None]).texts.to_pylist()
        ['4006381333931', 'a', '1', None]
    """
    import numpy as np
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return normalise_column(values)
    if isinstance(values, np.ma.MaskedArray):
        objects: Any = values.data.astype(object)
        objects[np.ma.getmaskarray(values)] = None
        values = objects
    array = np.asarray(values, object if isinstance(values, list | tuple) else None)
    if array.dtype.kind in "OUS":
        return _normalise_objects(array.tolist())
    return _normalise_same_type(array.astype(array.dtype.newbyteorder("="), copy=False))


def several_spellings(values: Any, normalised: NormalisedIds) -> tuple[str, ...]:
    """Return the ids that have several spellings in a column of texts.

    Args:
        values: Argument of `normalise_ids`.
        normalised: Result of `normalise_ids`.

    Example:
        >>> ids = ["1", "1.0", "2.0"]
        >>> several_spellings(ids, normalise_ids(ids))
        ('1',)
    """
    import pyarrow as pa

    if not normalised.respelled:
        return ()
    given = values.to_pylist() if isinstance(values, pa.Array | pa.ChunkedArray) else values
    texts: Any = pa.array([str(one) for one in given if isinstance(one, str)], pa.large_string())
    spellings = SeveralSpellings()
    spellings.take(texts, normalise_column(texts))
    return tuple(spellings.several)


def normalise_column(column: Any) -> NormalisedIds:
    """Normalise the ids in an Arrow column.

    Args:
        column: An array or chunked array (n,) of any type, possibly dictionary-encoded.

    Raises:
        pyarrow.ArrowInvalid: Bytes are not UTF-8.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    types: Any = pa.types
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind: Any = column.type
    if types.is_dictionary(kind):
        distinct = normalise_column(column.dictionary)
        codes = pc.fill_null(column.indices.cast(pa.int64()), -1)  # some writers use unsigned indices
        invalid = np.isin(codes.to_numpy(), distinct.invalid)
        return NormalisedIds(distinct.texts.take(column.indices), np.flatnonzero(invalid), distinct.respelled)
    if types.is_floating(kind):
        return _normalise_floats(column)
    if types.is_decimal(kind):
        return _normalise_decimals(pc.cast(column, pa.large_string()))
    if types.is_integer(kind) or types.is_null(kind):
        return NormalisedIds(pc.cast(column, pa.large_string()), np.empty(0, np.int64))
    texts_or_bytes: tuple[Any, ...] = (types.is_string, types.is_large_string, types.is_string_view)
    texts_or_bytes += (
        types.is_binary,
        types.is_large_binary,
        types.is_binary_view,
        types.is_fixed_size_binary,
    )
    if not any(is_text(kind) for is_text in texts_or_bytes):
        return _all_invalid(column)
    if types.is_fixed_size_binary(kind) or types.is_binary_view(kind):
        column = pc.cast(column, pa.binary())
    texts: Any = pc.cast(column, pa.large_string())
    texts.validate(full=True)
    return _normalise_texts(texts)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or a missing value of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def _normalise_objects(values: list[Any]) -> NormalisedIds:
    """Normalise Python objects, grouped by type."""
    import numpy as np
    import pyarrow as pa

    indices_by_type: dict[type, list[int]] = {}
    for index, value in enumerate(values):
        if not is_missing(value):
            indices_by_type.setdefault(type(value), []).append(index)
    texts: list[str | None] = [None] * len(values)
    invalid: list[int] = []
    respelled = False
    for kind, of_kind in indices_by_type.items():
        objects = [values[index] for index in of_kind]
        if issubclass(kind, int) and not issubclass(kind, bool):  # Python integers may exceed int64
            normalised = NormalisedIds(pa.array([str(int(one)) for one in objects]), np.empty(0, np.int64))
        else:
            normalised = _normalise_same_type(objects)
        for index, text in zip(of_kind, normalised.texts.to_pylist(), strict=True):
            texts[index] = text
        invalid += [of_kind[index] for index in normalised.invalid.tolist()]
        respelled |= normalised.respelled
    return NormalisedIds(pa.array(texts, pa.large_string()), np.array(sorted(invalid), np.int64), respelled)


def _normalise_same_type(values: Any) -> NormalisedIds:
    """Normalise values of one type."""
    import numpy as np
    import pyarrow as pa

    try:
        return normalise_column(pa.array(values))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # a type that Arrow does not support
        return NormalisedIds(pa.nulls(len(values), pa.large_string()), np.arange(len(values)))


def _normalise_texts(texts: Any) -> NormalisedIds:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = pc.is_in(texts, pa.array(_MISSING, pa.large_string()))
    if pc.any(missing).as_py():
        texts = pc.if_else(missing, pa.scalar(None, pa.large_string()), texts)
    if not pc.any(pc.match_substring(texts, ".0")).as_py():  # ten times as fast as the regular expression
        return NormalisedIds(texts, np.empty(0, np.int64))
    has_point = pc.fill_null(pc.match_substring_regex(texts, _WITH_POINT), False)
    whole: Any = pc.replace_substring_regex(texts, _WITH_POINT, r"\1\2")
    lengths: Any = pc.binary_length(whole)
    is_long = pc.fill_null(pc.greater(lengths, pa.scalar(_LIMIT_DIGITS - 1, lengths.type)), False)
    long = np.flatnonzero(pc.and_(has_point, is_long).to_numpy(zero_copy_only=False))
    invalid = [index for index in long.tolist() if abs(int(whole[index].as_py())) >= EXACT_LIMIT]
    respelled = bool(pc.any(has_point).as_py())
    return NormalisedIds(pc.cast(whole, pa.large_string()), np.array(invalid, np.int64), respelled)


def _normalise_floats(column: Any) -> NormalisedIds:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pc.fill_null(column, math.nan).to_numpy(zero_copy_only=False)
    is_known = ~np.isnan(values)
    is_exact = np.abs(values) < exact_limit(values.dtype)
    fits = is_exact & (values == np.floor(values))
    whole = pa.array(np.where(fits, values, 0).astype(np.int64), mask=~fits)
    return NormalisedIds(pc.cast(whole, pa.large_string()), np.flatnonzero(is_known & ~fits))


def _normalise_decimals(texts: Any) -> NormalisedIds:
    import numpy as np
    import pyarrow.compute as pc

    fits = pc.match_substring_regex(texts, _WHOLE_DECIMAL)
    invalid = np.flatnonzero(~pc.fill_null(fits, True).to_numpy(zero_copy_only=False))
    return NormalisedIds(pc.replace_substring_regex(texts, _WHOLE_DECIMAL, r"\1\2"), invalid)


def _all_invalid(column: Any) -> NormalisedIds:
    import numpy as np
    import pyarrow as pa

    is_present = column.is_valid().to_numpy(zero_copy_only=False)
    return NormalisedIds(pa.nulls(len(column), pa.large_string()), np.flatnonzero(is_present))
