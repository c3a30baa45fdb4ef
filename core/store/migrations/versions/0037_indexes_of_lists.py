"""Indexes from which a list reads one page, instead of sorting all rows."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"

_RESULTS = ("comparisons", "evaluations", "inspections", "rankings")
_WITH_TRASH = ("click_logs", "datasets", "experiments", "jobs", "models", "studies", *_RESULTS)
_WITHOUT_TRASH = ("drift_reports", "events", "interleavings", "schedules")
_KEYS = dict.fromkeys((*_WITH_TRASH, *_WITHOUT_TRASH), "id") | {"model_names": "name"}


def upgrade() -> None:
    in_trash = sa.text("deleted_at IS NOT NULL")
    for table in _WITH_TRASH:
        name = f"ix_{table}_deleted_at"
        op.drop_index(name, table)
        op.create_index(name, table, ["deleted_at"], sqlite_where=in_trash, postgresql_where=in_trash)
    for table, key in _KEYS.items():
        op.drop_index(f"ix_{table}_project", table)
        op.create_index(f"ix_{table}_project_{key}", table, ["project", key])


def downgrade() -> None:
    for table, key in _KEYS.items():
        op.drop_index(f"ix_{table}_project_{key}", table)
        op.create_index(f"ix_{table}_project", table, ["project"])
    for table in _WITH_TRASH:
        name = f"ix_{table}_deleted_at"
        op.drop_index(name, table)
        op.create_index(name, table, ["deleted_at"])
