"""Explainability of models; that of existing models is computed at the first request.

The column is nullable, so that workers of the previous release can insert rows.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("models", sa.Column("explanation", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("models", "explanation")
