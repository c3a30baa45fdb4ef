"""The first tables: datasets, jobs, models, results and responses to repeated requests."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_jobs()
    _create_datasets()
    _create_models()
    _create_results()
    _create_idempotency_records()


def downgrade() -> None:
    for table in (
        "idempotency_records",
        "rankings",
        "evaluations",
        "model_aliases",
        "models",
        "job_datasets",
        "datasets",
        "job_iterations",
        "jobs",
    ):
        op.drop_table(table)


def _moment(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _json(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.JSON(), nullable=nullable)


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        _json("spec"),
        _json("progress", nullable=True),
        _json("metrics", nullable=True),
        _json("result", nullable=True),
        _json("problem", nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=False),
        _moment("lease_expires_at", nullable=True),
        sa.Column("worker", sa.String(255), nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        _moment("woken_at", nullable=True),
        _moment("created_at"),
        _moment("started_at", nullable=True),
        _moment("finished_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_status_id", "jobs", ["status", "id"])
    op.create_index("ix_jobs_kind_id", "jobs", ["kind", "id"])
    op.create_index("ix_jobs_status_woken_at", "jobs", ["status", "woken_at"])
    op.create_index("ix_jobs_status_lease_expires_at", "jobs", ["status", "lease_expires_at"])
    op.create_table(
        "job_iterations",
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("iteration", sa.Integer(), autoincrement=False, nullable=False),
        _json("values"),
        sa.PrimaryKeyConstraint("job_id", "iteration", name="pk_job_iterations"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_job_iterations_job_id", ondelete="CASCADE"),
    )


def _create_datasets() -> None:
    op.create_table(
        "datasets",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        _json("source"),
        sa.Column("job_id", sa.String(32), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("sha256", sa.String(64), nullable=True),
        _json("statistics", nullable=True),
        _json("problem", nullable=True),
        _moment("created_at"),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("id", name="pk_datasets"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_datasets_job_id"),
    )
    op.create_index("ix_datasets_status_id", "datasets", ["status", "id"])
    op.create_table(
        "job_datasets",
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("dataset_id", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "dataset_id", name="pk_job_datasets"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_job_datasets_job_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["dataset_id"], ["datasets.id"], name="fk_job_datasets_dataset_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_job_datasets_dataset_id", "job_datasets", ["dataset_id"])


def _create_models() -> None:
    op.create_table(
        "models",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("dataset_id", sa.String(32), nullable=False),
        _json("feature_names"),
        _json("loss"),
        _json("hyperparameters"),
        sa.Column("best_iteration", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        _json("metrics", nullable=True),
        _moment("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_models"),
        sa.UniqueConstraint("name", "version", name="uq_models_name_version"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_models_job_id"),
    )
    op.create_index("ix_models_name_id", "models", ["name", "id"])
    op.create_index("ix_models_job_id", "models", ["job_id"])
    op.create_table(
        "model_aliases",
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("alias", sa.String(255), nullable=False),
        sa.Column("model_id", sa.String(32), nullable=False),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("name", "alias", name="pk_model_aliases"),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name="fk_model_aliases_model_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_model_aliases_model_id", "model_aliases", ["model_id"])


def _create_results() -> None:
    for table, columns in (
        ("evaluations", (_json("summaries"),)),
        (
            "rankings",
            (
                sa.Column("queries", sa.BigInteger(), nullable=False),
                sa.Column("documents", sa.BigInteger(), nullable=False),
            ),
        ),
    ):
        op.create_table(
            table,
            sa.Column("id", sa.String(32), nullable=False),
            sa.Column("job_id", sa.String(32), nullable=False),
            sa.Column("model_id", sa.String(32), nullable=False),
            sa.Column("dataset_id", sa.String(32), nullable=False),
            *columns,
            _moment("created_at"),
            sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
            sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=f"fk_{table}_job_id"),
            sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=f"fk_{table}_model_id"),
        )
        op.create_index(f"ix_{table}_job_id", table, ["job_id"])
        op.create_index(f"ix_{table}_model_id", table, ["model_id"])


def _create_idempotency_records() -> None:
    op.create_table(
        "idempotency_records",
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("endpoint", sa.String(255), nullable=False),
        sa.Column("request_sha256", sa.String(64), nullable=False),
        sa.Column("status_code", sa.Integer(), nullable=False),
        _json("body"),
        _json("headers"),
        _moment("created_at"),
        sa.PrimaryKeyConstraint("key", "endpoint", name="pk_idempotency_records"),
    )
    op.create_index("ix_idempotency_records_created_at", "idempotency_records", ["created_at"])
