"""Experiments of papers."""

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import moment
from rankery.client.schemas import answers

ENDED = frozenset({"succeeded", "failed", "cancelled"})
_ENDED_TRAININGS = ("succeeded", "failed", "cancelled")


class ExperimentView(Displayable, answers.Experiment):
    """An experiment, as last fetched from the service."""

    @property
    def has_ended(self) -> bool:
        """Whether it succeeded, failed or was cancelled."""
        return self.status in ENDED

    @property
    def done(self) -> int:
        """Number of ended trainings."""
        return sum(getattr(self.counts, status) for status in _ENDED_TRAININGS)

    @property
    def total(self) -> int:
        """Number of required trainings; 0 before the datasets are ready."""
        return self.done + self.counts.planned + self.counts.queued + self.counts.running

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "paper": self.paper,
            "scale": self.scale,
            "data": self.data,
            "status": self.status,
            "trainings": f"{self.done:,} of {self.total:,}",
            "created": moment(self.created_at),
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        facts = {
            "status": self.status,
            "why": (self.problem.detail or self.problem.title) if self.problem else "",
            "tables": ", ".join(self.tables),
            "scale": self.scale,
            "data": self.data,
            "trainings": f"{self.done:,} of {self.total:,}",
            "created": moment(self.created_at),
            "ended": moment(self.finished_at),
        }
        claims = [
            [table["name"], claim["verdict"], claim["statement"]]
            for table in (self.report or {}).get("tables", ())
            for claim in table["claims"]
        ]
        tables = [CardTable(["table", "verdict", "claim"], claims)] if claims else []
        return Card(f"experiment {self.id}: {self.title}", facts, self.sentence or "", tables)
