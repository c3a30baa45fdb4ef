"""Folders of judged files that are read in place, below roots that the operator allows."""

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from core.errors import DatasetError, InvalidInput
from core.names import is_visible

MAX_FILES = 1_000  # of one dataset
MAX_PATTERN_LENGTH = 200
_FILES_POINTER = "/files"
_DIGITS = re.compile(r"(\d+)")


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """Return the names that match a pattern, in natural order: `part-2` is before `part-10`.

    Names that begin with `.` or `_`, such as `_SUCCESS`, are left out, and empty ones: an object named
    `folder/` marks a folder that was created in the console of a bucket.

    Args:
        pattern: Shell-style (glob) pattern with `*`, `?` and `[…]`.

    Raises:
        InvalidInput: The pattern is not a name, matches nothing, or matches more than `MAX_FILES` files.

    Example:
        >>> matching(["part-10.csv", "part-2.csv", "_SUCCESS"], "part-*.csv")
        ['part-2.csv', 'part-10.csv']
    """
    if not pattern or len(pattern) > MAX_PATTERN_LENGTH or "/" in pattern or not is_visible(pattern):
        raise InvalidInput.at(
            _FILES_POINTER, "must be a pattern of names of files in the folder, such as part-*.parquet"
        )
    matches = [name for name in names if name[:1] not in ("", ".", "_") and fnmatchcase(name, pattern)]
    if not matches:
        raise InvalidInput.at(_FILES_POINTER, "matches no file in the folder")
    if len(matches) > MAX_FILES:
        raise InvalidInput.at(
            _FILES_POINTER, f"must match at most {MAX_FILES:,} files; found {len(matches):,}"
        )
    return sorted(matches, key=_natural_order)


def _natural_order(name: str) -> tuple[list[tuple[int, str]], str]:
    pieces = _DIGITS.split(name)
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces], name


SETTING = "RANKERY_DATA_ROOTS"
PARTS = ("train", "validation", "test")
MAX_FOLDER_LENGTH = 1000
_MAX_FOLDERS = 1000  # maximum number of listed subfolders of a folder
_POINTER = "/folder"
# Validation files: vali in MSLR and LETOR 4.0, valid in Yahoo, validationset in LETOR 3.0.
_PART_OF_NAME = MappingProxyType(
    {
        **dict.fromkeys(("train", "trainingset"), "train"),
        **dict.fromkeys(("vali", "valid", "validation", "validationset"), "validation"),
        **dict.fromkeys(("test", "testset"), "test"),
    }
)
_COMPRESSED_SUFFIXES = ("gz", "zst")
_FILE_SUFFIXES = frozenset(
    {"txt", "letor", "svm", "svmlight", "libsvm", "csv", "tsv", "parquet", *_COMPRESSED_SUFFIXES}
)
_SET = re.compile(r"set\d{1,3}")  # Yahoo: set1.train.txt
_FOLDER_RULE = (
    f"must be a folder below {SETTING} that the service may read, without `..`; symbolic links to places"
    " outside are refused"
)


@dataclass(frozen=True)
class JudgedFolder:
    """A folder below a data root, recognised by the names of its files.

    Attributes:
        folder: Its path below the root, such as `MSLR-WEB30K/Fold1`; `.` is the root. `Yahoo/set1` means
            the files of `Yahoo` whose names begin with `set1.`. The path is absolute where an earlier root
            has the same relative path.
        parts: Name of each file by its part, `train`, `validation` or `test`; absent parts are left out.
        sizes: Size of each file in bytes, by part.
        modified: Modification time of each file by part, as ISO 8601 in UTC.
        folders: Subfolders and sets of file names (`set1`), sorted.
    """

    folder: str
    parts: Mapping[str, str]
    sizes: Mapping[str, int]
    modified: Mapping[str, str]
    folders: tuple[str, ...]


@dataclass(frozen=True)
class FoundFiles:
    """The files of a folder that match a pattern and become one dataset.

    Attributes:
        folder: Its path below the root, or the URL of a folder of a bucket.
        names: File names in natural order.
        modified: Latest modification time of the files, as ISO 8601 in UTC.
    """

    folder: str
    names: tuple[str, ...]
    size_bytes: int
    modified: str


