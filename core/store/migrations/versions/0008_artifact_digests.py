"""Checksums of artifacts, to detect damaged ones.

Models have had checksums from the start. Other artifacts, also those of workers of the previous release, get
them at their first read.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "artifact_digests",
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("damaged_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_artifact_digests"),
    )
    op.create_index("ix_artifact_digests_damaged_at", "artifact_digests", ["damaged_at"])
    op.execute(
        "INSERT INTO artifact_digests (key, sha256, size_bytes)"
        " SELECT 'models/' || id || '/model.txt', sha256, size_bytes FROM models"
    )


def downgrade() -> None:
    op.drop_table("artifact_digests")
