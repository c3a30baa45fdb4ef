"""Projects, which label jobs, models and data."""

from rankery.client.display.card import Card, Displayable
from rankery.client.display.texts import count
from rankery.client.schemas import answers


class ProjectView(Displayable, answers.Project):
    """A project with its number of objects."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        counts = self.model_dump(exclude={"name"})
        return {"name": self.name} | {kind: count(number) for kind, number in counts.items() if number}

    def card(self) -> Card:
        """Return the card of the project."""
        return Card("project", self.summary())
