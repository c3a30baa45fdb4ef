"""The rows that a session selects: not those in the trash, and only those of the caller's projects."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sqlalchemy import event
from sqlalchemy.orm import ORMExecuteState, Session, with_loader_criteria

from core.store.tables import Labelled, Trashable

# None for all projects: the default, and what workers have.
_projects: ContextVar[tuple[str, ...] | None] = ContextVar("projects", default=None)

_IN_USE = with_loader_criteria(Trashable, lambda row: row.deleted_at.is_(None), include_aliases=True)
_WITH_TRASH = "with_trash"


def projects() -> tuple[str, ...] | None:
    """Return the projects whose rows the current context selects, None for all rows."""
    return _projects.get()


@contextmanager
def limited_to(names: tuple[str, ...] | None) -> Iterator[None]:
    """Select only rows of some projects during the block, in this context alone; None for all rows."""
    before = _projects.set(names)
    try:
        yield
    finally:
        _projects.reset(before)


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
    """Make a session leave out what is not to be seen from its selections.

    Rows that it has loaded before stay; updates and deletions are not limited.
    """
    event.listen(session, "do_orm_execute", _leave_out)


def _leave_out(state: ORMExecuteState) -> None:
    if not state.is_select or state.is_column_load:
        return
    if not state.session.info.get(_WITH_TRASH, False):
        state.statement = state.statement.options(_IN_USE)
    names = _projects.get()
    if names is not None:
        state.statement = state.statement.options(
            with_loader_criteria(Labelled, lambda row: row.project.in_(names), include_aliases=True)
        )
