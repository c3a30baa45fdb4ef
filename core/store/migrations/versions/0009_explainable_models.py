"""Explainability of models; that of existing models is computed at the first request.

The column may be left out by an INSERT, so that a worker of the release before can finish its job.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("models", sa.Column("explanation", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("models", "explanation")
