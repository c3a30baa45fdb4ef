"""Inspections, drift reports and verdicts of interleavings."""

from typing import TYPE_CHECKING, Any

from rankery.client.display import plots
from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, interval, moment, number, p_value
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

        Returns:
            A `plotly.graph_objects.Figure`.
        """
        return plots.importance(self, top)


class DriftReportEntryView(Displayable, answers.DriftReportEntry):
    """A drift report in a list; `client.drift_report` returns the whole report."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return _summary(self)

    def card(self) -> Card:
        """Return the card of the entry."""
        return Card("drift report", self.summary(), self.sentence)


class DriftReportView(Displayable, answers.DriftReport, Tabular):
    """Comparison of the score samples of a model with its training data, and with earlier samples."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return _summary(self)

    def card(self) -> Card:
        """Return the card of the report, with one row for each feature."""
        columns = ["feature", "verdict", "#PSI", "#p", "sentence"]
        tables = []
        for one in self.comparisons:
            compared = [*one.features, *([one.scores] if one.scores else [])]
            rows = [
                [feature.name, feature.verdict, number(feature.psi), p_value(feature.p), feature.sentence]
                for feature in compared
            ]
            tables.append(CardTable(columns, rows, f"against {one.with_}"))
        return Card("drift report", self.summary(), self.sentence, tables)

    def to_arrow(self) -> "pa.Table":
        """Return a table with one row for each comparison and feature."""
        from rankery.client.frames.arrow import pa

        rows = [
            {"with": one.with_, **feature.model_dump(exclude={"profile"})}
            for one in self.comparisons
            for feature in one.features
        ]
        return pa.Table.from_pylist(rows)


def _summary(report: answers.DriftReport | answers.DriftReportEntry) -> dict[str, str]:
    return {
        "id": report.id,
        "model": report.model,
        "verdict": report.verdict,
        "drifted": ", ".join(report.drifted_features),
        "documents": count(report.documents),
        "created": moment(report.created_at),
    }


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
