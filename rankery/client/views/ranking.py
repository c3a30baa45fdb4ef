"""Stored rankings, and rankings of candidates."""

from datetime import datetime
from typing import TYPE_CHECKING

from rankery.client.display.card import Card, CardTable, Shown
from rankery.client.display.texts import count, moment, number
from rankery.client.frames.outgoing import Tabular
from rankery.client.schemas import answers
from rankery.client.schemas.base import Answer

if TYPE_CHECKING:
    import pyarrow as pa


class RankingView(Shown, Answer):
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


class RankedQueries(Shown, answers.RankResponse, Tabular):
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


_SHOWN_QUERIES = 3
