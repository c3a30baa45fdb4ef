"""Models carry what their test data show of them, such as that they are not better than a baseline.

The column may be left out by an INSERT, so that a worker of the release before can finish its job.
"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("models", sa.Column("findings", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("models", "findings")
