"""Programs and files that a machine may lack: a test without them skips and names what to install."""

import os
import shutil
from typing import NoReturn

import pytest

# Where Debian keeps servers, which is not on every user's PATH.
_SYSTEM_FOLDERS = "/usr/sbin:/sbin"


def skip_without(reason: str) -> NoReturn:
    """Skip the test, or fail it where RANKERY_TEST_REQUIRE_ALL is set.

    Args:
        reason: What is absent, and the command or variable that supplies it.
    """
    if os.environ.get("RANKERY_TEST_REQUIRE_ALL"):
        pytest.fail(reason)
    pytest.skip(reason)


def require_program(program: str, package: str) -> str:
    """Return the path of a program, or skip the test with the Debian package that holds it."""
    found = shutil.which(program) or shutil.which(program, path=_SYSTEM_FOLDERS)
    return found or skip_without(f"{program} is not installed: apt-get install {package}")
