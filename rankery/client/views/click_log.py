"""A click log."""

from rankery.client.display.card import Card, CardTable, Shown
from rankery.client.display.texts import count, moment, size
from rankery.client.schemas import answers
from rankery.client.views.dataset import problem_tables


class ClickLogView(Shown, answers.ClickLog):
    """A click log, as last fetched from the service."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        statistics = self.statistics or {}
        return {
            "id": self.id,
            "name": self.name,
            "status": self.status,
            "lists": count(statistics.get("lists")),
            "impressions": count(statistics.get("impressions")),
            "clicks": count(statistics.get("clicks")),
            "created": moment(self.created_at),
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        statistics = self.statistics or {}
        others = {unit: count(statistics.get(unit)) for unit in ("queries", "documents", "users")}
        facts = self.summary() | others | {"size": size(self.size_bytes)}
        if self.problem is not None:
            facts["why"] = self.problem.detail or self.problem.title
        ranks = [
            [str(one["rank"]), count(one["impressions"]), count(one["clicks"])]
            for one in statistics.get("ranks", ())
        ]
        tables = [*problem_tables(self.problem), *CardTable.of_findings(self.findings)]
        if ranks:
            tables.append(CardTable(["#rank", "#impressions", "#clicks"], ranks))
        return Card(f"click log {facts.pop('name')}", facts, tables=tables)
