"""A model or a ranking measured on a dataset."""

from typing import Any

from rankery.client.display import plots
from rankery.client.display.card import Card, CardTable, Shown
from rankery.client.display.texts import count, interval, moment, number
from rankery.client.schemas import answers


class EvaluationView(Shown, answers.Evaluation):
    """A model or a ranking measured on a dataset."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        means = {metric: number(summary.mean) for metric, summary in self.metrics.items()}
        return {"id": self.id, "system": self.system, "dataset": self.dataset_id, **means}

    def card(self) -> Card:
        """Return the card of the resource."""
        facts = {
            "id": self.id,
            "dataset": self.dataset_id,
            "conventions": (self.contract and self.contract.preset) or "",
            "created": moment(self.created_at),
        }
        rows = [
            [metric, number(one.mean), interval(one.lower, one.upper), count(one.queries), count(one.skipped)]
            for metric, one in self.metrics.items()
        ]
        columns = ["metric", "#mean", "#95% interval", "#queries", "#undefined"]
        tables = [CardTable(columns, rows), *CardTable.of_findings(self.findings)]
        return Card(f"evaluation of {self.system}", facts, tables=tables)

    def plot(self) -> Any:
        """Draw the means with their 95 % intervals, by the cutoff k if a metric has several.

        Returns:
            A `plotly.graph_objects.Figure`.
        """
        return plots.evaluation(self)
