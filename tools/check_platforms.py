"""Check that wheels alone can install the locked versions on each Python version and platform.

Usage: make check-platforms
"""

import subprocess
import sys
from itertools import product
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements" / "extras.lock"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin")


def resolution_fault(python: str, platform: str) -> str | None:
    """Return the reason why the lock file cannot be installed from wheels alone; None if it can.

    Args:
        python: A version of Python, such as `3.13`.
        platform: A platform in the spelling of uv, a target triple.
    """
    target = ("--python-version", python, "--python-platform", platform)
    options = ("--no-deps", "--only-binary", ":all:", "--no-header")
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", *options, *target, str(LOCK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    return None if done.returncode == 0 else " ".join(done.stderr.split())


def main() -> None:
    """Print a line for every Python version and platform; exit with 1 if one does not resolve."""
    faults = 0
    for python, platform in product(PYTHONS, PLATFORMS):
        fault = resolution_fault(python, platform)
        faults += fault is not None
        sys.stdout.write(f"{python}  {platform:<25}  {fault or 'wheels only'}\n")
    sys.exit(min(faults, 1))


if __name__ == "__main__":
    main()
