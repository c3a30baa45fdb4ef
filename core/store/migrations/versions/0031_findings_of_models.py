"""Findings of models, such as "not shown to be better than a baseline".

The column is nullable, so that workers of the previous release can insert rows.
"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    op.add_column("models", sa.Column("findings", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("models", "findings")
