"""Folders of judged files that are read in place, below roots that the operator allows."""

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from core.data.file_patterns import matching
from core.errors import DatasetError, InvalidInput
from core.names import is_visible

SETTING = "RANKERY_DATA_ROOTS"
PARTS = ("train", "validation", "test")
MAX_FOLDER_LENGTH = 1000
_MOST_FOLDERS = 1000  # listed of one folder
_POINTER = "/folder"
# MSLR and LETOR 4.0 say vali, Yahoo valid, LETOR 3.0 validationset.
_PART_OF_NAME = MappingProxyType(
    {
        **dict.fromkeys(("train", "trainingset"), "train"),
        **dict.fromkeys(("vali", "valid", "validation", "validationset"), "validation"),
        **dict.fromkeys(("test", "testset"), "test"),
    }
)
_PACKED = ("gz", "zst")
_ENDINGS = frozenset({"txt", "letor", "svm", "svmlight", "libsvm", "csv", "tsv", "parquet", *_PACKED})
_SET = re.compile(r"set\d{1,3}")  # Yahoo: set1.train.txt
_NO_SUCH = (
    f"must be a folder below {SETTING} that the service may read, without `..`; symbolic links may not lead"
    " outside"
)


@dataclass(frozen=True)
class JudgedFolder:
    """A folder below a data root, recognised by the names of its files.

    Attributes:
        folder: Its path below the root, `MSLR-WEB30K/Fold1`; `.` is the root. `Yahoo/set1` is the part of the
            folder `Yahoo` whose file names begin with `set1.`. An absolute path where a root before has the
            same path.
        parts: The file of each part, by `train`, `validation` and `test`; those that it has.
        sizes: Bytes of each of these files.
        modified: Time of the last change of each of these files, as ISO 8601 in UTC.
        folders: The folders below it, sorted, with the sets of file names.
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
        names: In natural order.
        size_bytes: Their total size.
        modified: Time of the last change of any of them, as ISO 8601 in UTC.
    """

    folder: str
    names: tuple[str, ...]
    size_bytes: int
    modified: str


@dataclass(frozen=True)
class OpenFile:
    """An open file below a data root.

    Attributes:
        path: Opens the same file, also after its name has gone to another one.
        size_bytes: Its size.
        modified: Time of its last change, as ISO 8601 in UTC.
        version: Changes whenever the file does.
    """

    path: Path
    size_bytes: int
    modified: str
    version: tuple[int, ...]


