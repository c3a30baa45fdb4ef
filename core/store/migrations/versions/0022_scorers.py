"""Scorers of models other than trees."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("models", sa.Column("scorer", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("models", "scorer")
