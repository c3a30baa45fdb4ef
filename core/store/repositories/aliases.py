"""Aliases of models, their history and their promotion gates."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import NotFound, WrongState
from core.jobs.base import ACTIVE
from core.jobs.promote import PromoteJob
from core.store.engines import advisory_lock
from core.store.repositories import ids
from core.store.repositories.events import Events
from core.store.repositories.models import Models, check_name
from core.store.repositories.pages import Page, PageRequest
from core.store.repositories.repository import insert_row
from core.store.tables import AliasGate, AliasMove, ClickLog, Dataset, Job, Model, ModelAlias
from core.store.visibility import limited_to

MOVED = "moved"
PROMOTED = "promoted"
REFUSED = "refused"
ROLLED_BACK = "rolled_back"
REMOVED = "removed"

_ALIAS_LOCKS = 0x414C4941  # namespace of advisory locks: "ALIA"


@dataclass(frozen=True)
class Promotion:
    """A move approved by a gate.

    Attributes:
        champion_id: The version that the alias pointed at during the comparison.
        challenger_id: The new version of the alias.
        job_id: The job that compared the two versions.
        key_id: The API key that requested the move, None without authentication.
    """

    name: str
    alias: str
    champion_id: str
    challenger_id: str
    job_id: str
    key_id: str | None
    report: dict[str, Any]


class Aliases:
    """Aliases and their promotion gates within one transaction; one lock serializes changes of both.

    An alias refers to the move that the next rollback undoes. Each move refers to the previous move.
    Rollbacks thus follow the order of the moves, not their timestamps.
    """

    def __init__(self, session: Session, models: Models, events: Events) -> None:
        self._session = session
        self._models = models
        self._events = events

    def find(self, name: str, alias: str) -> ModelAlias | None:
        """Return an alias, or None."""
        rows = select(ModelAlias).where(ModelAlias.name == name, ModelAlias.alias == alias)
        return self._session.scalar(rows.execution_options(populate_existing=True))

    def find_locked(self, name: str, alias: str) -> ModelAlias | None:
        """Lock an alias until the transaction ends and return it, or None if it does not exist."""
        self._lock(name, alias)
        return self.find(name, alias)

    def get(self, name: str, alias: str) -> ModelAlias:
        """Return an alias."""
        return _require(self.find(name, alias), name, alias)

    def of_name(self, name: str) -> list[ModelAlias]:
        """List the aliases of a name, in alphabetical order."""
        self._models.require_name(name)
        rows = select(ModelAlias).where(ModelAlias.name == name).order_by(ModelAlias.alias)
        return list(self._session.scalars(rows))

    def across_names(self, alias: str, limit: int) -> list[ModelAlias]:
        """List the rows of an alias across model names, last moved first."""
        rows = select(ModelAlias).where(ModelAlias.alias == alias)
        return list(self._session.scalars(rows.order_by(ModelAlias.updated_at.desc()).limit(limit)))

    def history(self, name: str, alias: str, cursor: str | None, limit: int) -> Page[AliasMove]:
        """List the history of an alias, newest first, even if it was removed."""
        self._models.require_name(name)
        rows = select(AliasMove).where(AliasMove.name == name, AliasMove.alias == alias)
        return PageRequest(cursor, limit).take(self._session, rows, AliasMove.id, ids.ALIAS_MOVE)

    def move(self, name: str, alias: str, version: int, key_id: str | None = None) -> ModelAlias:
        """Point `name@alias` at a version, ignoring its gate.

        Raises:
            InvalidInput: The alias is not allowed.
            NotFound: The model has no such version.
        """
        check_name(alias, "/alias")
        model = self._locked_version(f"{name}:{version}")
        row = self.find_locked(name, alias)
        if row is None:
            row = ModelAlias(name=name, alias=alias, model=model)
            row.move_id = self._record(MOVED, name, alias, None, model, key_id=key_id).id
            self._session.add(row)
            self._session.flush()
        elif row.model_id != model.id:
            self._move(row, model, MOVED, key_id=key_id)
        return row

    def active_promotion(self, name: str, alias: str) -> Job | None:
        """Return a waiting or running promotion of an alias, or None; `find_locked` prevents a later one."""
        rows = select(Job).where(Job.kind == PromoteJob.kind, Job.status.in_(ACTIVE)).order_by(Job.id)
        with limited_to(None):  # the alias may be moved by a job that the caller cannot read
            jobs = self._session.scalars(rows).all()
        guarded = {"model_name": name, "alias": alias}
        return next((job for job in jobs if guarded.items() <= job.spec.items()), None)

    def promote(self, promotion: Promotion) -> ModelAlias:
        """Move an alias to a version that passed its gate, unless it points at that version already.

        Raises:
            WrongState: The alias was moved to another version or removed since the comparison.
        """
        row = self.find_locked(promotion.name, promotion.alias)
        champion, challenger = self._compared_models(promotion)
        if row is not None and row.model_id == challenger.id:
            return row
        if row is None or row.model_id != champion.id:
            raise WrongState(
                "alias",
                f"{promotion.name}@{promotion.alias}",
                "removed" if row is None else f"at version {row.model.version}",
                f"it changed while version {challenger.version} was compared with version"
                f" {champion.version}; try again to compare with the current version",
            )
        self._move(row, challenger, PROMOTED, **_job_columns(promotion))
        return row

    def refuse(self, promotion: Promotion) -> AliasMove:
        """Record that a version failed the gate of an alias."""
        compared = self._compared_models(promotion)
        return self._record(REFUSED, promotion.name, promotion.alias, *compared, **_job_columns(promotion))

    def roll_back(self, name: str, alias: str, key_id: str | None = None) -> ModelAlias:
        """Undo the last move of an alias, ignoring its gate.

        Raises:
            WrongState: No move is left to undo, or the version before the move has been deleted.
        """
        row = _require(self.find_locked(name, alias), name, alias)
        last = self._session.get(AliasMove, row.move_id) if row.move_id else None
        if last is None or last.from_version is None:
            at = f"at version {row.model.version}"
            raise WrongState("alias", row.reference, at, "it has no previous version to roll back to")
        try:
            before = self._locked_version(f"{name}:{last.from_version}")
        except NotFound as absent:
            detail = (
                f"its previous version, {name}:{last.from_version}, was deleted; restore it from the trash,"
                " or move the alias"
            )
            raise WrongState("alias", row.reference, f"at version {row.model.version}", detail) from absent
        self._record(ROLLED_BACK, name, alias, row.model, before, key_id=key_id)
        row.model, row.move_id = before, last.previous_id
        self._session.flush()
        return row

    def remove(self, name: str, alias: str, key_id: str | None = None) -> None:
        """Remove an alias, but keep its history and its gate."""
        row = _require(self.find_locked(name, alias), name, alias)
        self._record(REMOVED, name, alias, row.model, None, key_id=key_id)
        self._session.delete(row)
        self._session.flush()

    def find_gate(self, name: str, alias: str) -> AliasGate | None:
        """Return the promotion gate of an alias, or None."""
        return self._session.get(AliasGate, (name, alias), populate_existing=True)

    def gated_aliases(self, name: str) -> set[str]:
        """Return the aliases of a name that have a gate."""
        return set(self._session.scalars(select(AliasGate.alias).where(AliasGate.name == name)))

    def gated_names(self, alias: str) -> set[str]:
        """Return the names of the models that have a gate on this alias."""
        return set(self._session.scalars(select(AliasGate.name).where(AliasGate.alias == alias)))

    def gate(self, name: str, alias: str) -> AliasGate:
        """Return the gate of an alias.

        Raises:
            NotFound: The alias has no gate.
        """
        gate = self.find_gate(name, alias)
        if gate is None:
            raise NotFound("gate of", f"{name}@{alias}")
        return gate

    def set_gate(
        self,
        name: str,
        alias: str,
        *,
        dataset_id: str | None,
        rule: dict[str, Any],
        key_id: str | None = None,
    ) -> AliasGate:
        """Set the promotion gate of an alias.

        Raises:
            InvalidInput: The alias is not allowed.
            NotFound: There is no such dataset or click log.
        """
        check_name(alias, "/alias")
        self._lock(name, alias)
        gate = self.find_gate(name, alias) or AliasGate(name=name, alias=alias)
        gate.dataset_id, gate.rule, gate.key_id = dataset_id, rule, key_id
        # Lock the data of the gate against deletion before the commit.
        lock = {"read": True}
        with self._session.no_autoflush:
            for table, kind, used in (
                (Dataset, "dataset", gate.dataset_ids),
                (ClickLog, "click log", gate.click_log_ids),
            ):
                for each in sorted(used):
                    if self._session.get(table, each, with_for_update=lock) is None:
                        raise NotFound(kind, each)
        return insert_row(self._session, gate)

    def delete_gate(self, name: str, alias: str) -> None:
        """Delete the promotion gate of an alias.

        Raises:
            NotFound: The alias has no gate.
        """
        self._lock(name, alias)
        self._session.delete(self.gate(name, alias))
        self._session.flush()

    def _lock(self, name: str, alias: str) -> None:
        """Take the advisory lock of an alias and its gate."""
        advisory_lock(self._session, _ALIAS_LOCKS, f"{name}@{alias}")

    def _locked_version(self, reference: str) -> Model:
        """Return a model version, locked against deletion until the transaction ends."""
        model = self._models.resolve(reference)
        lock = {"read": True}
        if self._session.get(Model, model.id, with_for_update=lock, populate_existing=True) is None:
            raise NotFound("model", reference)
        return model

    def _compared_models(self, promotion: Promotion) -> tuple[Model, Model]:
        return self._models.get(promotion.champion_id), self._models.get(promotion.challenger_id)

    def _move(self, row: ModelAlias, model: Model, kind: str, **columns: Any) -> None:
        move = self._record(kind, row.name, row.alias, row.model, model, previous_id=row.move_id, **columns)
        row.model, row.move_id = model, move.id
        self._session.flush()

    def _record(
        self, kind: str, name: str, alias: str, source: Model | None, target: Model | None, **columns: Any
    ) -> AliasMove:
        move = AliasMove(
            id=ids.new_id(ids.ALIAS_MOVE),
            name=name,
            alias=alias,
            kind=kind,
            from_version=source.version if source else None,
            to_version=target.version if target else None,
            **columns,
        )
        if kind == REFUSED:
            self._events.gate_refused(move)
        else:
            self._events.alias_moved(move)
        return insert_row(self._session, move)


def _require(row: ModelAlias | None, name: str, alias: str) -> ModelAlias:
    if row is None:
        raise NotFound("alias", f"{name}@{alias}")
    return row


def _job_columns(promotion: Promotion) -> dict[str, Any]:
    return {"job_id": promotion.job_id, "key_id": promotion.key_id, "report": promotion.report}
