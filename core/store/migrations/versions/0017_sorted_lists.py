"""Indexes for lists that are sorted by their columns, and for the results of a dataset."""

from alembic import op

revision = "0017"
down_revision = "0015"

_INDEXES = (
    ("jobs", "title"),
    ("jobs", "started_at"),
    ("jobs", "finished_at"),
    ("evaluations", "dataset_id"),
    ("evaluations", "system"),
    ("rankings", "dataset_id"),
    ("rankings", "system"),
    ("comparisons", "dataset_id"),
)


def upgrade() -> None:
    for table, column in _INDEXES:
        op.create_index(f"ix_{table}_{column}_id", table, [column, "id"])


def downgrade() -> None:
    for table, column in reversed(_INDEXES):
        op.drop_index(f"ix_{table}_{column}_id", table)
