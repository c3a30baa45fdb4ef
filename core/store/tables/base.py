"""The base class and column types of all tables."""

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, MetaData, String
from sqlalchemy.orm import DeclarativeBase

from core.store.tables.columns import UtcDateTime

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
