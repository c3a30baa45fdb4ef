"""Due times of cron expressions."""

from datetime import UTC, datetime, timedelta

import pytest

from core.errors import InvalidInput
from core.schedules import Cron

ZURICH = "Europe/Zurich"


def utc(*parts: int) -> datetime:
    """Return a moment in UTC."""
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    ("expression", "place"),
    [
        ("0 3 * *", "five fields"),
        ("0 0 3 * * *", "five fields"),
        ("", "five fields"),
        ("61 * * * *", "field 1, minute, is '61'"),
        ("0 24 * * *", "field 2, hour, is '24'"),
        ("0 0 0 * *", "field 3, day-of-month"),
        ("0 0 * JANUARY *", "field 4, month"),
        ("0 0 * * MON-", "field 5, day-of-week"),
        ("*/0 * * * *", "field 1, minute"),
        ("*/99 * * * *", "field 1, minute, is '*/99'"),
        ("0 */24 * * *", "field 2, hour, is '*/24'"),
        ("0 0 L * *", "field 3, day-of-month, is 'L'"),
        ("0 0 15W * *", "field 3, day-of-month"),
        ("0 0 * * 5#2", "field 5, day-of-week, is '5#2'"),
        ("0 0 * * 5L", "field 5, day-of-week"),
        ("0 0 30 2 *", "never due"),
    ],
)
def test_an_invalid_expression_is_refused_with_its_field_and_an_example(expression: str, place: str) -> None:
    """The error names the field and has an example of a valid expression."""
    with pytest.raises(InvalidInput) as refused:
        Cron.parse(expression)
    (problem,) = refused.value.problems
    assert problem.pointer == "/cron"
    assert place in problem.detail
    assert "never due" in problem.detail or "every weekday at 03:00" in problem.detail


@pytest.mark.parametrize(
    "name",
    ["Europe/Zurch", "", "../etc/passwd", "Mars/Olympus", "Europe", "localtime", "Local", "posixrules"],
)
def test_an_unknown_time_zone_is_refused(name: str) -> None:
    """The error suggests a similar name; file paths and local zones are refused."""
    with pytest.raises(InvalidInput) as refused:
        Cron.parse("0 3 * * *", name)
    (problem,) = refused.value.problems
    assert problem.pointer == "/timezone"
    assert name != "Europe/Zurch" or "did you mean Europe/Zurich?" in problem.detail
    assert "did you mean localtime?" not in problem.detail  # which is refused, too


@pytest.mark.parametrize("name", ["right/Europe/Zurich", "posix/Europe/Zurich"])
def test_a_copy_of_a_time_zone_is_refused(name: str) -> None:
    """The clocks of `right` are 27 seconds off. The error has the name of the original."""
    with pytest.raises(InvalidInput, match=r"leap seconds; did you mean Europe/Zurich\?"):
        Cron.parse("0 3 * * *", name)


def test_a_time_of_day_follows_the_clocks_of_its_zone() -> None:
    """A time that clocks skip is due at the end of the gap; a repeated time is due the first time only."""
    spring, autumn = Cron.parse("30 2 * * *", ZURICH), Cron.parse("45 2 * * *", ZURICH)
    assert spring.upcoming(utc(2026, 3, 28, 12), 2) == [utc(2026, 3, 29, 1), utc(2026, 3, 30, 0, 30)]
    assert autumn.upcoming(utc(2026, 10, 24, 12), 2) == [utc(2026, 10, 25, 0, 45), utc(2026, 10, 26, 1, 45)]


def test_the_next_due_time_in_a_repeated_hour_is_not_in_the_past() -> None:
    """At the second 02:31, the library alone would continue from the first 02:31 and return 02:45."""
    moment = utc(2026, 10, 25, 1, 31)
    assert Cron("45 2 * * *", ZURICH).next_after(moment) == utc(2026, 10, 26, 1, 45)


