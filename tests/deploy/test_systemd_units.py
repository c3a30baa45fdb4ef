"""The systemd units load without a complaint and keep the processes away from the rest of the machine."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rankery.cli.commands import PANELS
from tests.deploy.settings import settings_names
from tests.requirements import require_program

FOLDER = Path(__file__).parents[2] / "deploy" / "systemd"
UNITS = sorted(FOLDER.glob("*.service"))
# Exposure from 0 (safe) to 100; a unit without hardening directives has 96.
MAX_EXPOSED = 20

each_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)


@pytest.fixture(scope="session")
def systemd_analyze() -> str:
    """The command of Debian's package `systemd`; nothing needs to run under systemd."""
    return require_program("systemd-analyze", "systemd")


@pytest.fixture
def installed(unit: Path, tmp_path: Path) -> Path:
    """A copy of the unit with the path of this environment's `rankery` command."""
    copy = tmp_path / unit.name
    command = Path(sys.executable).with_name("rankery")
    copy.write_text(unit.read_text().replace("/opt/rankery/bin/rankery", str(command)))
    return copy


@each_unit
def test_systemd_loads_the_unit(systemd_analyze: str, installed: Path) -> None:
    """`systemd-analyze verify` finds no unknown directive, no wrong value and no missing command."""
    verified = subprocess.run(
        [systemd_analyze, "verify", "--man=no", "--recursive-errors=no", str(installed)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert verified.returncode == 0, verified.stderr
    assert verified.stderr.strip() == ""


@each_unit
def test_the_unit_is_hardened(systemd_analyze: str, installed: Path) -> None:
    """`systemd-analyze security` rates it as safe."""
    rated = subprocess.run(
        [systemd_analyze, "security", "--offline=true", f"--threshold={MAX_EXPOSED}", str(installed)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert rated.returncode == 0, rated.stdout + rated.stderr


def test_the_units_start_commands_of_rankery() -> None:
    """One unit runs the API, one runs a rank worker, and one runs a worker."""
    started = [
        re.findall(r"^ExecStart=/opt/rankery/bin/rankery ([a-z-]+)$", unit.read_text(), re.M)
        for unit in UNITS
    ]
    assert started == [["api"], ["rank-worker"], ["worker"]]
    commands = {word for words in PANELS.values() for word in words}
    assert {"api", "rank-worker", "worker"} <= commands


def test_every_environment_variable_is_read_by_a_process() -> None:
    """A misspelt variable would silently do nothing."""
    named = set(re.findall(r"RANKERY_[A-Z_]+", "".join(path.read_text() for path in FOLDER.iterdir())))
    assert "RANKERY_DATABASE_URL" in named
    assert named <= settings_names()
