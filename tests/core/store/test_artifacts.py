"""Bytes under keys, in a local folder and on a file system that is not local."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import fsspec
import pytest

from core.errors import NotFound, StoreUnavailable
from core.store.artifacts.artifacts import Artifacts

KEY = "models/mdl_1/model.txt"


@pytest.fixture(params=["file", "memory"])
def artifacts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Artifacts]:
    """Artifacts in a folder that does not exist yet, or in memory."""
    if request.param == "file":
        yield Artifacts(f"file://{tmp_path}/deep/artifacts")
        return
    root = f"memory://{uuid.uuid4().hex}"
    yield Artifacts(root)
    files = fsspec.filesystem("memory")
    if files.exists(root):
        files.rm(root, recursive=True)


def _write_half(file: BinaryIO) -> None:
    file.write(b"half")
    raise ZeroDivisionError


def test_written_bytes_are_read_by_all_methods(artifacts: Artifacts) -> None:
    """All methods that read an artifact return the written bytes."""
    content = bytes(range(256)) * 10_000
    artifacts.write_bytes(KEY, content)
    assert artifacts.read_bytes(KEY) == content
    assert artifacts.exists(KEY)
    assert artifacts.size(KEY) == len(content)
    with artifacts.open(KEY) as file:
        assert file.read(3) + file.read() == content
    with artifacts.local(KEY) as path:
        assert path.name == "model.txt"
        assert path.read_bytes() == content


def test_a_write_replaces(artifacts: Artifacts) -> None:
    """Writing a key again replaces its bytes; readers before and after see one or the other."""
    artifacts.write_bytes(KEY, b"first, and longer")
    with artifacts.open(KEY) as before:
        artifacts.write_bytes(KEY, b"second")
        assert before.read() in (b"first, and longer", b"second")
    assert artifacts.read_bytes(KEY) == b"second"


def test_an_unfinished_write_leaves_nothing(artifacts: Artifacts, tmp_path: Path) -> None:
    """A write that fails leaves the key as it was and no file behind."""
    artifacts.write_bytes(KEY, b"old")
    with pytest.raises(ZeroDivisionError), artifacts.writing(KEY) as file:
        _write_half(file)
    assert artifacts.read_bytes(KEY) == b"old"
    with pytest.raises(ZeroDivisionError), artifacts.writing("models/mdl_2/model.txt") as file:
        _write_half(file)
    assert not artifacts.exists("models/mdl_2/model.txt")
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "model.txt"] == []


def test_a_write_shows_when_complete(artifacts: Artifacts) -> None:
    """Until the block ends there is nothing under the key."""
    with artifacts.writing(KEY) as file:
        file.write(b"x" * 10_000_000)
        assert not artifacts.exists(KEY)
    assert artifacts.size(KEY) == 10_000_000


def test_a_missing_key_is_not_found(artifacts: Artifacts) -> None:
    """Reading a missing key raises `NotFound`."""
    assert not artifacts.exists(KEY)
    for read in (artifacts.read_bytes, artifacts.size, artifacts.open):
        with pytest.raises(NotFound, match=KEY):
            read(KEY)
    with pytest.raises(NotFound), artifacts.local(KEY):
        pass


def test_a_key_or_folder_is_deleted(artifacts: Artifacts) -> None:
    """A key, or a folder with everything below it, is deleted; a second deletion is no error."""
    for key in ("datasets/ds_1/upload", "datasets/ds_1/data.parquet", "datasets/ds_10/upload"):
        artifacts.write_bytes(key, b"x")
    artifacts.delete("datasets/ds_1/upload")
    assert not artifacts.exists("datasets/ds_1/upload")
    artifacts.delete("datasets/ds_1")
    artifacts.delete("datasets/ds_1")
    assert not artifacts.exists("datasets/ds_1/data.parquet")
    assert artifacts.exists("datasets/ds_10/upload")


@pytest.mark.parametrize(
    "key", ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/", ".", "a/.", "a\\b", "a\0b"]
)
def test_keys_outside_the_folder_are_refused(artifacts: Artifacts, key: str) -> None:
    """A key that is absolute, leaves its folder or is not normalised is refused by every action."""
    for act in (
        artifacts.open,
        artifacts.read_bytes,
        artifacts.exists,
        artifacts.size,
        artifacts.delete,
        lambda key: artifacts.write_bytes(key, b""),
    ):
        with pytest.raises(ValueError, match="not a relative key"):
            act(key)
    with pytest.raises(ValueError, match="not a relative key"), artifacts.local(key):
        pass


def test_errors_of_the_block_pass_through(artifacts: Artifacts) -> None:
    """An exception of the block itself is not reported as a fault of the storage."""
    artifacts.write_bytes(KEY, b"x")
    with pytest.raises(FileNotFoundError), artifacts.local(KEY):
        raise FileNotFoundError
    with pytest.raises(FileNotFoundError), artifacts.writing(KEY):
        raise FileNotFoundError


def test_local_copies_are_removed() -> None:
    """The local copy of a remote artifact exists only within the block."""
    artifacts = Artifacts(f"memory://{uuid.uuid4().hex}")
    artifacts.write_bytes(KEY, b"x")
    with artifacts.local(KEY) as path:
        assert path.exists()
    assert not path.exists()
    assert artifacts.exists(KEY)


def test_a_reachable_storage_has_no_fault(artifacts: Artifacts) -> None:
    """A storage that can be reached has no fault."""
    assert artifacts.fault() is None


def test_a_full_disk_is_a_fault_for_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe for jobs reports the full disk; models can still be read and scored."""
    artifacts = Artifacts(f"file://{tmp_path}")
    monkeypatch.setattr(Artifacts, "free_bytes", lambda _: 0)
    assert artifacts.fault() == "has no space left"
    assert artifacts.read_fault() is None


def test_an_unusable_storage_is_unavailable(tmp_path: Path) -> None:
    """An unknown kind of URL, or a folder that cannot be made, is an unavailable store."""
    with pytest.raises(StoreUnavailable):
        Artifacts("nonsense://x")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreUnavailable):
        Artifacts(f"file://{tmp_path}/file").write_bytes(KEY, b"")
