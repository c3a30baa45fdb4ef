"""Datasets and click logs, which a job reads or makes."""

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, moment, size
from rankery.client.schemas import answers


class DatasetView(Displayable, answers.Dataset):
    """A judged dataset, as last fetched from the service."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return _summary(self, "queries", "documents", "features")

    def card(self) -> Card:
        """Return the card of the resource."""
        return _card("dataset", self, self.summary())


class ClickLogView(Displayable, answers.ClickLog):
    """A click log, as last fetched from the service."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return _summary(self, "lists", "impressions", "clicks")

    def card(self) -> Card:
        """Return the card of the resource."""
        statistics = self.statistics or {}
        others = {unit: count(statistics.get(unit)) for unit in ("queries", "documents", "users")}
        ranks = [
            [str(one["rank"]), count(one["impressions"]), count(one["clicks"])]
            for one in statistics.get("ranks", ())
        ]
        tables = [CardTable(["#rank", "#impressions", "#clicks"], ranks)] if ranks else []
        return _card("click log", self, self.summary() | others, *tables)


def _summary(data: answers.Dataset | answers.ClickLog, *units: str) -> dict[str, str]:
    statistics = data.statistics or {}
    counts = {unit: count(statistics.get(unit)) for unit in units}
    facts = {"id": data.id, "name": data.name, "status": data.status}
    return {**facts, **counts, "created": moment(data.created_at)}


def _card(
    kind: str, data: answers.Dataset | answers.ClickLog, facts: dict[str, str], *tables: CardTable
) -> Card:
    facts["size"] = size(data.size_bytes)
    if data.problem is not None:
        facts["why"] = data.problem.detail or data.problem.title
    shown = [*_error_tables(data.problem), *CardTable.of_findings(data.findings), *tables]
    return Card(f"{kind} {facts.pop('name')}", facts, tables=shown)


def _error_tables(problem: answers.FailureReason | None) -> list[CardTable]:
    """Return a table of the error locations of a problem; an empty list if it has none."""
    errors = (problem and problem.errors) or ()
    rows = [[_location(error), str(error.get("detail", ""))] for error in errors]
    return [CardTable(["location", "error"], rows)] if rows else []


def _location(error: dict[str, object]) -> str:
    numbers = {str(error.get("unit", "line")): error.get("line"), "column": error.get("column")}
    named = [f"{name} {number}" for name, number in numbers.items() if number is not None]
    return ", ".join([str(error[name]) for name in ("file",) if error.get(name)] + named)
