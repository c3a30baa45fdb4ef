"""Read the stored queries of a comparison."""

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from app.evaluation.comparison_schemas import (
    ComparedQuery,
    ComparedQueryPage,
    Differences,
    QueryRankings,
    SystemRanking,
)
from app.evaluation.ranking_schemas import RankedDocument
from app.http.parquet_pages import read_query, read_rows
from core.errors import InvalidInput, NotFound
from core.store import Store
from core.store.artifacts.keys import comparison_key, ranking_key

MOST_DIFFERENCES = 501


class ComparedQueries:
    """The stored values of one comparison.

    Raises:
        NotFound: There is no such comparison.
    """

    def __init__(self, store: Store, comparison_id: str) -> None:
        with store.read() as tx:
            self._comparison = tx.comparisons.get(comparison_id)
        self._artifacts = store.verified
        self._key = comparison_key(comparison_id)

    def page(self, cursor: str | None, limit: int) -> ComparedQueryPage:
        """List queries in the dataset's order.

        Raises:
            InvalidInput: The cursor is not one that a page carried.
        """
        with self._artifacts.open(self._key) as file:
            rows, next_cursor = read_rows(file, cursor, limit)
        items = [ComparedQuery(query_id=row.pop("query_id"), values=row) for row in rows]
        return ComparedQueryPage(items=items, next_cursor=next_cursor)

    def differences(self, a: int, b: int, metric: str | None) -> Differences:
        """Return B − A in ascending order.

        Raises:
            InvalidInput: There is no such system or metric.
        """
        metrics, n_systems = self._comparison.metrics, len(self._comparison.systems)
        metric = metric or metrics[0]
        if metric not in metrics:
            raise InvalidInput.at("/metric", f"is none of the comparison's: {', '.join(metrics)}")
        for name, place in (("a", a), ("b", b)):
            if place >= n_systems:
                raise InvalidInput.at(f"/{name}", f"must be below {n_systems}, the number of systems")
        with self._artifacts.open(self._key) as file:
            column = pq.read_table(file, columns=[metric]).column(metric)
        flat = pc.list_flatten(column).to_numpy()
        values = flat.reshape(-1, n_systems)
        difference = values[:, b] - values[:, a]
        ordered = np.sort(difference[~np.isnan(difference)])
        picked = np.unique(np.linspace(0, max(len(ordered) - 1, 0), MOST_DIFFERENCES).astype(np.int64))
        return Differences(queries=len(ordered), differences=ordered[picked].tolist() if len(ordered) else [])

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
        found = []
        for place, system in enumerate(self._comparison.systems):
            with self._artifacts.open(ranking_key(system["ranking_id"])) as file:
                documents = read_query(file, query_id)
            found.append(
                SystemRanking(
                    name=system["name"],
                    values={metric: values[metric][place] for metric in self._comparison.metrics},
                    documents=len(documents),
                    ranking=[RankedDocument.model_validate(row) for row in documents[:top]],
                )
            )
        return QueryRankings(query_id=query_id, systems=found)
