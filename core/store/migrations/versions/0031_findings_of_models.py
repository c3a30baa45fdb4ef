"""Findings of models, such as "not shown to be better than a baseline".

The column may be left out by an INSERT, so that a worker of the release before can finish its job.
"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("models", sa.Column("findings", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("models", "findings")
