"""Served rankings with their events, the key of user hashes, and gates without a dataset."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    op.create_table(
        "served_rankings",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("user", sa.String(32), nullable=True),
        sa.Column("session", sa.String(32), nullable=True),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_served_rankings"),
    )
    op.create_index("ix_served_rankings_name_id", "served_rankings", ["name", "id"])
    op.create_table(
        "served_events",
        sa.Column("ranking_id", sa.String(32), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("ranking_id", "place", "action", name="pk_served_events"),
    )
    op.create_table(
        "hash_keys",
        sa.Column("name", sa.String(16), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_hash_keys"),
    )
    op.add_column(
        "interleavings", sa.Column("expired_lists", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column(
        "interleaved_lists", sa.Column("expired", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_index("ix_interleaved_lists_expired_created_at", "interleaved_lists", ["expired", "created_at"])
    with op.batch_alter_table("alias_gates") as table:
        table.alter_column("dataset_id", existing_type=sa.String(32), nullable=True)


def downgrade() -> None:
    op.execute(sa.text("DELETE FROM alias_gates WHERE dataset_id IS NULL"))
    with op.batch_alter_table("alias_gates") as table:
        table.alter_column("dataset_id", existing_type=sa.String(32), nullable=False)
    op.drop_index("ix_interleaved_lists_expired_created_at", "interleaved_lists")
    op.drop_column("interleaved_lists", "expired")
    op.drop_column("interleavings", "expired_lists")
    op.drop_table("hash_keys")
    op.drop_table("served_events")
    op.drop_table("served_rankings")
