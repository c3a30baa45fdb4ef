"""Click logs as files of columns."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from core.clicks import ClickLog
from core.clicks.files import MANIFEST, LogWriter, file_names, open_click_log, write_click_log
from core.data.texts import Texts


def a_log() -> ClickLog:
    """Return a log with some of the optional columns."""
    return ClickLog(
        list_boundaries=np.array([0, 2, 3], np.int64),
        list_queries=np.array([0, 1], np.int32),
        pairs=np.array([0, 1, 2], np.int32),
        ranks=np.array([1, 2, 1], np.int16),
        clicks=np.array([False, True, True]),
        pair_queries=np.array([0, 0, 1], np.int32),
        pair_documents=np.array([0, 1, 0], np.int32),
        query_ids=Texts.of(["shoes", "Hüte"]),
        document_ids=Texts.of(["a", ""]),
        propensities=np.array([0.5, 0.25, 1], np.float32),
        list_times=np.array([7, 8], np.int64),
    )


def test_a_log_is_mapped_as_it_was_written(tmp_path: Path) -> None:
    """All columns have their values and types, and absent columns are absent."""
    write_click_log(a_log(), tmp_path)
    opened = open_click_log(tmp_path)
    for field in fields(ClickLog):
        written, found = getattr(a_log(), field.name), getattr(opened, field.name)
        if isinstance(written, np.ndarray):
            assert written.dtype == found.dtype
            np.testing.assert_array_equal(written, found)
        else:
            assert written == found


def test_a_mapped_log_can_be_written_to_without_a_change_of_the_files(tmp_path: Path) -> None:
    """Arrays are writable, as compiled kernels require; they keep their values after files are deleted."""
    write_click_log(a_log(), tmp_path)
    opened = open_click_log(tmp_path)
    opened.ranks[:] = 9
    assert open_click_log(tmp_path).ranks.tolist() == [1, 2, 1]
    for name in file_names(tmp_path / MANIFEST):
        (tmp_path / name).unlink()
    assert opened.clicks.tolist() == [False, True, True]


def test_columns_are_written_in_blocks(tmp_path: Path) -> None:
    """Appended blocks form one file; a writer that fails leaves no manifest."""
    with LogWriter(tmp_path) as writer:
        writer.append("ranks", np.array([1, 2]))
        writer.append("ranks", np.array([], np.int64))
        writer.append("ranks", np.array([3]))
    assert np.fromfile(tmp_path / "ranks.bin", np.int16).tolist() == [1, 2, 3]
    failed = tmp_path / "failed"
    failed.mkdir()
    with pytest.raises(KeyError), LogWriter(failed) as writer:
        writer.append("no such column", np.array([1]))
    assert not (failed / MANIFEST).exists()


@pytest.mark.parametrize("content", ["", "null", "[]", "{}", '{"columns": ["pairs"]}'])
def test_a_damaged_manifest_is_an_error(tmp_path: Path, content: str) -> None:
    """JSON of another form is reported like text that is not JSON."""
    write_click_log(a_log(), tmp_path)
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(ValueError, match=r"columns|Expecting value"):
        open_click_log(tmp_path)


def test_lists_are_taken_with_their_impressions(tmp_path: Path) -> None:
    """Lists come in the given order, and a list that is named twice comes twice."""
    taken = a_log().take_lists(np.array([1, 0, 1]))
    assert taken.list_boundaries.tolist() == [0, 1, 3, 4]
    assert taken.pairs.tolist() == [2, 0, 1, 2]
    assert taken.list_times is not None
    assert taken.list_times.tolist() == [8, 7, 8]
