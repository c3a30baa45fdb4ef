"""Sizes of folders of artifacts, measured in the storage."""

from collections import Counter
from collections.abc import Iterable

from core.store.artifacts.artifacts import Artifacts

# Largest number of folders listed one by one; for more, their parent folder is listed once.
_MAX_LISTINGS = 64
CHECKPOINTS = "checkpoints"


class FolderSizes:
    """The bytes in the folders of objects, cached: folders of recorded objects do not change.

    One request to an object storage lists one folder, or a thousand files. For many folders their parent
    folder is listed once; folders that are created later are listed one by one.

    Args:
        artifacts: The artifacts.
    """

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts
        self._bytes: dict[str, int] = {}
        self._requests: Counter[str] = Counter()
        self._listed: set[str] = set()

    def of(self, folders: Iterable[str]) -> dict[str, int]:
        """Return the size in bytes of each folder that is not empty.

        Raises:
            StoreUnavailable: The storage does not answer.
        """
        wanted = list(folders)
        for folder in wanted:
            self._requests[_top(folder)] += 1
        for top, number in self._requests.items():
            if number > _MAX_LISTINGS and top not in self._listed:
                self._listed.add(top)
                self._add(top)
        for folder in wanted:
            # List a folder that was created after the listing. A job without checkpoints has no folder.
            if folder not in self._bytes and not (
                _top(folder) == CHECKPOINTS and CHECKPOINTS in self._listed
            ):
                self._add(folder)
        return {folder: self._bytes[folder] for folder in wanted if folder in self._bytes}

    def everything(self) -> Counter[str]:
        """Return the bytes of all artifacts by the first part of their keys; cache the bytes of each folder.

        Raises:
            StoreUnavailable: The storage does not answer.
        """
        self._bytes.clear()
        self._add(None)
        by_top: Counter[str] = Counter()
        for folder, size_bytes in self._bytes.items():
            by_top[_top(folder)] += size_bytes
        self._listed |= {*by_top, CHECKPOINTS}
        return by_top

    def _add(self, folder: str | None) -> None:
        by_folder: Counter[str] = Counter()
        for key, size_bytes in self._artifacts.sizes(folder):
            by_folder[_folder(key)] += size_bytes
        self._bytes |= by_folder


def _top(folder: str) -> str:
    return folder.partition("/")[0]


def _folder(key: str) -> str:
    return "/".join(key.split("/")[:2])
