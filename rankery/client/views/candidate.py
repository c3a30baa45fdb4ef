"""Candidates of automatic trainings."""

from rankery.client.display.card import Card, Displayable
from rankery.client.display.texts import interval, number, seconds
from rankery.client.schemas import answers

_MEASURED = ("complete", "stopped", "out-of-time")


class CandidateView(Displayable, answers.AutoTrainCandidate):
    """A candidate of an automatic training."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        lower, upper = self.interval or (None, None)
        return {
            "candidate": self.name,
            "#value": number(self.value),
            "interval": interval(lower, upper),
            "#folds": f"{self.folds} of {self.planned_folds}" if self.planned_folds else "",
            "#time": seconds(self.seconds) if self.seconds else "",
            "#weight": f"{self.weight:.2f}" if self.weight else "",
            "status": self.words,
        }

    def card(self) -> Card:
        """Return the card of the candidate."""
        facts = {name.removeprefix("#"): value for name, value in self.summary().items()}
        return Card("candidate", facts)

    @property
    def words(self) -> str:
        """Status with the reason; for a complete candidate, whether the best is significantly better."""
        if self.reason:
            return f"{self.status}: {self.reason}"
        return f"{self.status}, tied with the best" if self.tied_with_best else self.status


def ranked(candidates: answers.AutoTrainCandidates) -> list[CandidateView]:
    """Return complete candidates with the best first, then those that ended early, then the others."""
    sign = -1.0 if candidates.higher_is_better else 1.0

    def sort_key(row: CandidateView) -> tuple[int, float]:
        group = _MEASURED.index(row.status) if row.status in _MEASURED else len(_MEASURED)
        return group, 0.0 if row.value is None else sign * row.value

    rows = [CandidateView.model_validate(row.model_dump()) for row in candidates.items]
    return sorted(rows, key=sort_key)
