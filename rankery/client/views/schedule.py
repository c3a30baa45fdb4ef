"""Schedules and their runs."""

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import moment
from rankery.client.schemas import answers

_UNFINISHED = frozenset({"queued", "training", "running", "promoting"})


class ScheduleRunView(Displayable, answers.ScheduleRun):
    """One run of a schedule."""

    @property
    def has_ended(self) -> bool:
        """True if the run has ended, with any status."""
        return self.status not in _UNFINISHED

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "due": moment(self.due_at),
            "status": self.status,
            "detail": self.detail or "",
            "job": self.job_id or self.study_id or "",
            "model": self.model_id or "",
        }

    def card(self) -> Card:
        """Return the card of the run."""
        return Card(f"run of schedule {self.schedule_id}", self.summary())


class ScheduleView(Displayable, answers.Schedule):
    """A schedule that queues a job periodically."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "name": self.name,
            "cron": f"{self.cron} {self.timezone}",
            "next run": moment(self.next_run_at) if self.enabled else "paused",
            "last run": self.last_run.status if self.last_run else "",
        }

    def card(self) -> Card:
        """Return the card of the schedule."""
        facts = self.summary() | {
            "why": (self.problem.detail or self.problem.title) if self.problem else "",
            "job": str(self.job.get("kind", "")),
            "model": str(self.job.get("model_name") or self.job.get("model") or ""),
            "promotes to": (self.promote or {}).get("alias", ""),
            "project": self.project or "",
        }
        rows = [[moment(at)] for at in self.next_runs]
        tables = [CardTable(["next runs"], rows)] if rows else []
        return Card(f"schedule {facts.pop('name')}", facts, tables=tables)
