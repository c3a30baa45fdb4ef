"""Folders below data roots: recognised by their files; paths out of the roots are refused."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.data.folders import DataRoots, fold_of
from core.errors import DatasetError, InvalidInput
from tests.examples import examples

ROW = "1 qid:1 1:0.5\n"
SECRET = "secret"


def _write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ROW)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that is not a root, with files of the right names."""
    folder = tmp_path / "outside"
    for name in ("train.txt", "Fold1/train.txt"):
        _write(folder, name)
        (folder / name).write_text(SECRET)
    return folder


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Path:
    """A root with a corpus, and symbolic links within it and out of it."""
    root = tmp_path / "root"
    _write(root, "web/Fold1/train.txt", "web/Fold1/vali.txt", "web/Fold1/test.txt", "linked/test.txt")
    (root / "inner").symlink_to("web")
    (root / "outer").symlink_to(outside)
    (root / "linked" / "train.txt").symlink_to(outside / "train.txt")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "linked" / "pipe")
    return root


@pytest.mark.parametrize(
    ("files", "folder", "parts"),
    [
        (  # MSLR-WEB10K and 30K, MQ2007 and MQ2008 of LETOR 4.0
            ["Fold3/train.txt", "Fold3/vali.txt", "Fold3/test.txt"],
            "Fold3",
            {"train": "train.txt", "validation": "vali.txt", "test": "test.txt"},
        ),
        (  # LETOR 3.0
            ["Fold1/trainingset.txt", "Fold1/validationset.txt", "Fold1/testset.txt"],
            "Fold1",
            {"train": "trainingset.txt", "validation": "validationset.txt", "test": "testset.txt"},
        ),
        (  # Yahoo, both sets
            ["set1.train.txt", "set1.valid.txt", "set1.test.txt", "set2.train.txt"],
            "set1",
            {"train": "set1.train.txt", "validation": "set1.valid.txt", "test": "set1.test.txt"},
        ),
        (["set2.train.txt.gz"], ".", {"train": "set2.train.txt.gz"}),
        (["train.txt", "test.txt", "README.txt"], ".", {"train": "train.txt", "test": "test.txt"}),  # Istella
        (["train.txt", "train.txt.gz", "train.md"], ".", {"train": "train.txt"}),
        (["train.letor.txt", "Test.CSV"], ".", {"train": "train.letor.txt", "test": "Test.CSV"}),
    ],
)
def test_corpora_are_recognised_by_the_names_of_their_files(
    tmp_path: Path, files: list[str], folder: str, parts: Mapping[str, str]
) -> None:
    """Each part is the file with the corpus's name for it, in the order of training."""
    _write(tmp_path, *files)
    found = DataRoots([tmp_path]).recognise(folder)
    assert (found.folder, dict(found.parts)) == (folder, parts)
    assert list(found.parts) == [part for part in ("train", "validation", "test") if part in parts]
    assert set(found.sizes.values()) == {len(ROW)}


def test_folds_and_sets_are_listed(tmp_path: Path) -> None:
    """A folder of folds or of two sets lists folders and no parts. Hidden names are left out."""
    _write(tmp_path, "web/Fold2/train.txt", "web/Fold1/train.txt", "web/.git/train.txt")
    _write(tmp_path, "yahoo/set1.train.txt", "yahoo/set2.train.txt")
    roots = DataRoots([tmp_path])
    assert (roots.recognise("web").parts, roots.recognise("web").folders) == ({}, ("Fold1", "Fold2"))
    assert (roots.recognise("yahoo").parts, roots.recognise("yahoo").folders) == ({}, ("set1", "set2"))


def test_two_files_of_one_part_are_refused(tmp_path: Path) -> None:
    """The part is ambiguous, and the error names both files."""
    _write(tmp_path, "train.txt", "train.csv")
    with pytest.raises(InvalidInput, match=r"two files match the part train: train\.csv and train\.txt"):
        DataRoots([tmp_path]).recognise(".")


@pytest.mark.parametrize("name", ["web/Fold1", "inner/Fold1", "./web//Fold1", "web/./Fold1"])
def test_paths_within_the_root_are_read(root: Path, name: str) -> None:
    """Absolute paths are read, too, and symbolic links that stay within a root."""
    roots = DataRoots([root])
    for folder in (name, str(root / name)):
        found = roots.recognise(folder)
        assert set(found.parts) == {"train", "validation", "test"}
        with roots.opened(found.folder, "train.txt") as file:
            assert (file.path.read_text(), file.size_bytes) == (ROW, len(ROW))


