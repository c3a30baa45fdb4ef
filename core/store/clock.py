"""The current time in UTC, used for all stored times and for comparisons with them.

Tests shift the time in all processes of a service: `RANKERY_TEST_CLOCK` is the path of a file with the
seconds to add to the machine's clock.
"""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

_VARIABLE = "RANKERY_TEST_CLOCK"


def utc_now() -> datetime:
    """Return the current time, with the time zone UTC."""
    now = datetime.now(UTC)
    path = os.environ.get(_VARIABLE)
    return now if path is None else now + timedelta(seconds=float(Path(path).read_text()))
