"""Stored models and versions."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, String, cast, exists, func, select
from sqlalchemy.orm import aliased

from core.errors import InvalidInput, NotFound
from core.names import did_you_mean
from core.store.artifacts.keys import model_key
from core.store.engines import advisory_lock
from core.store.repositories import ids
from core.store.repositories.artifacts import ArtifactRecords
from core.store.repositories.pages import NEWEST_FIRST, Direction, Page, WantedTags, order_of, with_tags
from core.store.repositories.projects import changed_tags
from core.store.repositories.repository import Repository, insert_row
from core.store.tables import Job, Model, ModelAlias, ModelName

MODEL_NAME = r"^[a-z0-9][a-z0-9._-]{0,99}$"
MODEL_NAME_RULE = "must be 1 to 100 of a-z, 0-9, '.', '_' and '-', the first a letter or digit"

_VERSION = re.compile(r"[1-9][0-9]{0,8}")
_NAME_ENDS = re.compile("[:@]")
_MAX_COMPARED_NAMES = 1_000  # a comparison takes 10 µs
_VERSION_LOCKS = 0x4D4F444C  # namespace of advisory locks: "MODL"


def check_name(name: str, pointer: str) -> None:
    """Validate the name of a model or an alias.

    Raises:
        InvalidInput: At `pointer`, where the name does not match `MODEL_NAME` or looks like an id.
    """
    if "\n" in name or not re.match(MODEL_NAME, name):
        raise InvalidInput.at(pointer, MODEL_NAME_RULE)
    if name.startswith(ids.MODEL):
        raise InvalidInput.at(pointer, f"must not start with {ids.MODEL}, which begins an id")


class Models(Repository[Model]):
    """Models within one transaction."""

    table = Model
    kind = "model"
    id_prefix = ids.MODEL
    columns = MappingProxyType(
        {
            "created": None,
            "name": func.lower(Model.name, type_=String),
            "trees": Model.best_iteration.expression,
            "size": Model.size_bytes.expression,
        }
    )
    searched = (Model.name + ":" + cast(Model.version, String),)

    def add(
        self,
        id: str | None = None,
        *,
        name: str,
        job_id: str,
        feature_names: Iterable[str],
        best_iteration: int,
        sha256: str,
        size_bytes: int,
        **known: Any,
    ) -> Model:
        """Add a model as the next version of its name, from 1.

        Args:
            id: Id under which its file is stored.
            best_iteration: Number of its trees, or the epoch of its weights.
            sha256: Checksum of its file, in hexadecimal.
            known: Optional columns, such as `dataset_id` and `lineage`.

        Raises:
            InvalidInput: The name is not allowed.
        """
        check_name(name, "/name")
        model = Model(
            id=id or ids.new_id(ids.MODEL),
            name=name,
            job_id=job_id,
            feature_names=list(feature_names),
            best_iteration=best_iteration,
            sha256=sha256,
            size_bytes=size_bytes,
            **known,
        )
        return self._insert_as_next_version(model)

    def get_many(self, model_ids: Iterable[str]) -> dict[str, Model]:
        """Return the models of some ids by id, without those that do not exist."""
        rows = select(Model).where(Model.id.in_(set(model_ids)))
        return {model.id: model for model in self._session.scalars(rows)}

    def with_checksum(self, sha256: str) -> list[Model]:
        """List the models whose file has the given checksum."""
        return list(self._session.scalars(select(Model).where(Model.sha256 == sha256).order_by(Model.id)))

    def resolve(self, ref: str) -> Model:
        """Resolve a model reference.

        Args:
            ref: An id (`mdl_…`), `name` (its latest version), `name:version` or `name@alias`.
        """
        model = self._find(ref) if ids.may_exist(ref) else None
        if model is None:
            raise NotFound("model", ref)
        return model

    def similar(self, ref: str) -> str | None:
        """Return a question with the most similar name, or with the most similar alias of the name.

        Return None without a similar one, or if only the version does not exist. The reference of a model,
        where only a name is accepted, has that name.
        """
        name = _NAME_ENDS.split(ref, maxsplit=1)[0]
        if not re.fullmatch(MODEL_NAME, name) or self._latest(name) is None:
            exist = select(ModelName.name).where(exists().where(Model.name == ModelName.name))
            names = self._session.scalars(exist.limit(_MAX_COMPARED_NAMES))
            return did_you_mean(name, names)
        if self._find(ref) is not None:
            return f"did you mean {name}?"
        aliases = self._session.scalars(select(ModelAlias.alias).where(ModelAlias.name == name))
        references = [f"{name}@{alias}" for alias in aliases if "@" in ref]
        return did_you_mean(ref, references)

    def with_metrics(self, name: str, limit: int) -> list[Model]:
        """Return the latest versions of a name that have metrics, oldest first."""
        rows = select(Model).where(Model.name == name, Model.metrics.is_not(None))
        return list(reversed(self._session.scalars(rows.order_by(Model.version.desc()).limit(limit)).all()))

    def require_name(self, name: str) -> None:
        """Raise if there is no model of a name.

        Raises:
            NotFound: No model has the name.
        """
        if self._latest(name) is None:
            raise NotFound("model", name)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        prefix: str | None = None,
        sort: str = "created",
        direction: Direction | None = None,
        tags: WantedTags = (),
        kind: str | None = None,
        latest: bool = False,
        metric: str = "",
        **wanted: Any,
    ) -> Page[Model]:
        """List models as `Repository.page` does; `sort` may be `metric`, the value of the given metric.

        Args:
            cursor: Cursor of the page, None for the first page.
            limit: Maximum number of rows.
            prefix: Only models whose reference or id begins with it, ignoring case.
            sort: One of `columns`, or `metric`.
            tags: Names of tags with their required value, None for any value.
            kind: Only models of this kind of scorer, see `Model.kind`.
            latest: Only the latest version of each name.
            metric: Spelling of the metric to sort by.
            wanted: Only rows with these values, by column.
        """
        rows = with_tags(self._select(prefix, **wanted), Model.tags, tags)
        if latest:
            rows = rows.where(_is_latest())
        if kind is not None:
            stored = Model.scorer["kind"].as_string()
            rows = rows.where(stored.is_(None) if kind == "trees" else stored == kind)
        columns = {**self.columns, "metric": Model.metrics[metric].as_float()}
        return self._take(rows, cursor, limit, order_of(columns, sort, direction))

    def page_of_names(
        self,
        cursor: str | None,
        limit: int,
        containing: str | None = None,
        tags: WantedTags = (),
        *,
        project: str | None = None,
    ) -> Page[Model]:
        """List the latest version of each name, most recent first.

        Args:
            cursor: Cursor of the page, None for the first page.
            limit: Maximum number of rows.
            containing: Only names that contain this text.
            tags: Tags of the latest version, as for `page`.
        """
        rows = with_tags(self._select(project=project).where(_is_latest()), Model.tags, tags)
        if containing is not None:
            rows = rows.where(Model.name.contains(containing, autoescape=True))
        return self._take(rows, cursor, limit, NEWEST_FIRST)

    def describe(self, id: str, **texts: str | None) -> Model:
        """Set or clear the title and the description of a model, where they are given."""
        model = self.locked(id)  # so that concurrent changes do not overwrite each other
        for column, text in texts.items():
            setattr(model, column, text)
        self._session.flush()
        return model

    def tag(self, id: str, tags: Mapping[str, str | None]) -> Model:
        """Set tags of a model; None removes a tag.

        Raises:
            InvalidInput: The model would have too many tags.
        """
        model = self.locked(id)  # so that concurrent changes do not overwrite each other
        model.tags = changed_tags(model.tags, tags)
        self._session.flush()
        return model

    def aliases_of(self, model_ids: Iterable[str]) -> dict[str, list[str]]:
        """Return the aliases of several models, in alphabetical order."""
        aliases: dict[str, list[str]] = {model_id: [] for model_id in model_ids}
        rows = select(ModelAlias.model_id, ModelAlias.alias).where(ModelAlias.model_id.in_(aliases))
        for model_id, alias in self._session.execute(rows.order_by(ModelAlias.alias)):
            aliases[model_id].append(alias)
        return aliases

    def aliases_of_names(self, names: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the version of each alias, by model name and alias."""
        aliases: dict[str, dict[str, int]] = {name: {} for name in names}
        rows = select(ModelAlias.name, ModelAlias.alias, Model.version).join(ModelAlias.model)
        for name, alias, version in self._session.execute(
            rows.where(ModelAlias.name.in_(aliases)).order_by(ModelAlias.alias)
        ):
            aliases[name][alias] = version
        return aliases

    def _find(self, ref: str) -> Model | None:
        if ref.startswith(ids.MODEL):
            return self._session.get(Model, ref)
        if "@" in ref:
            name, alias = ref.split("@", 1)
            aliased_models = select(Model).join(ModelAlias, ModelAlias.model_id == Model.id)
            return self._session.scalar(
                aliased_models.where(ModelAlias.name == name, ModelAlias.alias == alias)
            )
        if ":" in ref:
            name, version = ref.split(":", 1)
            if not _VERSION.fullmatch(version):
                return None
            return self._session.scalar(
                select(Model).where(Model.name == name, Model.version == int(version))
            )
        return self._latest(ref)

    def _latest(self, name: str) -> Model | None:
        versions = select(Model).where(Model.name == name)
        return self._session.scalar(versions.order_by(Model.version.desc()).limit(1))

    def _insert_as_next_version(self, model: Model) -> Model:
        advisory_lock(self._session, _VERSION_LOCKS, model.name)
        name = self._session.get(ModelName, model.name, populate_existing=True)
        if name is None:
            job_project = select(Job.project).where(Job.id == model.job_id)
            project = self._session.scalar(job_project)
            name = insert_row(self._session, ModelName(name=model.name, last_version=0, project=project))
        name.last_version = model.version = name.last_version + 1
        model.project = name.project
        self._session.add(model)
        ArtifactRecords(self._session).record_checksum(model_key(model.id), model.sha256, model.size_bytes)
        return model


def _is_latest() -> ColumnElement[bool]:
    later = aliased(Model)
    return ~exists().where(later.name == Model.name, later.version > Model.version)
