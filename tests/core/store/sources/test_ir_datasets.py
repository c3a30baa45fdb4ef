"""A dataset that the package ir_datasets provides, from files that were downloaded before."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

# A separate process: the package looks for its folder when it is imported.
READ = """
from core.store.sources.source_urls import parse_source_url
from core.store.sources.files import RemoteFiles

URL = parse_source_url("ir_datasets:vaswani")
with RemoteFiles(["ir_datasets:"], [], None) as remote:
    (file,) = remote.find([URL], None, None)
    with file.read(0, None) as stream:
        print(b"".join(stream.blocks).decode(), end="")
"""


def test_vaswani_is_read(tmp_path: Path) -> None:
    """The judgments of Vaswani are read as TREC judgments."""
    home = tmp_path / "vaswani"
    home.mkdir()
    (home / "qrels.txt").write_text("1\n 1239 1502\n 4462\n   /\n2\n 1872\n   /\n")
    environment = {**os.environ, "IR_DATASETS_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", READ], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "1 0 1239 1\n1 0 1502 1\n1 0 4462 1\n2 0 1872 1\n", done.stderr
