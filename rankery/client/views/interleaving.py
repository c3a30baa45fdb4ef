"""Interleavings and their verdicts."""

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, moment, number, p_value
from rankery.client.schemas import answers


class InterleavingView(Displayable, answers.Interleaving):
    """An interleaving of two or more rankers."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "name": self.name,
            "rankers": ", ".join(self.rankers),
            "method": self.method,
            "created": moment(self.created_at),
        }

    def card(self) -> Card:
        """Return the card of the interleaving."""
        return Card("interleaving", self.summary() | {"sample size": count(self.sample_size)})


class InterleavingVerdictView(Displayable, answers.InterleavingVerdict):
    """The verdict of an interleaving."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "winner": self.winner or "",
            "lists": count(self.lists),
            "clicked lists": count(self.clicked_lists),
        }

    def card(self) -> Card:
        """Return the card of the verdict, with one row for each pair of rankers."""
        columns = ["first", "second", "#wins", "#losses", "#ties", "#Δ", "#p", "conclusion"]
        rows = [
            [
                *(pair.first, pair.second, count(pair.wins), count(pair.losses), count(pair.ties)),
                *(number(pair.delta), p_value(pair.sequential_p), pair.conclusion),
            ]
            for pair in self.pairs
        ]
        return Card("verdict", self.summary(), self.sentence, [CardTable(columns, rows)])
