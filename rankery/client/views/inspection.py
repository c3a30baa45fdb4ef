"""Feature importance and partial dependence of a model on a dataset."""

from typing import TYPE_CHECKING, Any

from rankery.client.display import plots
from rankery.client.display.card import Card, CardTable, Shown
from rankery.client.display.texts import interval, moment, number
from rankery.client.frames.outgoing import Tabular
from rankery.client.schemas import answers

if TYPE_CHECKING:
    import pyarrow as pa


class Inspection(Shown, answers.Inspection, Tabular):
    """Feature importance and partial dependence of a model on a dataset."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {"id": self.id, "model": self.model_id, "dataset": self.dataset_id, "metric": self.metric}

    def card(self) -> Card:
        """Return the card of the resource."""
        facts = {**self.summary(), "created": moment(self.created_at)}
        rows = [[one.feature, number(one.mean), interval(one.lower, one.upper)] for one in self.importance]
        columns = ["feature", f"#{self.metric} lost", "#95% interval"]
        return Card("permutation importance", facts, tables=[CardTable(columns, rows)])

    def to_arrow(self) -> "pa.Table":
        """Return a table by feature: `feature`, `mean`, `standard_error`, `lower` and `upper`."""
        from rankery.client.frames.arrow import pa

        return pa.Table.from_pylist([one.model_dump() for one in self.importance])

    def plot(self, top: int = 20) -> Any:
        """Draw the permutation importance of the features: the loss of the metric when each is shuffled.

        Args:
            top: Number of features.

        Returns:
            A `plotly.graph_objects.Figure`.
        """
        return plots.permutations(self, top)
