"""Bytes of the store by kind, and the bytes that retention would free."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from core.store.artifacts.keys import data_folder
from core.store.clock import utc_now
from core.store.lifecycle.inventory import CHECKPOINTS, FolderSizes
from core.store.lifecycle.retention import RetentionPolicy, retention_preview
from core.store.store import Store
from core.store.trash.kinds import BY_PLURAL, KINDS

OTHER = "other"
# First parts of keys by kind; all others count as `other`.
FOLDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "datasets": ("datasets",),
        "data": ("data",),
        "click-logs": ("click-logs",),
        "models": ("models",),
        "rankings": ("rankings",),
        "evaluations": ("evaluations",),
        "comparisons": ("comparisons",),
        "inspections": (),
        "drift-reports": (),
        "interleavings": (),
        "score-samples": ("scored",),
        "experiments": ("experiments",),
        "studies": ("studies",),
        "jobs": (CHECKPOINTS, "candidates"),
        "uploads": ("runs", "model-uploads", "uploads"),
        OTHER: (),
    }
)
LABELS: Mapping[str, str] = MappingProxyType(
    {
        "datasets": "Datasets, and their files waiting for import",
        "data": "Contents of datasets",
        "click-logs": "Click logs",
        "models": "Models",
        "rankings": "Rankings",
        "evaluations": "Evaluations",
        "comparisons": "Comparisons",
        "inspections": "Inspections",
        "drift-reports": "Drift reports",
        "interleavings": "Interleavings",
        "score-samples": "Sampled scoring requests",
        "experiments": "Experiment reports",
        "studies": "Studies, and their metric values",
        "jobs": "Jobs, and their checkpoints and candidates",
        "uploads": "Uploads waiting for import",
        OTHER: "Other files",
    }
)


@dataclass(frozen=True)
class StoredKind:
    """The objects of one kind and their bytes.

    Attributes:
        name: One of `FOLDERS`.
        objects: Number of objects, without the trash.
        size_bytes: Bytes of their artifacts, without the trash.
        retention_days: Days until they expire, None for never.
        retention_objects: Number of objects that retention would move to the trash now.
    """

    name: str
    objects: int
    size_bytes: int
    trash_objects: int = 0
    trash_bytes: int = 0
    retention_days: float | None = None
    retention_objects: int = 0
    retention_bytes: int = 0


@dataclass(frozen=True)
class Storage:
    """The bytes of all artifacts at one moment.

    Attributes:
        kinds: Kinds in the order of `FOLDERS`; their sizes, with the trash, add up to all bytes.
        free_bytes: Free space of the disk; None where artifacts are on no disk of this machine.
    """

    measured_at: datetime
    kinds: tuple[StoredKind, ...]
    free_bytes: int | None

    @property
    def total_bytes(self) -> int:
        """The bytes of all artifacts."""
        return sum(kind.size_bytes + kind.trash_bytes for kind in self.kinds)


def measure_storage(store: Store, policy: RetentionPolicy) -> Storage:
    """Measure the store by listing all artifacts once.

    Raises:
        StoreUnavailable: The database or the storage cannot be reached.
    """
    measured_at, sizes = utc_now(), FolderSizes(store.artifacts)
    by_top = sizes.everything()
    with store.read() as tx:
        objects = tx.statistics.by_kind()
        trashed = {name: tx.trash.ids(kind) for name, kind in BY_PLURAL.items()}
        contents = tx.trash.contents()
    expired = {
        name: (deletion.counts[KINDS[name].plural], deletion.size_bytes)
        for name, deletion in retention_preview(store, policy, sizes).items()
    }
    folders = {
        name: [kind.folder(object_id) for object_id in trashed[name]]
        for name, kind in BY_PLURAL.items()
        if kind.folder is not None
    }
    folders["data"] = [data_folder(data_key) for data_key in contents]
    in_trash = {name: len(object_ids) for name, object_ids in trashed.items()} | {"data": len(contents)}
    kinds = []
    rest = Counter(by_top)
    for name, tops in FOLDERS.items():
        size_bytes = sum(rest.pop(top, 0) for top in tops) if name != OTHER else sum(rest.values())
        kind = BY_PLURAL.get(name)
        trash_bytes = sum(sizes.of(folders.get(name, ())).values())
        retention_objects, retention_bytes = expired.get(kind.name if kind else "", (0, 0))
        kinds.append(
            StoredKind(
                name,
                objects.get(name, 0),
                size_bytes - trash_bytes,
                in_trash.get(name, 0),
                trash_bytes,
                policy.days.get(kind.name) if kind else None,
                retention_objects,
                retention_bytes,
            )
        )
    free_bytes = store.artifacts.free_bytes() if store.artifacts.is_local else None
    return Storage(measured_at, tuple(kinds), free_bytes)
