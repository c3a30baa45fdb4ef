"""The models on record, their versions and aliases."""

import re
from collections.abc import Iterable
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.errors import InvalidInput, NotFound
from core.store import ids
from core.store.pages import Page, Span
from core.store.tables import Model, ModelAlias
from core.store.turns import take_turn

MODEL_NAME = r"^[a-z0-9][a-z0-9._-]{0,99}$"

_VERSION = re.compile(r"[1-9][0-9]{0,8}")
_VERSION_TURNS = 0x4D4F444C  # any number of Rankery's own: "MODL"


def check_name(name: str, pointer: str) -> None:
    """Check the name of a model or an alias.

    Raises:
        InvalidInput: At `pointer`, where the name does not match `MODEL_NAME` or looks like an id.
    """
    if "\n" in name or not re.match(MODEL_NAME, name):
        raise InvalidInput.at(
            pointer,
            "must be 1 to 100 of a-z, 0-9, '.', '_' and '-', the first a letter or digit",
        )
    if name.startswith(ids.MODEL):
        raise InvalidInput.at(pointer, f"must not start with {ids.MODEL}, which begins an id")


class Models:
    """Models within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(
        self,
        id: str | None = None,
        *,
        name: str,
        job_id: str,
        dataset_id: str,
        feature_names: Iterable[str],
        loss: dict[str, Any],
        hyperparameters: dict[str, Any],
        best_iteration: int,
        sha256: str,
        size_bytes: int,
        metrics: dict[str, Any] | None = None,
    ) -> Model:
        """Record a trained model as the next version of its name, from 1.

        Raises:
            InvalidInput: The name is not allowed.
        """
        check_name(name, "/name")
        model = Model(
            id=id or ids.new_id(ids.MODEL),
            name=name,
            job_id=job_id,
            dataset_id=dataset_id,
            feature_names=list(feature_names),
            loss=loss,
            hyperparameters=hyperparameters,
            best_iteration=best_iteration,
            sha256=sha256,
            size_bytes=size_bytes,
            metrics=metrics,
        )
        return self._insert_as_next_version(model)

    def get(self, id: str) -> Model:
        """Return the model of an id.

        Raises:
            NotFound: There is none.
        """
        model = self._session.get(Model, id)
        if model is None:
            raise NotFound("model", id)
        return model

    def resolve(self, ref: str) -> Model:
        """Return the model that a reference means.

        Args:
            ref: An id (`mdl_…`), `name` (its latest version), `name:version` or `name@alias`.

        Raises:
            NotFound: It means none.
        """
        model = self._find(ref)
        if model is None:
            raise NotFound("model", ref)
        return model

    def page(self, cursor: str | None, limit: int, name: str | None = None) -> Page[Model]:
        """List models, newest first, of one name where given."""
        rows = select(Model)
        if name is not None:
            rows = rows.where(Model.name == name)
        return Span(cursor, limit).take(self._session, rows, Model.id, ids.MODEL)

    def set_alias(self, name: str, alias: str, version: int) -> ModelAlias:
        """Let `name@alias` mean one version from now on.

        Raises:
            InvalidInput: The alias is not allowed.
            NotFound: The model has no such version.
        """
        check_name(alias, "/alias")
        model = self.resolve(f"{name}:{version}")
        row = self._session.merge(ModelAlias(name=name, alias=alias, model_id=model.id))
        self._session.flush()
        return row

    def aliases(self, name: str) -> list[ModelAlias]:
        """List the aliases of a name, in alphabetical order."""
        rows = select(ModelAlias).where(ModelAlias.name == name).order_by(ModelAlias.alias)
        return list(self._session.scalars(rows))

    def aliases_of(self, model_ids: Iterable[str]) -> dict[str, list[str]]:
        """Return the aliases of each of some models, in alphabetical order; one statement for a page."""
        found: dict[str, list[str]] = {model_id: [] for model_id in model_ids}
        rows = select(ModelAlias).where(ModelAlias.model_id.in_(found)).order_by(ModelAlias.alias)
        for row in self._session.scalars(rows):
            found[row.model_id].append(row.alias)
        return found

    def _find(self, ref: str) -> Model | None:
        if ref.startswith(ids.MODEL):
            return self._session.get(Model, ref)
        if "@" in ref:
            name, alias = ref.split("@", 1)
            aliased = select(Model).join(ModelAlias, ModelAlias.model_id == Model.id)
            return self._session.scalar(aliased.where(ModelAlias.name == name, ModelAlias.alias == alias))
        if ":" in ref:
            name, version = ref.split(":", 1)
            if not _VERSION.fullmatch(version):
                return None
            return self._session.scalar(
                select(Model).where(Model.name == name, Model.version == int(version))
            )
        return self._session.scalar(
            select(Model).where(Model.name == ref).order_by(Model.version.desc()).limit(1)
        )

    def _insert_as_next_version(self, model: Model) -> Model:
        take_turn(self._session, _VERSION_TURNS, model.name)
        latest = self._session.scalar(select(func.max(Model.version)).where(Model.name == model.name))
        model.version = (latest or 0) + 1
        self._session.add(model)
        self._session.flush()
        return model
