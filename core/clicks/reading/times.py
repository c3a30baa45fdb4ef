"""Parser of times to milliseconds since 1970 in UTC."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from core.clicks.reading.builder import NO_TIME
from core.data.tables.cells import numbers, plain_texts
from core.types import BoolArray, Int64Array

# Bounds between seconds, milli-, micro- and nanoseconds: each unit's range begins in 1973 and ends in 5138.
_MIN_MILLISECONDS, _MIN_MICROSECONDS, _MIN_NANOSECONDS = 1e11, 1e14, 1e17
_MAX_NUMBER = 2.0**63
_FIRST_LOG = 631_152_000_000  # 1990 in milliseconds
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UTC = " (UTC|GMT)$|z$"  # as BigQuery and others write the zone
_BLANK_BEFORE_OFFSET = r"(:[\d:.]+) +(?=[+-]\d\d:?\d\d$)"  # as Java and Ruby write a time


def times_of(column: Any) -> tuple[Int64Array, Int64Array]:
    """Parse times: timestamps, dates, ISO 8601 (UTC if without offset, or with " UTC" or " GMT"), or numbers.

    Numbers are seconds, milli-, micro- or nanoseconds since 1970, by their size; see `with_dates_in_digits`.

    Returns:
        (n,) milliseconds, `NO_TIME` for empty cells; and the positions of cells that are not times. In a
        column of numbers, magnitudes of at least 2^63 are `NO_TIME`, too.
    """
    if types.is_timestamp(column.type) or types.is_date(column.type):
        return _milliseconds(pc.cast(column, pa.timestamp("ms"), safe=False)), np.empty(0, np.int64)
    if types.is_integer(column.type) or types.is_floating(column.type):
        return _of_numbers(numbers(column)[0]), np.empty(0, np.int64)
    texts: Any = pc.replace_substring_regex(pc.utf8_trim_whitespace(plain_texts(column)), _UTC, "Z")
    nonempty = pc.if_else(pc.equal(texts, pa.scalar("", texts.type)), pa.scalar(None, texts.type), texts)
    for zone in ("UTC", None):
        try:
            parsed = nonempty.cast(pa.timestamp("us", zone)).cast(pa.timestamp("ms", zone), safe=False)
            return _milliseconds(parsed), np.empty(0, np.int64)
        except pa.ArrowInvalid:
            continue
    return _one_by_one(nonempty.to_pylist())


def time_of(value: Any) -> int | None:
    """Parse one time as `times_of` parses a column; return None if it is not a time.

    Example:
        >>> time_of("2024-12-10T00:01:29.378Z"), time_of(1_733_788_889), time_of("yesterday")
        (1733788889378, 1733788889000, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):  # overflow: an integer beyond float64
        return _of_text(value) if isinstance(value, str) else None
    return int(_of_numbers(np.array([number]))[0]) if abs(number) < _MAX_NUMBER else None


def with_dates_in_digits(times: Int64Array) -> Int64Array:
    """Return the times of a log, where numbers that are dates in digits are these dates.

    Such a number is 20260501, 202605011030 or 20260501103000, of 1970 to 2099. As a number of seconds it
    would be in August 1970, and as one of milliseconds in 1976 or after 2593. If the log has as many other
    times before 1990, its times are relative, such as seconds since the start of a study, and no dates;
    times of 0 may be missing.

    Args:
        times: (n,) milliseconds since 1970, in which numbers are not dates.
    """
    seconds, rest = np.divmod(times, 1000)
    is_day = (rest == 0) & (seconds < 10**8)
    is_minute = (times >= 1970 * 10**8) & (times < 2100 * 10**8)
    digits = np.select([is_day, is_minute], [seconds * 10**6, times * 100], times)
    is_year = (digits >= 1970 * 10**10) & (digits < 2100 * 10**10)
    moments, is_date = _of_digits(np.where(is_year, digits, 0))
    is_date &= is_year
    others = ~is_date & (times != 0) & (times < _FIRST_LOG)
    if np.count_nonzero(is_date) <= np.count_nonzero(others):
        return times
    return np.where(is_date, moments, times)


def _milliseconds(column: Any) -> Int64Array:
    return cast("Int64Array", pc.fill_null(column.cast(pa.int64()), NO_TIME).to_numpy())


def _of_numbers(values: npt.NDArray[np.float64]) -> Int64Array:
    sizes = np.abs(values)
    is_time = sizes < _MAX_NUMBER
    bounds = [sizes < bound for bound in (_MIN_MILLISECONDS, _MIN_MICROSECONDS, _MIN_NANOSECONDS)]
    scaled = np.select(bounds, [values * 1e3, values, values / 1e3], values / 1e6)
    return np.where(is_time, np.where(is_time, scaled, 0).astype(np.int64), NO_TIME)


def _of_digits(digits: Int64Array) -> tuple[Int64Array, BoolArray]:
    """Return the milliseconds of the numbers YYYYMMDDhhmmss, and which of them are valid times."""
    date, time = np.divmod(digits, 10**6)
    months = ((date // 10_000 - 1970) * 12 + date // 100 % 100 - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (date % 100 - 1)
    hour, minute, second = time // 10_000, time // 100 % 100, time % 100
    is_date = (days.astype("datetime64[M]") == months) & np.isin(date // 100 % 100, np.arange(1, 13))
    is_time = is_date & (hour < 24) & (minute < 60) & (second < 60)
    seconds = days.astype("datetime64[s]").astype(np.int64) + hour * 3600 + minute * 60 + second
    return seconds * 1000, is_time


def _of_text(text: str) -> int | None:
    try:
        text = re.sub(_BLANK_BEFORE_OFFSET, r"\1", re.sub(_UTC, "Z", text.strip()))
        moment = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    microseconds = (moment - _EPOCH) // timedelta(microseconds=1)
    milliseconds = abs(microseconds) // 1000  # truncated, as by Arrow
    return milliseconds if microseconds >= 0 else -milliseconds


def _one_by_one(texts: list[str | None]) -> tuple[Int64Array, Int64Array]:
    times = [None if text is None else time_of(text) for text in texts]
    wrong = [index for index, text in enumerate(texts) if text is not None and times[index] is None]
    values = np.array([NO_TIME if time is None else time for time in times], np.int64)
    return values, np.array(wrong, np.int64)
