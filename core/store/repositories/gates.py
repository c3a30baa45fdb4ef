"""Stored promotion gates of aliases."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.store.repositories.aliases import lock_alias
from core.store.repositories.models import check_name
from core.store.repositories.rows import added
from core.store.tables import AliasGate, Dataset


class Gates:
    """Promotion gates within one transaction, serialized with the moves of their alias."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, name: str, alias: str) -> AliasGate | None:
        """Return the promotion gate of an alias, or None."""
        return self._session.get(AliasGate, (name, alias), populate_existing=True)

    def aliases_of(self, name: str) -> set[str]:
        """Return the aliases of a name that have a gate."""
        return set(self._session.scalars(select(AliasGate.alias).where(AliasGate.name == name)))

    def names_of(self, alias: str) -> set[str]:
        """Return the names of models whose alias of this name has a gate."""
        return set(self._session.scalars(select(AliasGate.name).where(AliasGate.alias == alias)))

    def get(self, name: str, alias: str) -> AliasGate:
        """Return the gate of an alias.

        Raises:
            NotFound: It has none.
        """
        gate = self.find(name, alias)
        if gate is None:
            raise NotFound("gate of", f"{name}@{alias}")
        return gate

    def put(
        self, name: str, alias: str, *, dataset_id: str, rule: dict[str, Any], key_id: str | None = None
    ) -> AliasGate:
        """Set the promotion gate of an alias.

        Raises:
            InvalidInput: The alias is not allowed.
            NotFound: There is no such dataset.
        """
        check_name(alias, "/alias")
        lock_alias(self._session, name, alias)
        # Locked against deletion before the commit.
        if self._session.get(Dataset, dataset_id, with_for_update={"read": True}) is None:
            raise NotFound("dataset", dataset_id)
        gate = self.find(name, alias) or AliasGate(name=name, alias=alias)
        gate.dataset_id, gate.rule, gate.key_id = dataset_id, rule, key_id
        return added(self._session, gate)

    def delete(self, name: str, alias: str) -> None:
        """Delete the promotion gate of an alias.

        Raises:
            NotFound: It has no gate.
        """
        lock_alias(self._session, name, alias)
        self._session.delete(self.get(name, alias))
        self._session.flush()
