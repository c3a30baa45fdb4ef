"""Uploaded rankings, contracts, baselines and slices of evaluations, and comparisons."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_RESULTS = ("evaluations", "rankings")
_EVALUATION_COLUMNS = ("contract", "baselines", "slices", "diagnostics")


def upgrade() -> None:
    for table in _RESULTS:
        with op.batch_alter_table(table) as batch:
            batch.add_column(sa.Column("system", sa.String(255), nullable=True))
            batch.alter_column("model_id", existing_type=sa.String(32), nullable=True)
        op.execute(
            f"UPDATE {table} SET system ="  # noqa: S608 - constant names
            f" (SELECT name || ':' || version FROM models WHERE models.id = {table}.model_id)"
        )
        with op.batch_alter_table(table) as batch:
            batch.alter_column("system", existing_type=sa.String(255), nullable=False)
    op.add_column("evaluations", sa.Column("ranking_id", sa.String(32), nullable=True))
    for name in _EVALUATION_COLUMNS:
        op.add_column("evaluations", sa.Column(name, sa.JSON(), nullable=True))
    op.create_table(
        "comparisons",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("dataset_id", sa.String(32), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("systems", sa.JSON(), nullable=False),
        sa.Column("metrics", sa.JSON(), nullable=False),
        sa.Column("contract", sa.JSON(), nullable=False),
        sa.Column("permutations", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("pairs", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_comparisons"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_comparisons_job_id"),
    )
    op.create_index("ix_comparisons_job_id", "comparisons", ["job_id"])


def downgrade() -> None:
    op.drop_table("comparisons")
    for name in (*_EVALUATION_COLUMNS, "ranking_id"):
        op.drop_column("evaluations", name)
    for table in _RESULTS:
        op.execute(f"DELETE FROM {table} WHERE model_id IS NULL")  # noqa: S608 - constant names
        with op.batch_alter_table(table) as batch:
            batch.drop_column("system")
            batch.alter_column("model_id", existing_type=sa.String(32), nullable=False)
