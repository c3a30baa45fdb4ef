"""Interleavings and the lists that they showed."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.create_table(
        "interleavings",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("rankers", sa.JSON(), nullable=False),
        sa.Column("model_ids", sa.JSON(), nullable=True),
        sa.Column("method", sa.String(16), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("unit", sa.String(16), nullable=False),
        sa.Column("rule", sa.JSON(), nullable=False),
        sa.Column("click_window_seconds", sa.Integer(), nullable=False),
        sa.Column("key_id", sa.String(32), nullable=True),
        sa.Column("project", sa.String(100), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_interleavings"),
    )
    op.create_index("ix_interleavings_project", "interleavings", ["project"])
    op.create_table(
        "interleaved_lists",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("interleaving_id", sa.String(32), nullable=False),
        sa.Column("assignment", sa.String(32), nullable=True),
        sa.Column("user", sa.String(32), nullable=True),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("clicks", sa.JSON(), nullable=True),
        sa.Column("credits", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_interleaved_lists"),
        sa.ForeignKeyConstraint(
            ["interleaving_id"],
            ["interleavings.id"],
            name="fk_interleaved_lists_interleaving_id_interleavings",
        ),
        sa.UniqueConstraint(
            "interleaving_id", "assignment", name="uq_interleaved_lists_interleaving_id_assignment"
        ),
    )
    op.create_index("ix_interleaved_lists_interleaving_id_id", "interleaved_lists", ["interleaving_id", "id"])


def downgrade() -> None:
    op.drop_table("interleaved_lists")
    op.drop_table("interleavings")
