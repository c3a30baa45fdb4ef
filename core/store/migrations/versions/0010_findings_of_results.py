"""Findings of evaluations, rankings and inspections, such as features that the dataset lacks.

The columns are nullable, so that workers of the previous release can insert rows.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_TABLES = ("evaluations", "rankings", "inspections")


def upgrade() -> None:
    for table in _TABLES:
        op.add_column(table, sa.Column("findings", sa.JSON(), nullable=True))


def downgrade() -> None:
    for table in _TABLES:
        op.drop_column(table, "findings")
