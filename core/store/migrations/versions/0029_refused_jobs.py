"""The status `refused` of promotions whose gate refused the version; they were `failed` before."""

from alembic import op

revision = "0029"
down_revision = "0028"

_REFUSED = "SELECT job_id FROM alias_moves WHERE kind = 'refused'"


def upgrade() -> None:
    _rename("failed", "refused")


def downgrade() -> None:
    _rename("refused", "failed")


def _rename(before: str, after: str) -> None:
    op.execute(
        f"UPDATE jobs SET status = '{after}' WHERE status = '{before}' AND id IN ({_REFUSED})"  # noqa: S608 - constants
    )
    op.execute(
        f"UPDATE job_attempts SET ending = '{after}' WHERE ending = '{before}' AND job_id IN ({_REFUSED})"  # noqa: S608
    )
