"""Folders of unfinished downloads."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.store.sources.scratch import scratch_folder


def test_an_error_within_the_block_is_not_taken_for_a_held_folder(tmp_path: Path) -> None:
    """A BlockingIOError of the block reaches the caller, and the folder is free again."""
    with pytest.raises(BlockingIOError, match="from the block"), scratch_folder(tmp_path, "job") as folder:
        raise BlockingIOError("from the block")
    with scratch_folder(tmp_path, "job") as again, scratch_folder(tmp_path, "job") as other:
        assert again == folder
        assert other != folder


def test_a_folder_is_not_provided_while_its_holder_removes_it(tmp_path: Path) -> None:
    """Processes with the same key may remove their folder at any moment; nothing is left."""

    def write_and_remove(_: int) -> None:
        with scratch_folder(tmp_path, "job") as folder:
            (folder / "part").mkdir()
            (folder / "part" / "1").write_bytes(b"")
            shutil.rmtree(folder)

    with ThreadPoolExecutor(4) as processes:
        list(processes.map(write_and_remove, range(400)))
    assert list(tmp_path.iterdir()) == []


def test_only_unused_folders_are_removed_after_a_day(tmp_path: Path) -> None:
    """A folder in use stays, also a temporary one."""
    with scratch_folder(tmp_path, "unused") as unused:
        pass
    with scratch_folder(tmp_path, "job") as held, scratch_folder(tmp_path, "job") as temporary:
        for folder in (unused, held, temporary):
            os.utime(folder, (0, 0))
        with scratch_folder(tmp_path, "other"):
            assert [folder.exists() for folder in (unused, held, temporary)] == [False, True, True]
