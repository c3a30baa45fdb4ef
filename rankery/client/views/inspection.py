"""Importance of features: by permutation on a dataset, and by the splits of a model."""

from typing import TYPE_CHECKING, Any

from rankery.client.display import plots
from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, interval, moment, number
from rankery.client.frames.outgoing import Tabular
from rankery.client.schemas import answers

if TYPE_CHECKING:
    import pyarrow as pa


class Inspection(Displayable, answers.Inspection, Tabular):
    """Feature importance and partial dependence of a model on a dataset."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {"id": self.id, "model": self.model_id, "dataset": self.dataset_id, "metric": self.metric}

    def card(self) -> Card:
        """Return the card of the resource."""
        facts = {**self.summary(), "created": moment(self.created_at)}
        rows = [[one.feature, number(one.mean), interval(one.lower, one.upper)] for one in self.importance]
        columns = ["feature", f"#decrease of {self.metric}", "#95% interval"]
        return Card("permutation importance", facts, tables=[CardTable(columns, rows)])

    def to_arrow(self) -> "pa.Table":
        """Return a table by feature: `feature`, `mean`, `standard_error`, `lower` and `upper`."""
        from rankery.client.frames.arrow import pa

        return pa.Table.from_pylist([one.model_dump() for one in self.importance])

    def plot(self, top: int = 20) -> Any:
        """Draw the permutation importance of the features: the decrease of the metric when each is shuffled.

        Args:
            top: Number of features.

        Returns:
            A `plotly.graph_objects.Figure`.
        """
        return plots.permutations(self, top)


class Importance(Displayable, answers.ModelImportance, Tabular):
    """Split counts and gains of a model's features."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {"model": self.model_id, "features": count(len(self.features))}

    def card(self) -> Card:
        """Return the card of the resource."""
        rows = [
            [one.feature, f"{one.gain:,.4g}", f"{one.gain_share:.1%}", count(one.split)]
            for one in self.features
        ]
        return Card(
            f"feature importance of {self.model_id}",
            # "#" marks a column of numbers.
            tables=[CardTable(["feature", "#gain", "#share of gain", "#splits"], rows)],
        )

    def to_arrow(self) -> "pa.Table":
        """Return a table with one row per feature: `feature`, `gain`, `gain_share` and `split` (count)."""
        from rankery.client.frames.arrow import pa

        return pa.Table.from_pylist([one.model_dump() for one in self.features])

    def plot(self, top: int = 20) -> Any:
        """Draw the gains of the most important features.

        Args:
            top: Number of features.

        Returns:
            A `plotly.graph_objects.Figure`.
        """
        return plots.importance(self, top)
