"""Progress of the compilation of kernels by workers.

The column may be left out by an INSERT, so that a worker of the release before can report itself.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workers", sa.Column("compiling", sa.String(16), nullable=True))


def downgrade() -> None:
    op.drop_column("workers", "compiling")
