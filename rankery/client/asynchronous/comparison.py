"""Comparisons, and the queries behind them."""

from typing import TYPE_CHECKING, Any, Literal

from rankery.client.asynchronous.deletable import AsyncDeletable
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.tabular import AsyncTabular
from rankery.client.display import plots
from rankery.client.reading import read
from rankery.client.schemas.answers import ComparedQuery, Differences, QueryRankings
from rankery.client.views.comparison import ComparisonView

if TYPE_CHECKING:
    import pyarrow as pa


class AsyncComparison(ComparisonView, AsyncDeletable, AsyncTabular):
    """Systems compared on the queries of one dataset."""

    def queries(
        self,
        sort: Literal["difference", "a", "b"] | None = None,
        *,
        order: Literal["asc", "desc"] | None = None,
        least: float | None = None,
        most: float | None = None,
        segment: str | None = None,
        a: int = 0,
        b: int = 1,
        metric: str | None = None,
    ) -> AsyncPages[ComparedQuery]:
        """List each query's values, one a system; None where undefined.

        Args:
            sort: Sort by the difference B − A or by the values of a system; else in the dataset's order.
            order: Ascending when left out.
            least: Only queries whose value is at least this, of `sort` or else the difference.
            most: Only queries whose value is at most this.
            segment: Only the queries of a segment, such as `market: de`.
            a: Place of system A in `systems`, from 0.
            b: Place of system B.
            metric: The metric; the first one when left out.
        """
        path = f"{self._path}/queries"
        selection = {"sort": sort, "order": order, "min": least, "max": most, "segment": segment}
        pair = {"a": a, "b": b, "metric": metric}
        return AsyncPages(
            self._client.transport, path, lambda one: read(ComparedQuery, one), **selection, **pair
        )

    async def differences(self, a: int = 0, b: int = 1, metric: str | None = None) -> Differences:
        """Return the differences B − A of all queries, in ascending order, to be drawn.

        Args:
            a: Place of system A in `systems`, from 0.
            b: Place of system B.
            metric: The metric; the first one when left out.

        Raises:
            RankeryApiError: There is no such system or metric.
        """
        path = f"{self._path}/differences"
        return read(Differences, await self._client.transport.get(path, a=a, b=b, metric=metric))

    async def rankings(self, query_id: str, top: int | None = None) -> QueryRankings:
        """Return one query as every system ranks it.

        Args:
            query_id: The query.
            top: Documents of each ranking.

        Raises:
            RankeryApiError: There is no such query.
        """
        path = f"{self._path}/rankings"
        return read(QueryRankings, await self._client.transport.get(path, query_id=query_id, top=top))

    async def plot(self, a: int = 0, b: int = 1, metric: str | None = None) -> Any:
        """Draw the differences B − A of all queries, in ascending order.

        Args:
            a: Place of system A in `systems`, from 0.
            b: Place of system B.
            metric: The metric; the first one when left out.

        Returns:
            A `plotly.graph_objects.Figure`.

        Raises:
            RankeryApiError: There is no such system or metric.
        """
        found = await self.differences(a, b, metric)
        return plots.differences(found, self.systems[a].name, self.systems[b].name, metric or self.metrics[0])

    async def to_arrow(self) -> "pa.Table":
        """Ask for the values of all queries: `query_id` and columns such as `ndcg@10 web:3`."""
        from rankery.client.frames.arrow import pa

        rows = await self.queries().all()
        columns = {
            f"{metric} {system.name}": pa.array([row.values[metric][place] for row in rows], pa.float64())
            for metric in self.metrics
            for place, system in enumerate(self.systems)
        }
        return pa.table({"query_id": pa.array([row.query_id for row in rows], pa.string()), **columns})

    @property
    def _path(self) -> str:
        return f"/v1/comparisons/{self.id}"
