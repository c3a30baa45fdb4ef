"""Times of iterations, and phases of attempts with seconds and memory.

The columns are nullable, so that workers of the previous release can insert rows.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("job_iterations", sa.Column("milliseconds", sa.JSON(), nullable=True))
    op.add_column("job_attempts", sa.Column("phases", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("job_attempts", "phases")
    op.drop_column("job_iterations", "milliseconds")
