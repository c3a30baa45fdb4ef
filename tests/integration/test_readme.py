"""The README is true: its curl session runs as written."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rankery.embedded.stack import EmbeddedStack

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.embedded
def test_five_minutes_with_curl(stack: EmbeddedStack) -> None:
    """The session ends with two ranked documents, and nothing in it fails."""
    (session,) = re.findall(r"```bash\n(.*?)```", README.read_text(), re.DOTALL)
    assert "http://127.0.0.1:8000" in session
    script = "set -euo pipefail\n" + session.replace("http://127.0.0.1:8000", stack.url)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r'"rank": 2,\s+"score": -?[0-9.]+', done.stdout)
    assert '"upper": 0.' in done.stdout