class DataRoots:
    """Folders of which all files may be read.

    A path is resolved and must end below a root. Its folders are then opened one by one without following
    symbolic links, so that nothing that is exchanged meanwhile leads elsewhere.

    Args:
        roots: The folders; where a path exists below several, the first counts. URLs of buckets are left out.
    """

    def __init__(self, roots: Sequence[Path | str]) -> None:
        self._roots = tuple(root for root in roots if isinstance(root, Path))

    def look(self, folder: str) -> JudgedFolder:
        """List a folder and recognise the parts in it.

        Args:
            folder: Below a root, or an absolute path in one.

        Raises:
            InvalidInput: No root has such a folder, or two of its files may be the same part.
        """
        relative, chosen = self._place(self._relative(folder))
        names, folders = self._list(relative)
        sets = _parts_by_set(names)
        if chosen and chosen not in sets:
            raise InvalidInput.at(_POINTER, _NO_SUCH)
        only = chosen or ("" if "" in sets or len(sets) != 1 else next(iter(sets)))
        parts = sets.get(only, {})
        sizes, modified = {}, {}
        for part, name in parts.items():
            with self._opened(relative / name) as file:
                sizes[part] = file.size_bytes
                modified[part] = file.modified
        below = () if chosen else sorted({*folders, *sets} - {only, ""})[:_MOST_FOLDERS]
        return JudgedFolder(str(relative / chosen), parts, sizes, modified, tuple(below))

    def find(self, folder: str, pattern: str) -> FoundFiles:
        """Find the files of a folder whose names match a pattern.

        Args:
            folder: Below a root, or an absolute path in one.
            pattern: As `core.data.file_patterns.matching` reads it.

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
        """Open a file of a folder that `look` listed.

        Raises:
            DatasetError: It is gone, may not be read, or is not a plain file below a root.
        """
        with contextlib.ExitStack() as stack:
            try:
                relative, _ = self._place(self._relative(folder))
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
        """Return a path below a root."""
        if not self._roots:
            raise InvalidInput.at(_POINTER, f"the service reads no folders: {SETTING} is not set")
        self._check(folder)
        path = PurePosixPath(folder)
        if not path.is_absolute():
            return path
        for root in self._roots:
            for base in (root.absolute(), root.resolve()):
                if path.is_relative_to(base):
                    relative = path.relative_to(base)
                    place, _ = self._place(relative)
                    # The relative path is that of the first root that has it, on each machine.
                    is_first = self._resolve(place)[1] == (base / place).resolve()
                    return relative if is_first else path
        raise InvalidInput.at(_POINTER, _NO_SUCH)

    @staticmethod
    def _check(path: str) -> None:
        names = PurePosixPath(path).parts
        if not path or len(path) > MAX_FOLDER_LENGTH or not is_visible(path) or ".." in names:
            raise InvalidInput.at(_POINTER, _NO_SUCH)

    def _place(self, relative: PurePosixPath) -> tuple[PurePosixPath, str]:
        """Return the folder on the disk and the set of file names of a path."""
        if not _SET.fullmatch(relative.name):
            return relative, ""
        try:
            self._resolve(relative)
        except InvalidInput:
            return relative.parent, relative.name
        return relative, ""

    def _resolve(self, relative: PurePosixPath) -> tuple[Path, Path]:
        """Return the root that a path ends in, and the path without symbolic links."""
        roots = [root.resolve() for root in self._roots]
        for root in roots:
            try:
                target = (root / relative).resolve(strict=True)
            except (OSError, RuntimeError, ValueError):
                continue
            for owner in roots:
                if target.is_relative_to(owner):
                    return owner, target
        raise InvalidInput.at(_POINTER, _NO_SUCH)

    @contextlib.contextmanager
    def _descriptor(self, relative: PurePosixPath, *, folder: bool) -> Iterator[tuple[int, Path]]:
        root, target = self._resolve(relative)
        try:
            descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            names = target.relative_to(root).parts
            for depth, name in enumerate(names, start=1):
                is_folder = folder or depth < len(names)
                # Without O_NONBLOCK a named pipe would be waited for.
                flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
                try:
                    inner = os.open(name, flags | (os.O_DIRECTORY if is_folder else 0), dir_fd=descriptor)
                finally:
                    os.close(descriptor)
                descriptor = inner
        except OSError as error:
            raise InvalidInput.at(_POINTER, _NO_SUCH) from error
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
                raise InvalidInput.at(_POINTER, _NO_SUCH)
            # Elsewhere than on Linux the path of a descriptor shares its position with all that open it.
            same = Path(f"/proc/self/fd/{descriptor}")
            path = same if same.exists() else target
            modified = datetime.fromtimestamp(status.st_mtime, UTC).isoformat()
            yield OpenFile(path, status.st_size, modified, _version(status))


def fold_of(folder: str) -> int | None:
    """Return the number of a fold by the last name of its folder: 3 of `MSLR-WEB30K/Fold3`.

    Example:
        >>> fold_of("MSLR-WEB30K/Fold3"), fold_of("Yahoo")
        (3, None)
    """
    found = re.fullmatch(r"fold[ _-]?([1-9]\d?)", PurePosixPath(folder).name.lower())
    return int(found[1]) if found else None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _version(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _parts_by_set(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the file of each part, in the order of `PARTS`, by set; the set is empty where names have none.

    Raises:
        InvalidInput: Two files may be the same part.
    """
    found: dict[str, dict[str, str]] = {}
    for name in sorted(names, key=lambda name: (len(name), name)):
        words = name.lower().split(".")
        group = words.pop(0) if _SET.fullmatch(words[0]) else ""
        part = _PART_OF_NAME.get(words[0]) if words else None
        if part is None or not _ENDINGS.issuperset(words[1:]):
            continue
        known = found.setdefault(group, {}).setdefault(part, name)
        if known != name and not _is_packed(name, known):
            raise InvalidInput.at(_POINTER, f"two files may be the part {part}: {known} and {name}")
    return {group: {part: parts[part] for part in PARTS if part in parts} for group, parts in found.items()}


def _is_packed(name: str, plain: str) -> bool:
    return name.lower() in {f"{plain.lower()}.{ending}" for ending in _PACKED}
