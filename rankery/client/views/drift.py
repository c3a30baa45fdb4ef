"""Drift reports."""

from typing import TYPE_CHECKING

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, moment, number, p_value
from rankery.client.frames.outgoing import Tabular
from rankery.client.schemas import answers

if TYPE_CHECKING:
    import pyarrow as pa


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
