"""Programs and files that a machine may lack; a test without them skips and names the missing item."""

import os
import shutil
from typing import NoReturn

import pytest

# Folders of servers on Debian, which are not on every user's PATH.
_SYSTEM_FOLDERS = "/usr/sbin:/sbin"


def skip_without(reason: str) -> NoReturn:
    """Skip the test, or fail it if RANKERY_TEST_REQUIRE_ALL is set.

    Args:
        reason: The missing item, and the command or variable that supplies it.
    """
    if os.environ.get("RANKERY_TEST_REQUIRE_ALL"):
        pytest.fail(reason)
    pytest.skip(reason)


def require_program(program: str, package: str) -> str:
    """Return the path of a program; if it is missing, skip the test with the name of its Debian package."""
    path = shutil.which(program) or shutil.which(program, path=_SYSTEM_FOLDERS)
    return path or skip_without(f"{program} is not installed: apt-get install {package}")
