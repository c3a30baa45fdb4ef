"""Change the tags and the project of many jobs or models in short transactions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.errors import InvalidInput
from core.store.lifecycle.deletion import MAX_REFUSED, PAUSE_SECONDS, REQUEST_SECONDS, chunks_in_time
from core.store.repositories.projects import changed_tags
from core.store.store import Store
from core.store.tables import Job, Model
from core.store.transaction import Transaction
from core.store.trash.kinds import JOB, Kind


@dataclass(frozen=True)
class LabelChanges:
    """Changes of tags and project.

    Attributes:
        tags: Tags to set; None removes a tag.
        project: The new project, None to remove the project.
    """

    tags: Mapping[str, str | None]
    moves: bool = False
    project: str | None = None

    def would_change(self, row: Job | Model) -> bool:
        """Return whether applying the changes would change the labels of a row.

        Raises:
            InvalidInput: The row would have too many tags.
        """
        tags = row.tags or {}
        return changed_tags(tags, self.tags) != tags or self.moves_row(row)

    def moves_row(self, row: Job | Model) -> bool:
        """Return whether the changes move a row to another project."""
        return self.moves and row.project != self.project


@dataclass(frozen=True)
class RefusedLabelling:
    """An object whose labels could not be changed, with the reason."""

    id: str
    reason: str


@dataclass
class Labelling:
    """The result of a bulk change of labels, or its preview.

    Attributes:
        unchanged: Number of objects that already have the requested labels.
        moved_names: Names of models that move to or out of a project, each with all of its versions.
        missing: Ids that do not exist.
        refused: The first objects that could not be changed.
        refused_count: Number of objects that could not be changed.
        is_complete: Whether all objects were handled in time.
    """

    changed: int = 0
    unchanged: int = 0
    moved_names: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)
    refused: list[RefusedLabelling] = field(default_factory=list)
    refused_count: int = 0
    is_complete: bool = True


def label_objects(
    store: Store,
    kind: Kind,
    object_ids: Iterable[str],
    changes: LabelChanges,
    *,
    dry_run: bool,
    seconds: float = REQUEST_SECONDS,
) -> Labelling:
    """Change labels of jobs or models; with `dry_run` only return what would change.

    Moving a job also moves its results; moving a model moves all versions of its name.

    Args:
        store: Store of the objects; the service may be running.
        dry_run: Whether to change nothing.
        seconds: Time limit; objects not handled by then stay unchanged.

    Raises:
        InvalidInput: The caller may not move models to the project. Jobs that it may not move are refused.
        StoreUnavailable: The database cannot be reached; earlier changes are kept.
    """
    labelling = Labelling()
    for chunk in chunks_in_time(
        object_ids, seconds, labelling, pause_seconds=0 if dry_run else PAUSE_SECONDS
    ):
        with store.read() if dry_run else store.begin() as tx:
            _label_chunk(tx, kind, chunk, changes, labelling, dry_run=dry_run)
    return labelling


def _label_chunk(
    tx: Transaction,
    kind: Kind,
    chunk: Sequence[str],
    changes: LabelChanges,
    labelling: Labelling,
    *,
    dry_run: bool,
) -> None:
    rows: dict[str, Job | Model] = (
        {job.id: job for job in tx.jobs.get_many(chunk)}
        if kind.name == JOB
        else {**tx.models.get_many(chunk)}
    )
    labelling.missing += [object_id for object_id in chunk if object_id not in rows]
    moving = {row.name for row in rows.values() if isinstance(row, Model) and changes.moves_row(row)}
    accepted: set[str] = set()
    # Rows are locked in a fixed order, so that requests do not deadlock.
    for object_id in sorted(rows):
        row = rows[object_id]
        try:
            differs = changes.would_change(row) or (
                isinstance(row, Model) and row.name in labelling.moved_names | moving
            )
            if differs and not dry_run:
                _label(tx, row, changes)
        except InvalidInput as error:
            labelling.refused_count += 1
            if len(labelling.refused) < MAX_REFUSED:
                labelling.refused.append(RefusedLabelling(object_id, error.problems[0].detail))
            continue
        labelling.changed += differs
        labelling.unchanged += not differs
        if isinstance(row, Model):
            accepted.add(row.name)
    labelling.moved_names |= moving & accepted
    if not dry_run:
        for name in sorted(moving & accepted):
            tx.projects.move_name(name, changes.project)


def _label(tx: Transaction, row: Job | Model, changes: LabelChanges) -> None:
    if isinstance(row, Model):
        if changes.tags:
            tx.models.tag(row.id, changes.tags)
        return
    tx.jobs.label(row.id, {"project": changes.project} if changes.moves_row(row) else {}, changes.tags)
