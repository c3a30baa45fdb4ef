"""Clean environments with the versions of the lock of development, which holds all others."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LOCK = ROOT / "requirements" / "development.lock"
_PINNED = re.compile(r"^([a-z0-9][^ ]*==[^\\\n]*?)\s*\\?$", re.MULTILINE)
# Neither settings of this machine's service nor the sources may reach what is tried.
_OWN = ("PYTHONPATH", "PYTHONSAFEPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")


class Environment:
    """A virtual environment in a folder of its own.

    Args:
        folder: Where it is made.
        python: The interpreter that makes it.
    """

    def __init__(self, folder: Path, python: str) -> None:
        self._folder = folder
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        self._constraints = folder / "constraints.txt"
        self._constraints.write_text("\n".join(locked_versions()))

    def install(self, *requirements: str) -> float:
        """Install with pip, in the locked versions and from wheels only; returns the seconds that it took."""
        options = ("--quiet", "--only-binary", ":all:", "--constraint", str(self._constraints))
        begun = time.monotonic()
        self.run("python", "-m", "pip", "install", *options, *requirements)
        return time.monotonic() - begun

    def size_bytes(self) -> int:
        """Return what the environment takes on the disk, pip included."""
        return sum(path.lstat().st_size for path in self._folder.rglob("*") if not path.is_dir())

    def command(self, *words: str) -> list[str]:
        """Return the command line of one of its programs."""
        return [str(self._folder / "bin" / words[0]), *words[1:]]

    def run(self, *words: str, cwd: Path | None = None, **variables: str) -> None:
        """Run one of its programs, its output shown.

        Raises:
            CalledProcessError: It ended with another code than 0.
        """
        subprocess.run(self.command(*words), cwd=cwd, env=own_variables(**variables), check=True)

    def ended(self, *words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
        """Run one of its programs, and return how it ended and what it printed."""
        return subprocess.run(
            self.command(*words), cwd=cwd, env=own_variables(), capture_output=True, text=True, check=False
        )


def own_variables(**variables: str) -> dict[str, str]:
    """Return this process's variables without those that lead to other sources or services."""
    kept = {n: v for n, v in os.environ.items() if n not in _OWN and not n.startswith("RANKERY_")}
    return {**kept, **variables}


def locked_versions() -> Sequence[str]:
    """Return each `package==version` of the lock, with its markers, as pip takes them for constraints."""
    return sorted(set(_PINNED.findall(_LOCK.read_text())))
