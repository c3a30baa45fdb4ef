"""Events of a service."""

from rankery.client.display.card import Card, Displayable
from rankery.client.display.texts import moment
from rankery.client.schemas import answers


class EventView(Displayable, answers.Event):
    """An event of the service."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": str(self.id),
            "kind": self.kind,
            "object": self.object.id,
            "project": self.project or "",
            "at": moment(self.at),
        }

    def card(self) -> Card:
        """Return the card of the event."""
        plain = {
            name: str(value) for name, value in self.data.items() if isinstance(value, str | int | float)
        }
        return Card(f"event {self.kind}", self.summary() | plain)
