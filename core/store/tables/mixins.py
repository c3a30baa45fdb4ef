"""Columns that several tables share."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from core.store.tables.base import ID, NAME, PROJECT


class Trashable:
    """A row that can be moved to the trash; all selections leave out those that are there.

    Attributes:
        deleted_at: When it was moved there, None for a row in use.
        deleted_by: The API key that moved it, None where no key was needed or retention did.
    """

    deleted_at: Mapped[datetime | None] = mapped_column(index=True)
    deleted_by: Mapped[str | None] = mapped_column(ID)


class Labelled:
    """A row that belongs to a project.

    Attributes:
        project: Name of the project, None for a row of no project.
    """

    project: Mapped[str | None] = mapped_column(PROJECT, index=True)


class Named:
    """A row about a name of models, which belongs to the project of the name.

    Attributes:
        name: The name.
    """

    name: Mapped[str] = mapped_column(NAME)
