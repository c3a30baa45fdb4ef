"""Trace contexts of jobs, from the requests that submitted them.

The column is nullable, so that APIs of the previous release can insert rows.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("trace_context", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("jobs", "trace_context")
