"""Visibility of rows: hide the trash, and the projects that the caller may not read."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sqlalchemy import event, select
from sqlalchemy.orm import ORMExecuteState, Session, with_loader_criteria

from core.errors import InvalidInput
from core.store.tables import InProject, InProjectOfName, ModelName, Trashable

# Filter value for rows without a project; not a valid name of a project.
NO_PROJECT = "-"

# Projects whose rows are visible. None means all projects: the default, also in workers.
_projects: ContextVar[tuple[str, ...] | None] = ContextVar("projects", default=None)
# Whether only rows without a project are selected.
_unassigned: ContextVar[bool] = ContextVar("unassigned", default=False)

# Rows do not carry the criteria, so that they can be pickled; later loads get their own criteria.
_IN_USE = with_loader_criteria(
    Trashable, lambda row: row.deleted_at.is_(None), include_aliases=True, propagate_to_loaders=False
)
_UNASSIGNED = (
    with_loader_criteria(
        InProject, lambda row: row.project.is_(None), include_aliases=True, propagate_to_loaders=False
    ),
    with_loader_criteria(
        InProjectOfName,
        lambda row: row.name.in_(select(ModelName.name).where(ModelName.project.is_(None))),
        include_aliases=True,
        propagate_to_loaders=False,
    ),
)
_WITH_TRASH = "with_trash"


def visible_projects() -> tuple[str, ...] | None:
    """Return the projects whose rows are visible in the current context, None for all."""
    return _projects.get()


@contextmanager
def limited_to(names: tuple[str, ...] | None) -> Iterator[None]:
    """Select only rows of some projects during the block, in the current context; None for all rows.

    Tasks, and threads of `to_thread`, started during the block inherit the limit; other threads do not.
    """
    before = _projects.set(names)
    try:
        yield
    finally:
        _projects.reset(before)


@contextmanager
def narrowed_to(name: str | None) -> Iterator[None]:
    """Select only rows of one project during the block; no rows if the context excludes the project.

    None narrows nothing; `NO_PROJECT` selects rows without a project.
    """
    if name == NO_PROJECT:
        before = _unassigned.set(True)
        try:
            yield
        finally:
            _unassigned.reset(before)
        return
    allowed = _projects.get()
    names = allowed if name is None else (name,) if allowed is None or name in allowed else ()
    with limited_to(names):
        yield


@contextmanager
def with_trash(session: Session) -> Iterator[None]:
    """Select rows in the trash as well during the block."""
    before = session.info.get(_WITH_TRASH, False)
    session.info[_WITH_TRASH] = True
    try:
        yield
    finally:
        session.info[_WITH_TRASH] = before


def select_visible(session: Session) -> None:
    """Make a session omit invisible rows from its selections, and refuse to write them.

    Rows loaded earlier stay visible; bulk UPDATE and DELETE statements are not limited.
    """
    event.listen(session, "do_orm_execute", _omit_invisible_rows)
    event.listen(session, "before_flush", _refuse_invisible_rows)


def _omit_invisible_rows(state: ORMExecuteState) -> None:
    if not state.is_select or state.is_column_load:
        return
    if not state.session.info.get(_WITH_TRASH, False):
        state.statement = state.statement.options(_IN_USE)
    names = _projects.get()
    if names is not None:
        of_projects = select(ModelName.name).where(ModelName.project.in_(names))
        state.statement = state.statement.options(
            with_loader_criteria(
                InProject,
                lambda row: row.project.in_(names),
                include_aliases=True,
                propagate_to_loaders=False,
            ),
            with_loader_criteria(
                InProjectOfName,
                lambda row: row.name.in_(of_projects),
                include_aliases=True,
                propagate_to_loaders=False,
            ),
        )
    if _unassigned.get():
        state.statement = state.statement.options(*_UNASSIGNED)


def _refuse_invisible_rows(session: Session, *_: Any) -> None:
    names = _projects.get()
    if names is None:
        return
    for row in (*session.new, *session.dirty):
        if isinstance(row, InProject) and row.project not in names:
            raise InvalidInput.at("/project", f"must be a project of the API key: {', '.join(names)}")
