"""Deletions, the trash, projects and storage."""

from typing import TYPE_CHECKING

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, kinds, moment, size
from rankery.client.frames.outgoing import Tabular
from rankery.client.schemas import answers

if TYPE_CHECKING:
    import pyarrow as pa


class ProjectView(Displayable, answers.Project):
    """A project with its number of objects."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        counts = self.model_dump(exclude={"name"})
        return {"name": self.name} | {kind: count(number) for kind, number in counts.items() if number}

    def card(self) -> Card:
        """Return the card of the project."""
        return Card("project", self.summary())


class DeletionView(Displayable, answers.Deletion):
    """Deleted objects, or those that a dry run would delete."""

    @classmethod
    def missing_only(cls, object_id: str) -> "DeletionView":
        """Return the deletion of an object that an earlier attempt has deleted."""
        return cls(
            dry_run=False,
            deleted={},
            size_bytes=0,
            missing=[object_id],
            refused=[],
            refused_count=0,
            complete=True,
        )

    def plus(self, other: "DeletionView") -> "DeletionView":
        """Return the sum of two responses to a deletion that takes several requests."""
        kinds = dict.fromkeys((*self.deleted, *other.deleted))
        deleted = {kind: self.deleted.get(kind, 0) + other.deleted.get(kind, 0) for kind in kinds}
        return other.model_copy(update={"deleted": deleted, "size_bytes": self.size_bytes + other.size_bytes})

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "would delete" if self.dry_run else "deleted": kinds(self.deleted) or "nothing",
            "size": size(self.size_bytes),
            "freed at": "" if self.purge_at is None else moment(self.purge_at),
            "missing": ", ".join(self.missing),
            "refused": count(self.refused_count) if self.refused_count else "",
        }

    def card(self) -> Card:
        """Return the card of the deletion, with the dependents of each object that is not deleted."""
        refused = [
            [one.kind, one.name, one.id, "; ".join(f"{by.kind} {by.name}: {by.reason}" for by in one.holders)]
            for one in self.refused
        ]
        columns = ["kind", "name", "id", "needed by"]
        tables = [CardTable(columns, refused, "not deleted")] if refused else []
        return Card("dry run of a deletion" if self.dry_run else "deletion", self.summary(), tables=tables)


class LabelledView(Displayable, answers.Labelled):
    """Labelled objects, or those that a dry run would label."""

    def plus(self, other: "LabelledView") -> "LabelledView":
        """Return the sum of two responses to a labelling that takes several requests."""
        names = sorted({*self.moved_names, *other.moved_names})
        return other.model_copy(update={"changed": self.changed + other.changed, "moved_names": names})

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "would label" if self.dry_run else "labelled": count(self.changed),
            "unchanged": count(self.unchanged),
            "moved model names": ", ".join(self.moved_names),
            "missing": ", ".join(self.missing),
            "refused": count(self.refused_count) if self.refused_count else "",
        }

    def card(self) -> Card:
        """Return the card of the labelling, with the refused objects."""
        refused = [[one.id, one.reason] for one in self.refused]
        tables = [CardTable(["id", "reason"], refused, "not labelled")] if refused else []
        return Card("dry run of a labelling" if self.dry_run else "labelling", self.summary(), tables=tables)


class RestoredView(Displayable, answers.Restored):
    """Objects restored from the trash."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {"restored": kinds(self.restored) or "nothing", "missing": ", ".join(self.missing)}

    def card(self) -> Card:
        """Return the card of the restoration."""
        return Card("restored", self.summary())


class TrashedObjectView(Displayable, answers.TrashedObject):
    """An object in the trash."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "kind": self.kind,
            "id": self.id,
            "name": self.name,
            "size": size(self.size_bytes),
            "deleted": moment(self.deleted_at),
            "freed at": moment(self.purge_at),
        }

    def card(self) -> Card:
        """Return the card of the object."""
        return Card(f"{self.kind} in the trash", self.summary())


class StorageView(Displayable, answers.Storage, Tabular):
    """Storage of a service in bytes by kind, and what retention would free."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "total": size(self.total_bytes),
            "free": size(self.free_bytes),
            "trash": f"{self.trash_days:g} days",
            "measured": moment(self.measured_at),
        }

    def card(self) -> Card:
        """Return the card of the storage, with one row for each kind."""
        columns = ["kind", "#objects", "#size", "#in the trash", "#retention", "#freed by retention"]
        rows = [
            [
                one.label,
                count(one.objects),
                size(one.size_bytes),
                size(one.trash_bytes),
                "" if one.retention_days is None else f"{one.retention_days:g} days",
                "" if one.retention_days is None else size(one.retention_bytes),
            ]
            for one in self.kinds
        ]
        return Card("storage", self.summary(), tables=[CardTable(columns, rows)])

    def to_arrow(self) -> "pa.Table":
        """Return a table with one row for each kind."""
        from rankery.client.frames.arrow import pa

        return pa.Table.from_pylist([one.model_dump() for one in self.kinds])


class RetentionView(StorageView):
    """Retention times by kind, and the objects that retention would move to the trash now."""

    @property
    def rules(self) -> list[answers.StorageKind]:
        """The kinds that are kept for a limited time."""
        return [one for one in self.kinds if one.retention_days is not None]

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "kinds with a limit": ", ".join(one.kind for one in self.rules) or "none",
            "freed by retention": size(sum(one.retention_bytes for one in self.rules)),
            "trash": f"{self.trash_days:g} days",
            "measured": moment(self.measured_at),
        }

    def card(self) -> Card:
        """Return the card of the retention, with one row for each kind."""
        rows = [
            [
                one.label,
                f"{one.retention_days:g} days",
                count(one.retention_objects),
                size(one.retention_bytes),
            ]
            for one in self.rules
        ]
        tables = (
            [CardTable(["kind", "#kept for", "#objects to remove", "#freed by retention"], rows)]
            if rows
            else []
        )
        return Card("retention", self.summary(), tables=tables)

    def to_arrow(self) -> "pa.Table":
        """Return a table with one row for each kind, including kinds without a limit."""
        from rankery.client.frames.arrow import pa

        names = ("kind", "retention_days", "retention_objects", "retention_bytes")
        return pa.Table.from_pylist([one.model_dump(include=set(names)) for one in self.kinds])
