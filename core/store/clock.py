"""The time, always aware and in UTC: it decides what is due, expired or old.

A test moves it in all processes of a service: the variable `RANKERY_TEST_CLOCK` names a file that holds the
seconds to add to the machine's clock.
"""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

_VARIABLE = "RANKERY_TEST_CLOCK"


def utc_now() -> datetime:
    """Return the present moment in UTC."""
    now = datetime.now(UTC)
    path = os.environ.get(_VARIABLE)
    return now if path is None else now + timedelta(seconds=float(Path(path).read_text()))
