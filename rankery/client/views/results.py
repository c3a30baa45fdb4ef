"""Results of jobs: evaluations, comparisons, rankings and their queries."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rankery.client.display import plots
from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, interval, moment, number, p_value
from rankery.client.frames.outgoing import Tabular
from rankery.client.schemas import answers
from rankery.client.schemas.base import Answer

if TYPE_CHECKING:
    import pyarrow as pa


_SHOWN_FEATURES = 8


class Query(Displayable, answers.JudgedQuery, Tabular):
    """A query of a dataset with some of its documents."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {"query": self.query_id, "documents": count(self.total)}

    def card(self) -> Card:
        """Return the card of the resource."""
        features = self.feature_names[:_SHOWN_FEATURES]
        more = len(self.feature_names) - len(features)
        cells = [[_cell(value) for value in self.feature_values(index)] for index in range(len(features))]
        labels = ["" if one.label is None else f"{one.label:g}" for one in self.documents]
        ids = [one.document_id for one in self.documents]
        title = f"and {more} more features" if more > 0 else ""
        names = [name if name in (self.categories or {}) else f"#{name}" for name in features]
        table = CardTable(["document", "#label", *names], list(zip(ids, labels, *cells, strict=True)), title)
        return Card(
            f"query {self.query_id}", {"documents": count(self.total), **self.columns}, tables=[table]
        )

    def feature_values(self, index: int) -> list[float | str | None]:
        """Return the values of a feature by document: categories as texts, None where a value is missing.

        Args:
            index: Position of the feature in `feature_names`.
        """
        texts = (self.categories or {}).get(self.feature_names[index])
        values = [None if (value := one.features[index]) is None else float(value) for one in self.documents]
        if texts is None:
            return list(values)
        return [None if code is None else texts[str(int(code))] for code in values]

    def to_arrow(self) -> "pa.Table":
        """Return a table with one row per document: `document_id`, `label`, `weight` if any, features.

        Categories are texts, as scoring expects them.
        """
        from rankery.client.frames.arrow import pa

        documents = self.documents
        columns = {
            "document_id": pa.array([one.document_id for one in documents], pa.string()),
            "label": pa.array([one.label for one in documents], pa.float64()),
        }
        if any(one.weight is not None for one in documents):
            columns["weight"] = pa.array([one.weight for one in documents], pa.float64())
        for index, name in enumerate(self.feature_names):
            kind = pa.string() if name in (self.categories or {}) else pa.float64()
            columns[name] = pa.array(self.feature_values(index), kind)
        return pa.table(columns)


def _cell(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:g}"


_SHOWN_QUERIES = 3


class EvaluationView(Displayable, answers.Evaluation):
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
        tables = [CardTable.of_metrics(self.metrics), *CardTable.of_findings(self.findings)]
        return Card(f"evaluation of {self.system}", facts, tables=tables)

    def plot(self) -> Any:
        """Draw the means with their 95 % intervals, by the cutoff k if a metric has several.

        Returns:
            A `plotly.graph_objects.Figure`.
        """
        return plots.evaluation(self)


class ComparisonView(Displayable, answers.Comparison):
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
        names: Names of the systems, by index.
        correction: Correction of the p-values, `holm` or `none`.
    """
    a, b = names[pair.a], names[pair.b]
    p = "#p (Holm)" if correction == "holm" else "#p"
    columns = ["metric", f"#{a}", f"#{b}", "#change", "#95% interval", p, "#larger / same / smaller"]
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


class RankingView(Displayable, Answer):
    """A stored ranking."""

    id: str
    system: str
    """Model or run"""

    model_id: str | None = None
    """None for an uploaded run"""

    dataset_id: str
    job_id: str | None = None
    """The job that made the ranking; None except in lists"""

    created_at: datetime | None = None
    """Time of creation; None except in lists"""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "system": self.system,
            "dataset": self.dataset_id,
            "created": moment(self.created_at),
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        return Card(f"ranking by {self.system}", self.summary())


class RankedQueries(Displayable, answers.RankResponse, Tabular):
    """Candidate documents ranked by a model."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {"model": f"{self.model.name}:{self.model.version}", "queries": count(len(self.queries))}

    def card(self) -> Card:
        """Return the card of the resource."""
        tables = [
            CardTable(
                ["#rank", "document", "#score"],
                [[count(one.rank), one.id, number(one.score)] for one in query.ranking],
                f"query {query.id}",
            )
            for query in self.queries[:_SHOWN_QUERIES]
        ]
        more = len(self.queries) - len(tables)
        sentence = f"The first {len(tables)} of {len(self.queries):,} queries." if more else ""
        return Card(f"ranked by {self.summary()['model']}", sentence=sentence, tables=tables)

    def to_arrow(self) -> "pa.Table":
        """Return a table by document: `query_id`, `document_id`, `rank` and `score`, best first."""
        from rankery.client.frames.arrow import pa

        rows = [(query.id, document) for query in self.queries for document in query.ranking]
        return pa.table(
            {
                "query_id": pa.array([query_id for query_id, _ in rows], pa.string()),
                "document_id": pa.array([document.id for _, document in rows], pa.string()),
                "rank": pa.array([document.rank for _, document in rows], pa.int32()),
                "score": pa.array([document.score for _, document in rows], pa.float64()),
            }
        )
