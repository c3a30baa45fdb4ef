"""Studies of runs of schedules.

The column is nullable, so that workers of the previous release can insert rows.
"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.add_column("schedule_runs", sa.Column("study_id", sa.String(32), nullable=True))


def downgrade() -> None:
    op.drop_column("schedule_runs", "study_id")
