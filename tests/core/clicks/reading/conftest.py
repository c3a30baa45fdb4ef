"""A fixture that reads click logs from texts."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from core.clicks.reading import LogFile, LogReading, log_options, read_click_log

Read = Callable[..., LogReading]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """A function that reads texts as the files of one log, with options."""
    numbers = itertools.count()

    def read_texts(*texts: str | bytes, **options: object) -> LogReading:
        files: list[LogFile] = []
        for text in texts:
            path = tmp_path / f"file-{next(numbers)}"
            path.write_bytes(text.encode() if isinstance(text, str) else text)
            files.append(LogFile(path, f"log-{len(files) + 1}"))
        folder = tmp_path / f"columns-{next(numbers)}"
        folder.mkdir()
        return read_click_log(files, folder, log_options(options))

    return read_texts
