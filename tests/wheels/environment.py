"""Clean virtual environments with the versions of the development lock, which contains all other locks."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LOCK = ROOT / "requirements" / "development.lock"
_PINNED = re.compile(r"^([a-z0-9][^ ]*==[^\\\n]*?)\s*\\?$", re.MULTILINE)
# The tested installation must use neither the settings of a service on this machine nor the sources.
_REMOVED_VARIABLES = ("PYTHONPATH", "PYTHONSAFEPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")


class Environment:
    """A virtual environment in a separate folder.

    Args:
        folder: Folder of the environment.
        python: Interpreter that creates it.
    """

    def __init__(self, folder: Path, python: str) -> None:
        self._folder = folder
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        self._constraints = folder / "constraints.txt"
        self._constraints.write_text("\n".join(locked_versions()))

    def install(self, *requirements: str) -> float:
        """Install the locked versions with pip, from wheels only; return the duration in seconds."""
        options = ("--quiet", "--only-binary", ":all:", "--constraint", str(self._constraints))
        started_at = time.monotonic()
        self.run("python", "-m", "pip", "install", *options, *requirements)
        return time.monotonic() - started_at

    def size_bytes(self) -> int:
        """Return the disk usage of the environment, including pip."""
        return sum(path.lstat().st_size for path in self._folder.rglob("*") if not path.is_dir())

    def command(self, *words: str) -> list[str]:
        """Return the command line of a program in the environment."""
        return [str(self._folder / "bin" / words[0]), *words[1:]]

    def run(self, *words: str, cwd: Path | None = None, **variables: str) -> None:
        """Run a program of the environment and show its output.

        Raises:
            CalledProcessError: The exit code was not 0.
        """
        subprocess.run(self.command(*words), cwd=cwd, env=own_variables(**variables), check=True)

    def completed(self, *words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
        """Run a program of the environment; return its exit code and output, whatever the code."""
        return subprocess.run(
            self.command(*words), cwd=cwd, env=own_variables(), capture_output=True, text=True, check=False
        )


def own_variables(**variables: str) -> dict[str, str]:
    """Return the variables of this process without those that refer to other sources or services."""
    variables_of_process = {
        n: v for n, v in os.environ.items() if n not in _REMOVED_VARIABLES and not n.startswith("RANKERY_")
    }
    return {**variables_of_process, **variables}


def locked_versions() -> Sequence[str]:
    """Return each `package==version` of the lock with its markers, as constraints for pip."""
    return sorted(set(_PINNED.findall(_LOCK.read_text())))
