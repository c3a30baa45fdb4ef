"""Due times of cron expressions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice, takewhile
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from core.errors import InvalidInput
from core.names import did_you_mean

FIELDS = ("minute", "hour", "day-of-month", "month", "day-of-week")
_RANGES = ("0 to 59", "0 to 23", "1 to 31", "1 to 12 or JAN to DEC", "0 to 7 or SUN to SAT")
_LARGEST_STEPS = (59, 23, 30, 11, 7)
# Excludes Quartz's L, W and #, which the library supports, but which other tools interpret differently.
_VALUE = r"(?:[0-9]{1,2}|[A-Za-z]{3})"
_PART = re.compile(rf"(?:\*|{_VALUE}(?:-{_VALUE})?)(?:/(?P<step>[0-9]{{1,2}}))?")
# Files of the time zone database that are not time zones.
_NOT_TIMEZONES = frozenset(("localtime", "Factory"))
# Folders of the time zone database with a copy of every zone; the copies in `right` have leap seconds.
_COPIES = ("right", "posix")
_EXAMPLE = "0 3 * * 1-5 is every weekday at 03:00"
_TICK = timedelta(microseconds=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Cron:
    """A cron expression in a time zone.

    Daylight saving time is handled as by Debian's cron. A time of day that a clock change skips is due at the
    end of the gap. A repeated time of day is due only at its first occurrence. Expressions whose
    minutes or hours begin with `*` follow the elapsed time, also over clock changes.

    Attributes:
        expression: Minute, hour, day of the month, month and day of the week.
        timezone: A name of the IANA database, `Europe/Zurich`.

    Example:
        >>> cron = Cron.parse("30 3 * * *", "Europe/Zurich")
        >>> [moment.isoformat() for moment in cron.upcoming(datetime(2026, 3, 28, tzinfo=UTC), 2)]
        ['2026-03-28T02:30:00+00:00', '2026-03-29T01:30:00+00:00']
    """

    expression: str
    timezone: str = "UTC"

    @classmethod
    def parse(cls, expression: str, timezone: str = "UTC") -> "Cron":
        """Parse and validate an expression and a time zone.

        Raises:
            InvalidInput: A field or the time zone is invalid, or the expression is never due.
        """
        _check_timezone(timezone)
        _check_fields(expression)
        cron = cls(" ".join(expression.split()), timezone)
        if cron.next_after(datetime.now(UTC)) is None:
            raise InvalidInput.at("/cron", f"{expression!r} is never due")
        return cron

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first due time after a moment, in UTC; None if the next 50 years have none."""
        return next(self._after(moment), None)

    def upcoming(self, moment: datetime, count: int) -> list[datetime]:
        """Return the first `count` due times after a moment, in UTC."""
        return list(islice(self._after(moment), count))

    def latest(self, first: datetime, now: datetime) -> datetime:
        """Return the latest due time up to now.

        Args:
            first: A due time, at most `now`; returned if it is the latest due time.
        """
        # The library yields only times before its start, so the start is one tick after `now`.
        backwards = CronSim(self.expression, (now + _TICK).astimezone(self._zone), reverse=True)
        earlier = (local.astimezone(UTC) for local in backwards)
        latest = max(first, next((each for each in earlier if each <= now), first))
        # In the second of two repeated hours, the library skips due times in the first hour.
        for each in takewhile(lambda due: due <= now, self._after(latest)):
            latest = each
        return latest

    def _after(self, moment: datetime) -> Iterator[datetime]:
        minute, hour, *_ = self.expression.split()
        if minute.startswith("*") or hour.startswith("*"):
            return self._after_by_elapsed_time(moment)
        # If `moment` is in the second of two repeated hours, the library continues from the first hour.
        due = (local.astimezone(UTC) for local in CronSim(self.expression, moment.astimezone(self._zone)))
        return (each for each in due if each > moment)

    def _after_by_elapsed_time(self, moment: datetime) -> Iterator[datetime]:
        # The library advances by whole hours. With a fixed offset, it skips no time if clocks change by half
        # an hour, as on Lord Howe Island. A due time may have the offset of the day before or after a change.
        while due := next(self._with_offset(offset := self._offset_at(moment), moment), None):
            latest = due if self._offset_at(due) == offset else due + _DAY
            offsets = {self._offset_at(each) for each in (moment, moment + _DAY, due - _DAY, due)}
            candidates = (self._first_with_offset(each, moment, latest) for each in offsets)
            first = min(filter(None, candidates), default=None)
            if first is not None:
                yield first
            moment = first or latest

    def _first_with_offset(self, offset: timedelta, moment: datetime, until: datetime) -> datetime | None:
        """Return the first due time after a moment at which the time zone has this offset from UTC."""
        due = takewhile(lambda each: each <= until, self._with_offset(offset, moment))
        return next((each for each in due if self._offset_at(each) == offset), None)

    def _offset_at(self, moment: datetime) -> timedelta:
        return moment.astimezone(self._zone).utcoffset() or timedelta()

    def _with_offset(self, offset: timedelta, moment: datetime) -> Iterator[datetime]:
        """Yield the due times after a moment as if the time zone always had this offset from UTC."""
        fixed = timezone(offset)
        return (local.astimezone(UTC) for local in CronSim(self.expression, moment.astimezone(fixed)))

    @property
    def _zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


def _check_timezone(name: str) -> None:
    zones = available_timezones() - _NOT_TIMEZONES
    if name in zones:
        return
    folder, _, zone = name.partition("/")
    if folder in _COPIES and zone in zones:
        hint = f"due times follow clocks without leap seconds; did you mean {zone}?"
    elif zones:
        hint = did_you_mean(name, zones) or "use a name such as Europe/Zurich or UTC"
    else:
        hint = "this machine has no time zone database; install the package tzdata, or use UTC"
    raise InvalidInput.at("/timezone", f"{name[:100]!r} is not a time zone; {hint}")


def _check_fields(expression: str) -> None:
    fields = expression.split()
    if len(fields) != len(FIELDS):
        raise InvalidInput.at(
            "/cron", f"must have five fields, {', '.join(FIELDS)}; found {len(fields)}. {_EXAMPLE}"
        )
    for position, (field, name, allowed) in enumerate(zip(fields, FIELDS, _RANGES, strict=True)):
        alone = ["*"] * len(FIELDS)
        alone[position] = field
        try:
            _check_parts(field, _LARGEST_STEPS[position])
            CronSim(" ".join(alone), datetime.now(UTC))
        except (CronSimError, ValueError) as error:
            detail = (
                f"field {position + 1}, {name}, is {field[:40]!r}; expected {allowed}, *, a list or a range"
            )
            raise InvalidInput.at("/cron", f"{detail}. {_EXAMPLE}") from error
    try:
        CronSim(expression, datetime.now(UTC))
    except CronSimError as error:
        raise InvalidInput.at(
            "/cron", f"{expression!r} is never due: the month does not have that day"
        ) from error


def _check_parts(field: str, largest_step: int) -> None:
    for part in field.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} is not *, a number, a name or a range")
        if match["step"] is not None and int(match["step"]) > largest_step:
            raise ValueError(f"{part!r} has a step that is too large for the field")
