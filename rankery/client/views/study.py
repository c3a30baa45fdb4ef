"""Hyperparameter studies."""

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import moment, number
from rankery.client.schemas import answers

ENDED = ("succeeded", "failed", "cancelled")


class StudyView(Displayable, answers.Study):
    """A hyperparameter study, as last fetched from the service."""

    @property
    def has_ended(self) -> bool:
        """True if the study has ended, with any status."""
        return self.status in ENDED

    @property
    def sentence(self) -> str | None:
        """Conclusion in a sentence, None before the study has concluded."""
        return self.conclusion.sentence if self.conclusion else None

    @property
    def ended_trials(self) -> int:
        """Number of trials that have ended, with any status."""
        return self.counts.asked - self.counts.queued - self.counts.running

    def news(self) -> str:
        """Return the progress of the study in one line."""
        counts = self.counts
        parts = [f"{self.ended_trials} of {self.budget.trials} trials"]
        parts += [f"{counts.pruned} pruned"] if counts.pruned else []
        parts += [f"{counts.failed} failed"] if counts.failed else []
        if self.best is not None:
            parts.append(f"best {self.objective['metric']} {self.best.value:.4f} (trial {self.best.number})")
        return ", ".join([self.status, *parts])

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "name": self.name,
            "status": self.status,
            "best": number(self.best.value if self.best else None),
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        facts = {
            "id": self.id,
            "name": self.name,
            "dataset": self.dataset_id,
            "status": self.news(),
            "created": moment(self.created_at),
        }
        values = [[name, number(one.value if one else None)] for name, one in self._values().items()]
        table = CardTable(["trial", f"#{self.objective['metric']}"], values, "Value on validation data")
        return Card("study", facts, self.sentence or "", [table])

    def _values(self) -> dict[str, answers.TrialValue | None]:
        best = f"best (trial {self.best.number})" if self.best else "best"
        return {"default": self.default, best: self.best}
