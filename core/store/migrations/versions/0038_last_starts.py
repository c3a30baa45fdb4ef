"""Index for the last job start of an API key, by which API keys take turns."""

from alembic import op

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    op.create_index("ix_jobs_key_id_started_at", "jobs", ["key_id", "started_at"])


def downgrade() -> None:
    op.drop_index("ix_jobs_key_id_started_at", "jobs")
