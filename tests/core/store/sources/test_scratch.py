"""Folders of unfinished downloads."""

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