def test_quarters_of_an_hour_are_due_in_both_of_two_equal_hours() -> None:
    """Intervals follow the elapsed time, not the clocks."""
    due = Cron("*/15 * * * *", ZURICH).upcoming(utc(2026, 10, 25, 0, 0), 8)
    assert due == [utc(2026, 10, 25, 0, 15) + timedelta(minutes=15 * i) for i in range(8)]


@pytest.mark.parametrize(
    ("expression", "timezone", "due"),
    [
        (
            "45 * * * *",
            "Australia/Lord_Howe",
            [utc(2026, 4, 4, 13, 45), utc(2026, 4, 4, 14, 45), utc(2026, 4, 4, 15, 15)],
        ),
        ("20 */2 * * *", "Australia/Lord_Howe", [utc(2026, 4, 4, 13, 20), utc(2026, 4, 4, 15, 50)]),
        (
            "5,45 */2 * * *",
            "Pacific/Chatham",
            [utc(2026, 4, 4, 13), utc(2026, 4, 4, 14), utc(2026, 4, 4, 15, 20)],
        ),
    ],
)
def test_intervals_follow_clocks_that_change_by_other_than_whole_hours(
    expression: str, timezone: str, due: list[datetime]
) -> None:
    """The library alone would skip times of clocks that change by half an hour or at a quarter to an hour."""
    assert Cron(expression, timezone).upcoming(utc(2026, 4, 4, 12, 59), len(due)) == due


def test_a_date_whose_hour_is_repeated_is_due_in_both_hours() -> None:
    """The search begins months before, when clocks have the time of the second hour."""
    due = [utc(2026, 10, 25, hour, minute) for hour in (0, 1) for minute in (0, 30)]
    assert Cron("*/30 2 25 10 *", "Europe/Berlin").upcoming(utc(2026, 1, 10), 4) == due


def test_an_hour_that_clocks_skip_at_midnight_is_not_due_an_hour_later() -> None:
    """In Havana, 00:00 is 01:00 on the day of the change: the first of the hours 0, 5, 10, … is 05:00."""
    assert Cron("0 */5 14 3 *", "America/Havana").next_after(utc(2027, 3, 13)) == utc(2027, 3, 14, 9)


@pytest.mark.parametrize(
    ("now", "latest"),
    [
        (utc(2026, 5, 2, 3), utc(2026, 5, 2, 3)),
        (utc(2026, 5, 2, 3) - timedelta(microseconds=1), utc(2026, 5, 1, 3)),
        (utc(2026, 6, 1, 2, 59, 59), utc(2026, 5, 31, 3)),
    ],
)
def test_the_latest_due_time_is_not_in_the_future(now: datetime, latest: datetime) -> None:
    """A due time counts from its exact moment."""
    assert Cron("0 3 * * *").latest(utc(2026, 5, 1, 3), now) == latest


@pytest.mark.parametrize(
    ("expression", "timezone", "first", "now", "latest"),
    [
        (
            "30 0 * * *",
            "America/Havana",
            utc(2026, 10, 31, 4, 30),
            utc(2026, 11, 1, 5, 3),
            utc(2026, 11, 1, 4, 30),
        ),
        ("30 2 * * *", ZURICH, utc(2026, 10, 24, 0, 30), utc(2026, 10, 25, 1, 10), utc(2026, 10, 25, 0, 30)),
    ],
)
def test_the_latest_due_time_may_be_in_the_first_of_two_equal_hours(
    expression: str, timezone: str, first: datetime, now: datetime, latest: datetime
) -> None:
    """In the second of two repeated hours, the library alone would return the due time of the day before."""
    assert Cron(expression, timezone).latest(first, now) == latest


def test_the_latest_due_time_is_not_before_the_first() -> None:
    """A changed expression may have due times before the first one of the schedule."""
    first = utc(2026, 5, 1, 3)
    assert Cron("0 3 1 1 *").latest(first, first) == first
