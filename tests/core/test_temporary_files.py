"""The disk of temporary files is full."""

import gzip
import tempfile
from io import FileIO
from pathlib import Path

import pytest

from core.data.options import Limits, ReadingOptions
from core.data.part_files.part import read_part
from core.data.reading import JudgedFile, form_of_file, read_file
from core.errors import StoreFull


@pytest.fixture
def _full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: FileIO("/dev/full", "r+"))


@pytest.mark.usefixtures("_full_disk")
def test_a_full_disk_is_reported_while_a_file_is_uncompressed(tmp_path: Path) -> None:
    """The job waits for room; it failed with an internal error."""
    path = tmp_path / "judged.txt.gz"
    path.write_bytes(gzip.compress(b"1 qid:1 1:1\n"))
    with pytest.raises(StoreFull, match=r"\(TMPDIR\) has no room for the uncompressed data: .*No space left"):
        read_file(JudgedFile(path, path.name))


@pytest.mark.usefixtures("_full_disk")
def test_a_full_disk_is_reported_while_a_part_is_stored(tmp_path: Path) -> None:
    """The rows of each of several files are stored before all are joined."""
    path = tmp_path / "part-1.txt"
    path.write_bytes(b"1 qid:1 1:1\n")
    file, options = JudgedFile(path, path.name), ReadingOptions()
    form = form_of_file(file, options, Limits())
    with pytest.raises(StoreFull, match="no room for the rows of a file"):
        read_part(file, "", form, options, Limits())
