"""Arguments that may name a file of this machine."""

import os
from pathlib import Path

import pytest

from rankery.client import Client
from rankery.errors import FileUnusable, InvalidArgument, NothingFound
from rankery.local_files import is_file, is_folder
from tests.rankery.cli.commands import run

_LONG = "x" * 300  # longer than the name of any file


def test_a_text_that_no_path_can_be_names_no_file(tmp_path: Path) -> None:
    """A missing, too long or malformed path is neither a file nor a folder."""
    (tmp_path / "web").write_text("")
    assert (is_file(tmp_path / "web"), is_folder(tmp_path / "web")) == (True, False)
    assert (is_file(tmp_path), is_folder(tmp_path)) == (False, True)
    assert not any(
        names(text)
        for names in (is_file, is_folder)
        for text in ("gone", _LONG, "a\0b", tmp_path / "web" / "a")
    )


def test_a_file_in_a_folder_of_another_user_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is not that there is no such file, nor a bare PermissionError."""

    def refuse(path: Path) -> os.stat_result:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(FileUnusable, match=r"theirs/web\.txt cannot be read: Permission denied"):
        is_file("theirs/web.txt")


def test_commands_name_a_file_that_cannot_be_read(served: tuple[str, int]) -> None:
    """Names may be longer than a path or have bytes that are not UTF-8; a disk may fail."""
    url = "http://{}:{}".format(*served)
    unreadable = run("train", "/proc/self/mem", RANKERY_URL=url)
    assert unreadable.sentence == "/proc/self/mem cannot be read: Input/output error"
    for words in (("train",), ("models", "show"), ("models", "describe"), ("jobs", "label")):
        assert "not valid Unicode" in run(*words, os.fsdecode(b"\xff"), RANKERY_URL=url).sentence
    assert "at most 200 characters" in run("train", _LONG, RANKERY_URL=url).sentence


def test_the_client_takes_any_text_as_a_name(served: tuple[str, int]) -> None:
    """A dataset's name may have more bytes than a file's: 90 Chinese characters are 270 bytes."""
    with Client("http://{}:{}".format(*served)) as client:
        with pytest.raises(NothingFound, match="no dataset and no file"):
            client.evaluate("web", "数" * 90)
        with pytest.raises(InvalidArgument, match="not valid Unicode text"):
            client.evaluate("web", os.fsdecode(b"\xff"))
