"""Systems compared on the queries of one dataset."""

from collections.abc import Sequence

from rankery.client.display.card import Card, CardTable, Shown
from rankery.client.display.texts import count, interval, moment, number, p_value
from rankery.client.schemas import answers


class ComparisonView(Shown, answers.Comparison):
    """Systems compared on the queries of one dataset."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "systems": ", ".join(system.name for system in self.systems),
            "sentence": self.sentence,
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        facts = {
            "id": self.id,
            "dataset": self.dataset_id,
            "conventions": self.contract.preset or "",
            "created": moment(self.created_at),
        }
        names = [system.name for system in self.systems]
        return Card(
            "comparison",
            facts,
            self.sentence,
            [pair_table(pair, names, self.correction) for pair in self.pairs],
        )


def pair_table(pair: answers.Pair, names: Sequence[str], correction: str = "holm") -> CardTable:
    """Return a table of the tests of a pair, with one row for each metric.

    Args:
        pair: The pair.
        names: Names of the systems, by index.
        correction: Correction of the p-values, `holm` or `none`.
    """
    a, b = names[pair.a], names[pair.b]
    p = "#p (Holm)" if correction == "holm" else "#p"
    columns = ["metric", f"#{a}", f"#{b}", "#change", "#95% interval", p, "#better / same / worse"]
    rows = [
        [
            metric,
            number(tests.mean_a),
            number(tests.mean_b),
            f"{tests.difference:+.4f}",
            interval(tests.lower, tests.upper),
            p_value(tests.adjusted_p),
            " / ".join(map(count, (tests.wins, tests.ties, tests.losses))),
        ]
        for metric, tests in pair.metrics.items()
        if tests is not None
    ]
    return CardTable(columns, rows, f"{b} against {a}")
