"""Progress of the compilation of kernels by workers.

The column is nullable, so that workers of the previous release can insert rows.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("workers", sa.Column("compiling", sa.String(16), nullable=True))


def downgrade() -> None:
    op.drop_column("workers", "compiling")