@dataclass(frozen=True)
class OpenFile:
    """An open file below a data root.

    Attributes:
        path: Path of the open descriptor (on Linux), which opens the same file even after a rename.
        modified: Modification time, as ISO 8601 in UTC.
        version: Fingerprint of the file's status, which changes whenever the file does.
    """

    path: Path
    size_bytes: int
    modified: str
    version: tuple[int, ...]


class DataRoots:
    """Root folders below which all files may be read.

    A path is resolved and must be below a root. Its folders are then opened one by one without following
    symbolic links, so that a link swapped in meanwhile cannot escape the roots.

    Args:
        roots: The folders; a path below several roots belongs to the first. Bucket URLs are ignored.
    """

    def __init__(self, roots: Sequence[Path | str]) -> None:
        self._roots = tuple(root for root in roots if isinstance(root, Path))

    def recognise(self, folder: str) -> JudgedFolder:
        """List a folder and recognise its train, validation and test files.

        Args:
            folder: Path relative to a root, or an absolute path below a root.

        Raises:
            InvalidInput: No root has such a folder, or two of its files may be the same part.
        """
        relative, requested_set = self._split_set(self._relative(folder))
        names, folders = self._list(relative)
        sets = _parts_by_set(names)
        if requested_set and requested_set not in sets:
            raise InvalidInput.at(_POINTER, _FOLDER_RULE)
        set_name = requested_set or ("" if "" in sets or len(sets) != 1 else next(iter(sets)))
        parts = sets.get(set_name, {})
        sizes, modified = {}, {}
        for part, name in parts.items():
            with self._opened(relative / name) as file:
                sizes[part] = file.size_bytes
                modified[part] = file.modified
        below = () if requested_set else sorted({*folders, *sets} - {set_name, ""})[:_MAX_FOLDERS]
        return JudgedFolder(str(relative / requested_set), parts, sizes, modified, tuple(below))

    def find(self, folder: str, pattern: str) -> FoundFiles:
        """Find the files of a folder whose names match a pattern.

        Args:
            folder: Path relative to a root, or an absolute path below a root.
            pattern: Glob pattern, see `core.data.folders.matching`.

        Raises:
            InvalidInput: No root has such a folder, or the pattern does not match 1 to 1,000 files in it.
        """
        relative = self._relative(folder)
        names = matching(self._list(relative)[0], pattern)
        size_bytes, modified = 0, ""
        for name in names:
            with self._opened(relative / name) as file:
                size_bytes += file.size_bytes
                modified = max(modified, file.modified)
        return FoundFiles(str(relative), tuple(names), size_bytes, modified)

    @contextlib.contextmanager
    def opened(self, folder: str, name: str) -> Iterator[OpenFile]:
        """Open a file of a folder that `recognise` or `find` found.

        Raises:
            DatasetError: The file is missing, may not be read, or is not a plain file below a root.
        """
        with contextlib.ExitStack() as stack:
            try:
                relative, _ = self._split_set(self._relative(folder))
                self._check(str(relative / name))
                file = stack.enter_context(self._opened(relative / name))
            except InvalidInput as invalid:
                expected = f"expected a file below {SETTING} that the worker may read, but found none"
                raise DatasetError.at(expected, file=f"{folder}/{name}") from invalid
            yield file

    def version(self, file: OpenFile) -> tuple[int, ...]:
        """Return the current version of an open file."""
        return _version(file.path.stat())

    def _relative(self, folder: str) -> PurePosixPath:
        """Return a path relative to its root; an absolute path where an earlier root shadows it."""
        if not self._roots:
            raise InvalidInput.at(_POINTER, f"reading folders is disabled: {SETTING} is not set")
        self._check(folder)
        path = PurePosixPath(folder)
        if not path.is_absolute():
            return path
        for root in self._roots:
            for base in (root.absolute(), root.resolve()):
                if path.is_relative_to(base):
                    relative = path.relative_to(base)
                    on_disk, _ = self._split_set(relative)
                    # A relative path refers to the first root that has it; other roots need absolute paths.
                    is_first = self._resolve(on_disk)[1] == (base / on_disk).resolve()
                    return relative if is_first else path
        raise InvalidInput.at(_POINTER, _FOLDER_RULE)

    @staticmethod
    def _check(path: str) -> None:
        names = PurePosixPath(path).parts
        if not path or len(path) > MAX_FOLDER_LENGTH or not is_visible(path) or ".." in names:
            raise InvalidInput.at(_POINTER, _FOLDER_RULE)

    def _split_set(self, relative: PurePosixPath) -> tuple[PurePosixPath, str]:
        """Split a path into the folder on the disk and the set of file names (`set1`), empty if none."""
        if not _SET.fullmatch(relative.name):
            return relative, ""
        try:
            self._resolve(relative)
        except InvalidInput:
            return relative.parent, relative.name
        return relative, ""

    def _resolve(self, relative: PurePosixPath) -> tuple[Path, Path]:
        """Return the root that contains a path, and the path with symbolic links resolved."""
        roots = [root.resolve() for root in self._roots]
        for root in roots:
            try:
                target = (root / relative).resolve(strict=True)
            except (OSError, RuntimeError, ValueError):
                continue
            for owner in roots:
                if target.is_relative_to(owner):
                    return owner, target
        raise InvalidInput.at(_POINTER, _FOLDER_RULE)

    @contextlib.contextmanager
    def _descriptor(self, relative: PurePosixPath, *, folder: bool) -> Iterator[tuple[int, Path]]:
        root, target = self._resolve(relative)
        try:
            descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            names = target.relative_to(root).parts
            for depth, name in enumerate(names, start=1):
                is_folder = folder or depth < len(names)
                # Without O_NONBLOCK, opening a named pipe would block.
                flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
                try:
                    inner = os.open(name, flags | (os.O_DIRECTORY if is_folder else 0), dir_fd=descriptor)
                finally:
                    os.close(descriptor)
                descriptor = inner
        except OSError as error:
            raise InvalidInput.at(_POINTER, _FOLDER_RULE) from error
        try:
            yield descriptor, target
        finally:
            os.close(descriptor)

    def _list(self, relative: PurePosixPath) -> tuple[list[str], list[str]]:
        with (
            self._descriptor(relative, folder=True) as (descriptor, _),
            os.scandir(descriptor) as entries,
        ):
            names: list[str] = []
            folders: list[str] = []
            for entry in entries:
                if not is_visible(entry.name) or entry.name.startswith("."):
                    continue
                (folders if _is_folder(entry) else names).append(entry.name)
        return names, folders

    @contextlib.contextmanager
    def _opened(self, relative: PurePosixPath) -> Iterator[OpenFile]:
        with self._descriptor(relative, folder=False) as (descriptor, target):
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise InvalidInput.at(_POINTER, _FOLDER_RULE)
            # Linux only: on other systems, files opened by the path of a descriptor share its offset.
            of_descriptor = Path(f"/proc/self/fd/{descriptor}")
            path = of_descriptor if of_descriptor.exists() else target
            modified = datetime.fromtimestamp(status.st_mtime, UTC).isoformat()
            yield OpenFile(path, status.st_size, modified, _version(status))


