"""The clock of the service."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.store.clock import utc_now
from tests.servers.clock import ServiceClock

REPOSITORY = Path(__file__).parents[3]
READS = re.compile(r"\bdatetime\.(now|utcnow|today)\(|\bdate\.today\(|\btime\.time(_ns)?\(")
# These compare times with those of files or log records, or check that the time of a cron expression exists.
EXEMPT = {
    "core/store/clock.py",
    "core/schedules/cron.py",
    "core/store/artifacts/local_cache.py",
    "core/store/sources/scratch.py",
    "app/scoring/sample_writer.py",
}


def test_a_file_shifts_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The seconds in the file are added to all times that are read afterwards."""
    clock = ServiceClock(tmp_path / "clock")
    for name, value in clock.environment.items():
        monkeypatch.setenv(name, value)
    moment = datetime.now(UTC) + timedelta(days=400)
    clock.set(moment)
    assert moment <= utc_now() <= clock.now()


def test_all_decisions_are_made_by_one_clock() -> None:
    """No other module of the service reads the machine's clock."""
    paths = [path for folder in ("app", "core", "worker") for path in (REPOSITORY / folder).rglob("*.py")]
    reading = {str(path.relative_to(REPOSITORY)) for path in paths if READS.search(path.read_text())}
    assert reading == EXEMPT
