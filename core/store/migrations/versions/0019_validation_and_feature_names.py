"""Summaries of models on the validation data, and names of the features of datasets.

Trainings are now listed by their main metric on the validation data. The columns are nullable, so that
workers of the previous release can insert rows.
"""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0017"

_BATCH = 500
_TRAININGS = ("train", "reproduce")


def upgrade() -> None:
    op.add_column("models", sa.Column("validation", sa.JSON(), nullable=True))
    op.add_column("datasets", sa.Column("feature_names", sa.JSON(), nullable=True))
    _rank_by("validation")


def downgrade() -> None:
    _rank_by("test")
    op.drop_column("datasets", "feature_names")
    op.drop_column("models", "validation")


def _rank_by(part: str) -> None:
    """Set the main metric of trainings to its value on `validation` or `test`, where it was measured."""
    jobs = sa.table(
        "jobs",
        *(sa.column(name) for name in ("id", "kind", "main_metric")),
        sa.column("spec", sa.JSON),
        sa.column("metrics", sa.JSON),
    )
    connection = op.get_bind()
    last = ""
    while True:
        some = sa.select(jobs).where(jobs.c.id > last, jobs.c.kind.in_(_TRAININGS))
        rows = connection.execute(some.order_by(jobs.c.id).limit(_BATCH)).all()
        if not rows:
            return
        for row in rows:
            value = _value(row.spec, (row.metrics or {}).get(part) or {})
            if value is not None:
                changed = sa.update(jobs).where(jobs.c.id == row.id).values(main_metric=value)
                connection.execute(changed)
        last = rows[-1].id


def _value(spec: Mapping[str, Any], measured: Mapping[str, float | None]) -> float | None:
    watched = (spec.get("early_stopping") or {}).get("metric")
    wanted = (watched, *(spec.get("metrics") or ()), *measured)
    return next((measured[name] for name in wanted if measured.get(name) is not None), None)
