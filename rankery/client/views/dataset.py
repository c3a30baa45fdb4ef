"""A judged dataset."""

from rankery.client.display.card import Card, CardTable, Shown
from rankery.client.display.texts import count, moment, size
from rankery.client.schemas import answers


class DatasetView(Shown, answers.Dataset):
    """A judged dataset, as last fetched from the service."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        statistics = self.statistics or {}
        return {
            "id": self.id,
            "name": self.name,
            "status": self.status,
            "queries": count(statistics.get("queries")),
            "documents": count(statistics.get("documents")),
            "features": count(statistics.get("features")),
            "created": moment(self.created_at),
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        facts = self.summary() | {"size": size(self.size_bytes)}
        if self.problem is not None:
            facts["why"] = self.problem.detail or self.problem.title
        tables = [*problem_tables(self.problem), *CardTable.of_findings(self.findings)]
        return Card(f"dataset {facts.pop('name')}", facts, tables=tables)


def problem_tables(problem: answers.FailureReason | None) -> list[CardTable]:
    """Return a table of the error locations of a problem; an empty list if it has none."""
    errors = (problem and problem.errors) or ()
    places = [[_place(error), str(error.get("detail", ""))] for error in errors]
    return [CardTable(["place", "mistake"], places)] if places else []


def _place(error: dict[str, object]) -> str:
    named = [f"{name} {error[name]}" for name in ("line", "column") if error.get(name) is not None]
    return ", ".join([str(error[name]) for name in ("file",) if error.get(name)] + named)