@pytest.mark.parametrize(
    "folder",
    [
        *("..", "../outside", "web/../../outside", "web/..", "outer", "outer/Fold1", "loop", "none"),
        *("/", "/etc", "//etc", "~", "", "web\x00", "web/Fold1/train.txt", "x" * 1001, "linked/pipe", "set1"),
    ],
)
def test_nothing_outside_is_listed(root: Path, outside: Path, folder: str) -> None:
    """A path outside the roots has the same answer as one that does not exist, which hides the disk."""
    for path in (folder, str(outside), str(root / ".." / "outside")):
        with pytest.raises(InvalidInput) as caught:
            DataRoots([root]).recognise(path)
        (problem,) = caught.value.problems
        assert problem.pointer == "/folder"
        assert str(outside) not in problem.detail
        assert problem.detail.startswith("must be a folder below RANKERY_DATA_ROOTS")


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        *(("linked", "train.txt"), ("linked", "pipe"), ("outer", "train.txt"), ("web", "Fold1")),
        *(("web", "../../outside/train.txt"), ("web", "/etc/passwd"), ("web/Fold1", "gone.txt")),
    ],
)
def test_nothing_outside_is_opened(root: Path, folder: str, name: str) -> None:
    """No file is opened by a link out of the root, by a name with a path, or if it is not a plain file."""
    with (
        pytest.raises(DatasetError, match="a file below RANKERY_DATA_ROOTS that the worker may read"),
        DataRoots([root]).opened(folder, name),
    ):
        pass


def test_a_part_that_links_outside_is_refused_with_its_folder(root: Path) -> None:
    """The folder is refused, because the size of the part would be that of a file elsewhere."""
    with pytest.raises(InvalidInput):
        DataRoots([root]).recognise("linked")


def test_a_path_that_is_exchanged_after_it_was_resolved_is_refused(root: Path, outside: Path) -> None:
    """Folders are opened one by one without following links, which may have replaced them meanwhile."""

    class ExchangesFolder(DataRoots):
        def _resolve(self, relative: PurePosixPath) -> tuple[Path, Path]:
            resolved = super()._resolve(relative)
            if (root / "web").is_dir() and not (root / "web").is_symlink():
                (root / "web").rename(root / "before")
                (root / "web").symlink_to(outside)
            return resolved

    with pytest.raises(DatasetError), ExchangesFolder([root]).opened("web/Fold1", "train.txt"):
        pass


def test_an_open_file_stays_the_same_file(root: Path) -> None:
    """An open file stays readable after another took its name; a change of its content is a new version."""
    roots = DataRoots([root])
    with roots.opened("web/Fold1", "train.txt") as file:
        (root / "web" / "Fold1" / "new").write_text(SECRET)
        (root / "web" / "Fold1" / "new").rename(root / "web" / "Fold1" / "train.txt")
        assert file.path.read_text() == ROW
    with roots.opened("web/Fold1", "train.txt") as file:
        assert roots.version(file) == file.version
        with (root / "web" / "Fold1" / "train.txt").open("a") as content:
            content.write(ROW)
        assert roots.version(file) != file.version


def test_a_path_is_found_in_the_first_root_that_has_it(tmp_path: Path) -> None:
    """An absolute path in a later root stays absolute where an earlier root has the same path."""
    _write(tmp_path, "a/web/train.txt", "b/web/test.txt", "b/more/test.txt")
    roots = DataRoots([tmp_path / "a", tmp_path / "b"])
    assert set(roots.recognise("web").parts) == {"train"}
    assert set(roots.recognise("more").parts) == {"test"}
    second = roots.recognise(str(tmp_path / "b" / "web"))
    assert (set(second.parts), second.folder) == ({"test"}, str(tmp_path / "b" / "web"))
    assert set(roots.recognise(second.folder).parts) == {"test"}
    assert roots.recognise(str(tmp_path / "b" / "more")).folder == "more"


def test_without_roots_nothing_is_read(tmp_path: Path) -> None:
    """The error names the setting."""
    with pytest.raises(InvalidInput, match="RANKERY_DATA_ROOTS is not set"):
        DataRoots([]).recognise(str(tmp_path))


_NAMES = st.sampled_from(
    ["..", ".", "", "web", "Fold1", "inner", "outer", "loop", "linked", "outside", "root"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(200))
@given(
    names=st.lists(_NAMES, max_size=7), absolute=st.booleans(), file=st.sampled_from(["train.txt", "Fold1"])
)
def test_no_path_leads_out_of_the_root(root: Path, names: list[str], absolute: bool, file: str) -> None:
    """Any combination of folders, links and dots lists and opens only files below the root."""
    roots = DataRoots([root])
    folder = "/".join(([str(root)] if absolute else []) + names)
    try:
        found = roots.recognise(folder)
    except InvalidInput:
        pass
    else:
        assert (root / found.folder).resolve().is_relative_to(root)
    try:
        with roots.opened(folder, file) as opened:
            assert opened.path.read_text() == ROW
    except DatasetError:
        pass


@pytest.mark.parametrize(
    ("folder", "fold"),
    [("MSLR-WEB30K/Fold3", 3), ("fold5", 5), ("Fold 2", 2), ("Fold10", 10), ("web", None), ("Fold0", None)],
)
def test_the_fold_is_in_the_name_of_the_folder(folder: str, fold: int | None) -> None:
    """The number is read from the corpora's names of folders."""
    assert fold_of(folder) == fold
