"""Contents and findings of datasets, and findings of jobs about their data."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    for column in (
        sa.Column("digest", sa.String(64), nullable=True),
        sa.Column("data_key", sa.String(255), nullable=True),
        _json("findings"),
        _json("parts"),
    ):
        op.add_column("datasets", column)
    op.create_index("ix_datasets_digest", "datasets", ["digest"])
    op.create_index("ix_datasets_data_key", "datasets", ["data_key"])
    op.add_column("jobs", _json("findings"))
    op.execute("UPDATE datasets SET data_key = 'datasets/' || id || '/data.parquet' WHERE status = 'ready'")


def downgrade() -> None:
    op.drop_column("jobs", "findings")
    op.drop_index("ix_datasets_data_key", "datasets")
    op.drop_index("ix_datasets_digest", "datasets")
    for name in ("parts", "findings", "data_key", "digest"):
        op.drop_column("datasets", name)


def _json(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.JSON(), nullable=True)
