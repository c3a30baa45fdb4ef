"""Read the stored queries of a comparison."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pyarrow.parquet as pq

from app.datasets.browsing import NO_TEXTS, DatasetTexts, DocumentTexts
from app.evaluation.comparison_schemas import (
    ComparedQuery,
    ComparedQueryPage,
    Comparison,
    Differences,
    QueryRankings,
    SystemRanking,
)
from app.evaluation.query_selection import (
    QueryMeasure,
    Selection,
    read_segments,
    requested_metric,
    select_rows,
)
from app.evaluation.ranking_schemas import RankedDocument
from app.http.parquet_pages import read_query
from core.errors import InvalidInput, NotFound
from core.store import Store
from core.store.artifacts.keys import comparison_key, comparison_segments_key, ranking_key

MAX_DIFFERENCES = 501


@dataclass(frozen=True)
class SelectedPair:
    """The pair of systems by which queries are sorted and filtered.

    Attributes:
        metric: The metric, None for the first metric of the comparison.
        sort: `a` or `b` to sort by the values of that system; otherwise by the difference B − A.
    """

    a: int = 0
    b: int = 1
    metric: str | None = None
    sort: Literal["difference", "a", "b"] | None = None


class ComparedQueries:
    """The stored values of one comparison.

    Raises:
        NotFound: There is no such comparison.
    """

    def __init__(self, store: Store, comparison_id: str) -> None:
        with store.read() as tx:
            self._comparison = tx.comparisons.get(comparison_id)
            self._spec = tx.jobs.get(self._comparison.job_id).spec
        self._artifacts = store.verified
        self._texts = DatasetTexts(store, self._comparison.dataset_id)
        self._key = comparison_key(comparison_id)

    def comparison(self) -> Comparison:
        """Return the conclusions, with the texts of the queries that change most."""
        comparison = Comparison.model_validate(self._comparison)
        comparison.reference = self._spec.get("reference")
        comparison.correction = self._spec.get("correction") or "holm"
        comparison.pool_folds = bool(self._spec.get("pool_folds"))
        changed = [query for pair in comparison.pairs for query in (*pair.most_improved, *pair.most_harmed)]
        texts = self._texts.of_queries([query.query_id for query in changed])
        for query in changed:
            query.query_text = texts.get(query.query_id)
        return comparison

    def page(
        self, selection: Selection, pair: SelectedPair, cursor: str | None, limit: int
    ) -> ComparedQueryPage:
        """Return a page of the selected queries.

        Raises:
            InvalidInput: There is no such system, metric or segment, or the cursor is of another selection.
        """
        metric = requested_metric(pair.metric, self._comparison.metrics, "/metric")
        self._check_systems(pair.a, pair.b)
        system, minus = {"a": (pair.a, None), "b": (pair.b, None)}.get(pair.sort or "", (pair.b, pair.a))
        names = [system["name"] for system in self._comparison.systems]
        name = f"{metric} {names[system]}" + (f" − {names[minus]}" if minus is not None else "")
        with self._artifacts.open(self._key) as file:
            segments = read_segments(self._artifacts, comparison_segments_key(self._comparison.id))
            selected = select_rows(
                file, segments, selection, QueryMeasure(name, metric, system, minus), cursor, limit
            )
        query_ids = [row.pop("query_id") for row in selected.rows]
        texts = self._texts.of_queries(query_ids)
        items = [
            ComparedQuery(query_id=query_id, query_text=texts.get(query_id), values=row)
            for query_id, row in zip(query_ids, selected.rows, strict=True)
        ]
        return ComparedQueryPage(items=items, next_cursor=selected.next_cursor, summary=selected.summary)

    def differences(self, a: int, b: int, metric: str | None) -> Differences:
        """Return the differences B − A in ascending order, at most 501 of them, evenly picked.

        Raises:
            InvalidInput: There is no such system or metric.
        """
        metric = requested_metric(metric, self._comparison.metrics, "/metric")
        self._check_systems(a, b)
        with self._artifacts.open(self._key) as file:
            difference = QueryMeasure("", metric, b, a).read(pq.read_table(file, columns=[metric]))
        ordered = np.sort(difference[~np.isnan(difference)])
        picked = np.unique(np.linspace(0, max(len(ordered) - 1, 0), MAX_DIFFERENCES).astype(np.int64))
        return Differences(queries=len(ordered), differences=ordered[picked].tolist() if len(ordered) else [])

    def _check_systems(self, a: int, b: int) -> None:
        n_systems = len(self._comparison.systems)
        for name, index in (("a", a), ("b", b)):
            if index >= n_systems:
                raise InvalidInput.at(f"/{name}", f"must be below {n_systems}, the number of systems")

    def rankings(self, query_id: str, top: int) -> QueryRankings:
        """Return the top of every system's ranking of one query.

        Raises:
            NotFound: The comparison has no such query.
        """
        with self._artifacts.open(self._key) as file:
            rows = read_query(file, query_id)
        if not rows:
            raise NotFound("query", query_id)
        values = rows[0]
        texts = self._texts.of_documents([query_id]).get(query_id, {})
        rankings = []
        for index, system in enumerate(self._comparison.systems):
            with self._artifacts.open(ranking_key(system["ranking_id"])) as file:
                documents = read_query(file, query_id)
            rankings.append(
                SystemRanking(
                    name=system["name"],
                    values={metric: values[metric][index] for metric in self._comparison.metrics},
                    documents=len(documents),
                    ranking=ranked_documents(documents[:top], texts),
                )
            )
        query_text = self._texts.of_queries([query_id]).get(query_id)
        return QueryRankings(query_id=query_id, query_text=query_text, systems=rankings)


def ranked_documents(
    rows: Iterable[Mapping[str, Any]], texts: Mapping[str, DocumentTexts]
) -> list[RankedDocument]:
    """Return the documents of a query's ranking with their texts; `texts` has document ids as keys."""
    return [
        RankedDocument.model_validate({**row, **asdict(texts.get(row["document_id"], NO_TEXTS))})
        for row in rows
    ]
