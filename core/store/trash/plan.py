"""Plans of deletions: the objects to delete with their folders, and the objects to keep; the trash."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from core.errors import Holder
from core.store.artifacts.keys import data_folder
from core.store.trash.dependency_graph import Node


@dataclass(frozen=True)
class Refused:
    """An object that is not deleted.

    Attributes:
        node: The object.
        holders: Objects that prevent its deletion.
        only_results: Whether all of the holders are results of the object.
    """

    node: Node
    holders: tuple[Holder, ...]
    only_results: bool


@dataclass(frozen=True)
class Trashed:
    """An object in the trash.

    Attributes:
        node: The object.
        deleted_at: Time at which it was moved to the trash.
        deleted_by: The API key that moved it, or None.
        folders: The folders of its artifacts, without contents that other datasets share.
    """

    node: Node
    deleted_at: datetime
    deleted_by: str | None
    folders: list[str]


@dataclass
class Plan:
    """The objects to delete and to keep, for a requested deletion.

    Attributes:
        roots: The requested objects to delete, in the requested order.
        nodes: All objects to delete, by id.
        refused: The objects to keep.
        missing: The ids that do not exist.
        shared: Contents to keep, since other datasets share them.
    """

    roots: list[Node] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)

    @property
    def counts(self) -> Counter[str]:
        """Number of objects to delete, by the plural of their kind."""
        return Counter(node.kind.plural for node in self.nodes.values())

    @property
    def folders(self) -> list[str]:
        """The folders of artifacts to delete, without shared contents."""
        return folders_of(self.nodes.values(), self.shared)


def folders_of(nodes: Iterable[Node], shared: Collection[str] = ()) -> list[str]:
    """Return the folders of artifacts of some objects, each once, without shared contents."""
    folders: dict[str, None] = {}  # in order, each once
    for node in nodes:
        if node.kind.folder is not None:
            folders[node.kind.folder(node.id)] = None
        if node.content is not None and node.content not in shared:
            folders[data_folder(node.content)] = None
    return list(folders)
