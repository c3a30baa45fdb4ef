"""The command line as a separate process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankery import __version__

_COMMANDS = "serve api worker demo keys train rank evaluate compare export models jobs datasets doctor"


def rankery(
    *arguments: str, cwd: Path | None = None, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run the command and wait for it."""
    return subprocess.run(
        [sys.executable, "-m", "rankery", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "COLUMNS": "200", **environment},
    )


def test_the_version_is_printed() -> None:
    """`rankery --version` prints the package's version."""
    done = rankery("--version")
    assert (done.returncode, done.stdout) == (0, f"rankery {__version__}\n")


def test_the_help_names_the_main_commands() -> None:
    """The help lists each of `_COMMANDS`."""
    done = rankery("--help")
    assert done.returncode == 0
    for command in _COMMANDS.split():
        assert f" {command} " in done.stdout


@pytest.mark.parametrize("command", ["api", pytest.param("worker", marks=pytest.mark.slow)])
def test_a_setting_out_of_bounds_is_reported_in_one_sentence(command: str, tmp_path: Path) -> None:
    """The sentence names the environment variable."""
    done = rankery(command, "--data-dir", str(tmp_path), RANKERY_LOG_LEVEL="loud")
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("rankery: RANKERY_LOG_LEVEL: input should be 'debug'")


@pytest.mark.parametrize(
    ("command", "variable", "value", "problem"),
    [
        ("keys list", "TRASH_DAYS", "-4", "input should be greater than or equal to 0"),
        (
            "keys list",
            "OUTBOUND_ALLOWED",
            "Net/33",
            "must be networks, addresses or host names; found 'Net/33'",
        ),
        ("api", "TRUSTED_PROXIES", "10.0.0.0/8,Net", "value is not a valid IPv4 or IPv6 network"),
    ],
)
def test_an_invalid_setting_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, variable: str, value: str, problem: str
) -> None:
    """The sentence has the name of the variable, also for one value of a list, and keeps upper case."""
    monkeypatch.setenv(f"RANKERY_{variable}", value)
    done = rankery(*command.split(), "--data-dir", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"rankery: RANKERY_{variable}: {problem}\n"


def test_demo_data_need_training_data(tmp_path: Path) -> None:
    """--test without --train is refused before a process starts."""
    path = tmp_path / "test.txt"
    path.write_text("1 qid:1 1:2\n")
    done = rankery("demo", "--test", str(path))
    assert done.returncode == 1
    assert done.stderr == "rankery: --validation and --test need --train, the data to learn from\n"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["api", "worker"])
def test_a_process_without_its_database_is_reported_in_one_sentence(command: str, tmp_path: Path) -> None:
    """The error names the unsupported database, without a traceback."""
    done = rankery(command, "--data-dir", str(tmp_path), RANKERY_DATABASE_URL="mysql://host/name")
    assert done.returncode == 1
    assert done.stderr == "rankery: the database is mysql; sqlite and postgresql are supported\n"
