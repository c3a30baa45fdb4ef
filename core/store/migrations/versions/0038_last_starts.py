"""Index from which the turn of an API key is read."""

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_jobs_key_id_started_at", "jobs", ["key_id", "started_at"])


def downgrade() -> None:
    op.drop_index("ix_jobs_key_id_started_at", "jobs")