def fold_of(folder: str) -> int | None:
    """Return the fold number in the last name of a folder: 3 for `MSLR-WEB30K/Fold3`.

    Example:
        >>> fold_of("MSLR-WEB30K/Fold3"), fold_of("Yahoo")
        (3, None)
    """
    match = re.fullmatch(r"fold[ _-]?([1-9]\d?)", PurePosixPath(folder).name.lower())
    return int(match[1]) if match else None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _version(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _parts_by_set(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the file of each part, in the order of `PARTS`, by set; names without a set have the set ""."""
    sets: dict[str, dict[str, str]] = {}
    for name in sorted(names, key=lambda name: (len(name), name)):
        components = name.lower().split(".")
        set_name = components.pop(0) if _SET.fullmatch(components[0]) else ""
        stem, *suffixes = components or [""]
        part = _PART_OF_NAME.get(stem)
        if part is None or not _FILE_SUFFIXES.issuperset(suffixes):
            continue
        first = sets.setdefault(set_name, {}).setdefault(part, name)
        if first != name and not _is_compressed_copy(name, first):
            raise InvalidInput.at(
                _POINTER, f"two files match the part {part}: {first} and {name}; rename or remove one of them"
            )
    return {name: {part: parts[part] for part in PARTS if part in parts} for name, parts in sets.items()}


def _is_compressed_copy(name: str, plain: str) -> bool:
    return name.lower() in {f"{plain.lower()}.{suffix}" for suffix in _COMPRESSED_SUFFIXES}
