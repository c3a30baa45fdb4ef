"""The base class of all tables, their column types, and mixins of shared columns."""

import json
import math
from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, DateTime, Dialect, Index, MetaData, String, TypeDecorator, event
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class UtcDateTime(TypeDecorator[datetime]):
    """A timezone-aware UTC timestamp; SQLite stores no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert an aware datetime to UTC.

        Raises:
            ValueError: The datetime is naive.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the stored moment as an aware datetime in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def serialize_json(value: Any) -> str:
    """Serialize a JSON column; numbers that are not finite become null."""
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


ID = String(32)
NAME = String(255)
WORD = String(16)
SHA256 = String(64)
PROJECT = String(100)


class Base(DeclarativeBase):
    """Base of all tables: column types and constraint names."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: UtcDateTime,
        dict[str, Any]: JSON(none_as_null=True),
        dict[str, str]: JSON(none_as_null=True),
        list[int]: JSON(none_as_null=True),
        list[str]: JSON(none_as_null=True),
        list[dict[str, Any]]: JSON(none_as_null=True),
    }

    def column_values(self) -> dict[str, Any]:
        """Return the values of the columns by name."""
        return {column.key: getattr(self, column.key) for column in self.__table__.columns}


class Trashable:
    """A row that can be moved to the trash; selections omit rows in the trash.

    Attributes:
        deleted_by: The API key that moved it, None without a key or for retention.
    """

    deleted_at: Mapped[datetime | None] = mapped_column()
    deleted_by: Mapped[str | None] = mapped_column(ID)


class InProject:
    """A row that belongs to a project.

    Attributes:
        project: Name of the project, None for a row of no project.
    """

    project: Mapped[str | None] = mapped_column(PROJECT)


class InProjectOfName:
    """A row about a name of models, which belongs to the project of the name."""

    name: Mapped[str] = mapped_column(NAME)


# A list reads one page from an index in the order of the list. If another index covered the same rows without
# this order, the database would prefer it, and sort all rows.


@event.listens_for(Trashable, "after_mapper_constructed", propagate=True)
def _index_trash(_: Any, row: Any) -> None:
    deleted_at = row.__table__.c.deleted_at
    in_trash = deleted_at.is_not(None)
    Index(None, deleted_at, sqlite_where=in_trash, postgresql_where=in_trash)


@event.listens_for(InProject, "after_mapper_constructed", propagate=True)
def _index_project(_: Any, row: Any) -> None:
    Index(None, row.__table__.c.project, *row.__table__.primary_key.columns)
