"""Record the answers of the API again, of all modules or of those named.

python -m tests.browser.recorded comparison_page
"""

import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def main() -> int:
    """Run the tests of pages on a real service and keep its answers."""
    os.environ["RANKERY_TEST_RECORD"] = "1"
    modules = [str(FOLDER / f"test_{module}.py") for module in sys.argv[1:]]
    return pytest.main(["-n", "0", "-m", "browser", *(modules or [str(FOLDER)])])


if __name__ == "__main__":
    raise SystemExit(main())
