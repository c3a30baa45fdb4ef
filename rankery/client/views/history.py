"""Learning curves."""

from statistics import median
from typing import TYPE_CHECKING, Any

from rankery.client.display import plots
from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, milliseconds, number
from rankery.client.frames.outgoing import Tabular
from rankery.client.schemas import answers

if TYPE_CHECKING:
    import pyarrow as pa


class History(Displayable, answers.JobHistory, Tabular):
    """Learning curves: one value per measured iteration for each metric and dataset."""

    @property
    def median_milliseconds(self) -> dict[str, float]:
        """Median time of an iteration by part, the longest first; empty if no times were recorded."""
        recorded = {
            part: [time for time in times if time is not None]
            for part, times in (self.milliseconds or {}).items()
        }
        medians = {part: median(times) for part, times in recorded.items() if times}
        return dict(sorted(medians.items(), key=lambda part: -part[1]))

    @property
    def times(self) -> str:
        """Median time of an iteration by part, as text; empty if no times were recorded.

        Example: "tree 92 ms, objective 8.1 ms (medians)".
        """
        medians = self.median_milliseconds
        return f"{milliseconds(medians)} (medians)" if medians else ""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "job": self.job_id,
            "iterations": count(len(self.iterations)),
            "best": count(self.best_iteration),
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        rows = [
            [data, metric, number(values[0]), number(values[-1])]
            for data, metrics in self.curves.items()
            for metric, values in metrics.items()
            if values
        ]
        facts = {
            "iterations": count(len(self.iterations)),
            "best iteration": count(self.best_iteration),
            "an iteration takes": self.times,
        }
        columns = ["data", "metric", "#first", "#last"]
        return Card(f"learning curves of {self.job_id}", facts, tables=[CardTable(columns, rows)])

    def to_arrow(self) -> "pa.Table":
        """Return a table by iteration, with columns such as `train ndcg@10` and `tree milliseconds`."""
        from rankery.client.frames.arrow import pa

        curves = {
            f"{data} {metric}": pa.array(values, pa.float64())
            for data, metrics in self.curves.items()
            for metric, values in metrics.items()
        }
        times = {
            f"{part} milliseconds": pa.array(values, pa.float64())
            for part, values in (self.milliseconds or {}).items()
        }
        return pa.table({"iteration": pa.array(self.iterations, pa.int64()), **curves, **times})

    def plot(self, metric: str | None = None) -> Any:
        """Draw the curves of a metric on all data, with the best iteration marked.

        Args:
            metric: Name of the metric; when left out, the first one of the validation data or, without any,
                of the first data; `loss` only if there is no other.

        Returns:
            A `plotly.graph_objects.Figure`.

        Raises:
            DataUnusable: The metric was not measured.
        """
        return plots.history(self, metric)
