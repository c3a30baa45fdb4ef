"""Record the answers of the API again, for all modules or for the named ones.

python -m tests.browser.recorded comparison_page
"""

import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def main() -> int:
    """Run the tests of pages on a real service and save its answers."""
    os.environ["RANKERY_TEST_RECORD"] = "1"
    modules = [str(FOLDER / f"test_{module}.py") for module in sys.argv[1:]]
    return pytest.main(["-n", "0", "-m", "browser", *(modules or [str(FOLDER)])])


if __name__ == "__main__":
    raise SystemExit(main())
