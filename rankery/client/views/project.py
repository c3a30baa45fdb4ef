"""Projects, the labels by which jobs, models and data are told apart."""

from rankery.client.display.card import Card, Shown
from rankery.client.display.texts import count
from rankery.client.schemas import answers


class ProjectView(Shown, answers.Project):
    """A project and how much it has."""

    def summary(self) -> dict[str, str]:
        """Return its row in a list, by column."""
        counts = self.model_dump(exclude={"name"})
        return {"name": self.name} | {kind: count(number) for kind, number in counts.items() if number}

    def card(self) -> Card:
        """Return the card of the project."""
        return Card("project", self.summary())
