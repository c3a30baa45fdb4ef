"""Names, main metrics and durations of jobs, to search and sort them; live workers.

New columns are nullable or have a default, so that workers of the previous release can insert rows.
"""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_COLUMNS = ("title", "main_metric", "took_seconds")
_BATCH = 500

# Rules for titles and main metrics at this revision; `core.jobs` has the current ones.
_MAX_TITLE = 255
_NAMES = ("model_name", "name", "system", "model", "model_id")
_PARTS = ("test", "validation", "train")
_LOSS = "loss"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("title", sa.String(255), nullable=True))
    op.add_column("jobs", sa.Column("main_metric", sa.Double(), nullable=True))
    op.add_column("jobs", sa.Column("took_seconds", sa.Double(), nullable=True))
    _fill()
    op.create_index("ix_jobs_main_metric_id", "jobs", ["main_metric", "id"])
    op.create_index("ix_jobs_took_seconds_id", "jobs", ["took_seconds", "id"])
    op.create_table(
        "workers",
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("lane", sa.String(16), nullable=False),
        sa.Column("processes", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_workers"),
    )


def downgrade() -> None:
    op.drop_table("workers")
    op.drop_index("ix_jobs_took_seconds_id", "jobs")
    op.drop_index("ix_jobs_main_metric_id", "jobs")
    for name in _COLUMNS:
        op.drop_column("jobs", name)


def _fill() -> None:
    """Fill the new columns of existing jobs."""
    moment = sa.DateTime(timezone=True)
    jobs = sa.table(
        "jobs",
        sa.column("id", sa.String),
        sa.column("spec", sa.JSON),
        sa.column("metrics", sa.JSON),
        sa.column("started_at", moment),
        sa.column("finished_at", moment),
        *(sa.column(name) for name in _COLUMNS),
    )
    connection = op.get_bind()
    last = ""
    while True:
        some = sa.select(jobs).where(jobs.c.id > last).order_by(jobs.c.id).limit(_BATCH)
        rows = connection.execute(some).all()
        if not rows:
            return
        for row in rows:
            took = (row.finished_at - row.started_at).total_seconds() if _ran(row) else None
            connection.execute(
                sa.update(jobs)
                .where(jobs.c.id == row.id)
                .values(
                    title=_title(row.spec),
                    main_metric=_main_metric(row.spec, row.metrics),
                    took_seconds=took,
                )
            )
        last = rows[-1].id


def _ran(row: "sa.Row[tuple[object, ...]]") -> bool:
    return row.started_at is not None and row.finished_at is not None


def _title(spec: Mapping[str, Any]) -> str | None:
    if systems := spec.get("systems"):
        names = [s.get("system") or s.get("model") or s.get("ranking_id") or "" for s in systems]
        return ", ".join(names)[:_MAX_TITLE]
    found = next((spec[name] for name in _NAMES if spec.get(name)), None)
    return None if found is None else str(found)[:_MAX_TITLE]


def _main_metric(spec: Mapping[str, Any], metrics: Mapping[str, Any] | None) -> float | None:
    parts = [part for name in _PARTS if (part := (metrics or {}).get(name))]
    known = [name for part in parts for name in part if name != _LOSS]
    wanted = [(spec.get("early_stopping") or {}).get("metric"), *(spec.get("metrics") or ()), *known]
    name = next((name for name in wanted if name in known), None)
    return next((part[name] for part in parts if part.get(name) is not None), None)
