"""Datasets of files in data roots, which a worker reads in place."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.data.folders import DataRoots
from core.data.options import Limits
from core.errors import DatasetError
from core.store import Dataset, Store
from core.store.artifacts.keys import dataset_upload_key
from worker import WorkerSettings
from worker.job.sources import FolderFile
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs

TEXT = "1 qid:1 1:2 2:7\n0 qid:1 1:1 2:7\n2 qid:2 1:3 2:8\n"


@dataclass(frozen=True)
class Disk:
    """A data root, and a worker that reads from it."""

    root: Path
    store: Store
    settings: WorkerSettings

    def ingest(self, source: dict[str, Any], content: str | None = None) -> Dataset:
        """Add a dataset with this source, and content if given; run its job and return the dataset."""
        with self.store.begin() as tx:
            dataset_id = tx.datasets.add("d", source).id
            job = tx.jobs.add("ingest", {"dataset_id": dataset_id}, [dataset_id])
            tx.datasets.attach_job(dataset_id, job.id)
        if content is not None:
            self.store.artifacts.write_bytes(dataset_upload_key(dataset_id), content.encode())
        run_jobs(self.store, self.settings, StopFlag(), "w1", RUNNERS)
        with self.store.read() as tx:
            return tx.datasets.get(dataset_id)

    def read(self, folder: str, name: str = "train.txt") -> Dataset:
        """Read a file below the root."""
        return self.ingest(source_of(folder, name))


def source_of(folder: str, name: str = "train.txt") -> dict[str, Any]:
    """Return the source as the API records it."""
    return {"kind": "folder", "folder": folder, "filename": name, "part": "train", "format": "auto"}


@pytest.fixture
def disk(store: Store, settings: WorkerSettings, tmp_path: Path) -> Disk:
    """A root with one fold."""
    root = tmp_path / "corpora"
    fold = root / "web" / "Fold1"
    fold.mkdir(parents=True)
    (fold / "train.txt").write_text(TEXT)
    return Disk(root, store, settings.model_copy(update={"data_roots": [root]}))


def test_a_file_is_read_in_place(disk: Disk) -> None:
    """The dataset becomes ready; the file is unchanged, and is not copied as an upload."""
    dataset = disk.read("web/Fold1")
    assert dataset.status == "ready", dataset.problem
    assert dataset.statistics is not None
    assert (dataset.statistics["queries"], dataset.statistics["documents"]) == (2, 3)
    assert dataset.source == source_of("web/Fold1") | {"format": "letor"}
    assert (disk.root / "web" / "Fold1" / "train.txt").read_text() == TEXT
    assert not disk.store.artifacts.exists(dataset_upload_key(dataset.id))


def test_equal_bytes_are_stored_once(disk: Disk) -> None:
    """Content is stored once, whether uploaded or read in place from any folder."""
    uploaded = disk.ingest({"kind": "upload", "filename": "t", "format": "auto"}, TEXT)
    (disk.root / "copy").mkdir()
    (disk.root / "copy" / "train.txt").write_text(TEXT)
    for folder in ("web/Fold1", "copy"):
        dataset = disk.read(folder)
        assert (dataset.digest, dataset.data_key) == (uploaded.digest, uploaded.data_key)


def test_a_missing_or_outside_file_makes_the_dataset_invalid(disk: Disk, tmp_path: Path) -> None:
    """The worker repeats the checks of the API, since files may change and its disk may differ."""
    (tmp_path / "train.txt").write_text(TEXT)
    (disk.root / "out").symlink_to(tmp_path)
    for folder in ("none", "out", "..", str(tmp_path), "web"):
        dataset = disk.read(folder)
        assert dataset.status == "invalid", folder
        assert dataset.problem is not None
        assert "a file below RANKERY_DATA_ROOTS that the worker may read" in str(dataset.problem)
    elsewhere = Disk(disk.root, disk.store, disk.settings.model_copy(update={"data_roots": []}))
    assert elsewhere.read("web/Fold1").status == "invalid"


def test_mistakes_are_reported_with_file_and_line(disk: Disk) -> None:
    """The problem has the file and the line, as for an upload."""
    (disk.root / "web" / "Fold1" / "train.txt").write_text("1 qid:1 1:2\n0 qid:1 1:?\n")
    problem = disk.read("web/Fold1").problem
    assert problem is not None
    (error,) = problem["errors"]
    assert (error["file"], error["line"]) == ("train.txt", 2)


@pytest.mark.parametrize("moment", ["before", "while"])
def test_a_file_that_changes_is_refused(disk: Disk, moment: str) -> None:
    """A file must not change between the checksum and the end of the reading."""
    path = disk.root / "web" / "Fold1" / "train.txt"
    with disk.store.begin() as tx:
        row = tx.datasets.add("d", source_of("web/Fold1"))
    file = FolderFile(row, DataRoots([disk.root]))
    file.digest(lambda *_: None)
    assert file.read(Limits(), 1, lambda *_: None).dataset.n_documents == 3

    def change(*_: int) -> None:
        with path.open("a") as content:
            content.write("1 qid:3 1:1\n")

    if moment == "before":
        change()
    with pytest.raises(DatasetError, match="it changed while it was read"):
        file.read(Limits(), 1, change)


def test_a_file_that_was_replaced_is_refused(disk: Disk) -> None:
    """A new file with the same name and size is another version."""
    path = disk.root / "web" / "Fold1" / "train.txt"
    with disk.store.begin() as tx:
        row = tx.datasets.add("d", source_of("web/Fold1"))
    file = FolderFile(row, DataRoots([disk.root]))
    file.digest(lambda *_: None)
    path.with_name("new").write_text(TEXT)
    path.with_name("new").rename(path)
    with pytest.raises(DatasetError, match="it changed while it was read"):
        file.read(Limits(), 1, lambda *_: None)
