"""The client's types in a user's type checker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).with_name("user_script.py")
_REPOSITORY = _SCRIPT.parents[2]


@pytest.mark.slow  # half a minute of mypy without its cache
def test_a_users_script_is_checked_strictly(tmp_path: Path) -> None:
    """`mypy --strict` accepts the script with the package alone, without plugins, settings or stubs."""
    environment = os.environ | {"MYPYPATH": str(_REPOSITORY)}
    options = (
        "--strict",
        "--config-file=",
        "--follow-imports=silent",
        f"--cache-dir={_REPOSITORY / '.mypy_cache' / 'user'}",
    )
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT.read_text())
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mypy", *options, str(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
