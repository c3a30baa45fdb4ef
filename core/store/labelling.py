"""Change the tags and the project of many jobs or models in short transactions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.errors import InvalidInput
from core.store.lifecycle.deletion import MAX_REFUSED, PAUSE_SECONDS, REQUEST_SECONDS, in_time
from core.store.repositories.tags import changed_tags
from core.store.tables import Job, Model
from core.store.trash.kinds import JOB, Kind

if TYPE_CHECKING:
    from core.store.store import Store
from core.store.transaction import Transaction


@dataclass(frozen=True)
class LabelChanges:
    """The labels that some objects get.

    Attributes:
        tags: Tags to set; those that are None are removed.
        moves: Whether they move to `project`.
        project: The project, None for none.
    """

    tags: Mapping[str, str | None]
    moves: bool = False
    project: str | None = None

    def differ(self, row: Job | Model) -> bool:
        """Return whether they change a row.

        Raises:
            InvalidInput: It would have too many tags.
        """
        tags = row.tags or {}
        return changed_tags(tags, self.tags) != tags or self.move(row)

    def move(self, row: Job | Model) -> bool:
        """Return whether they move a row to another project."""
        return self.moves and row.project != self.project


@dataclass(frozen=True)
class Unlabelled:
    """An object that keeps its labels, and why."""

    id: str
    reason: str


@dataclass
class Labelling:
    """What was labelled, or would be.

    Attributes:
        changed: How many objects get other labels.
        unchanged: How many have those labels already.
        moved_names: Names of models that move to the project, each with all of its versions.
        missing: Ids that do not exist.
        refused: The first objects that keep their labels.
        refused_count: How many keep them.
        is_complete: Whether the time was enough for all.
    """

    changed: int = 0
    unchanged: int = 0
    moved_names: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)
    refused: list[Unlabelled] = field(default_factory=list)
    refused_count: int = 0
    is_complete: bool = True


def label_objects(
    store: "Store",
    kind: Kind,
    object_ids: Iterable[str],
    changes: LabelChanges,
    *,
    dry_run: bool,
    seconds: float = REQUEST_SECONDS,
) -> Labelling:
    """Change labels of jobs or models; with `dry_run` only return what would change.

    The results of a job move with it to another project, and all versions of a model's name together.

    Args:
        store: Where they are; the service may be running.
        kind: Jobs or models.
        object_ids: Their ids.
        changes: What they get.
        dry_run: Whether nothing is changed.
        seconds: After how long the rest is left.

    Raises:
        InvalidInput: The caller is limited to other projects.
        StoreUnavailable: The database cannot be reached; what was changed before stays so.
    """
    labelling = Labelling()
    for chunk in in_time(object_ids, seconds, labelling, pause_seconds=0 if dry_run else PAUSE_SECONDS):
        with store.read() if dry_run else store.begin() as tx:
            _label_chunk(tx, kind, chunk, changes, labelling, dry_run=dry_run)
    return labelling


def _label_chunk(
    tx: "Transaction",
    kind: Kind,
    chunk: Sequence[str],
    changes: LabelChanges,
    labelling: Labelling,
    *,
    dry_run: bool,
) -> None:
    rows: dict[str, Job | Model] = (
        {job.id: job for job in tx.jobs.several(chunk)} if kind.name == JOB else {**tx.models.several(chunk)}
    )
    labelling.missing += [each for each in chunk if each not in rows]
    names = {row.name for row in rows.values() if isinstance(row, Model) and changes.move(row)}
    labelling.moved_names |= names
    # In one order everywhere, so that no two requests wait for each other's locks.
    for object_id in sorted(rows):
        row = rows[object_id]
        try:
            differs = changes.differ(row) or (isinstance(row, Model) and row.name in labelling.moved_names)
            if differs and not dry_run:
                _label(tx, row, changes)
        except InvalidInput as error:
            labelling.refused_count += 1
            if len(labelling.refused) < MAX_REFUSED:
                labelling.refused.append(Unlabelled(object_id, error.problems[0].detail))
            continue
        labelling.changed += differs
        labelling.unchanged += not differs
    if not dry_run:
        for name in sorted(names):
            tx.projects.move_name(name, changes.project)


def _label(tx: "Transaction", row: Job | Model, changes: LabelChanges) -> None:
    if isinstance(row, Model):
        if changes.tags:
            tx.models.tag(row.id, changes.tags)
        return
    tx.jobs.label(row.id, {"project": changes.project} if changes.move(row) else {}, changes.tags)
