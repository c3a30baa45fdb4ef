"""Evaluations, and the values of their queries."""

from typing import TYPE_CHECKING, Literal

from rankery.client.asynchronous.deletable import AsyncDeletable
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.tabular import AsyncTabular
from rankery.client.reading import read
from rankery.client.schemas.answers import QueryValues
from rankery.client.views.evaluation import EvaluationView

if TYPE_CHECKING:
    import pyarrow as pa


class AsyncEvaluation(EvaluationView, AsyncDeletable, AsyncTabular):
    """A model or a ranking measured on a dataset."""

    def queries(
        self,
        sort: str | None = None,
        *,
        order: Literal["asc", "desc"] | None = None,
        least: float | None = None,
        most: float | None = None,
        segment: str | None = None,
    ) -> AsyncPages[QueryValues]:
        """List each query's values; None where a metric is undefined.

        Args:
            sort: Sort by this metric; in the dataset's order when left out.
            order: Ascending when left out.
            least: Only queries whose value is at least this, of `sort` or else the first metric.
            most: Only queries whose value is at most this.
            segment: Only the queries of a segment, such as `market: de`.
        """
        path = f"{self._path}/queries"
        selection = {"sort": sort, "order": order, "min": least, "max": most, "segment": segment}
        return AsyncPages(self._client.transport, path, lambda one: read(QueryValues, one), **selection)

    async def to_arrow(self) -> "pa.Table":
        """Ask for the values of all queries: `query_id` and a column a metric, null where undefined."""
        from rankery.client.frames.arrow import pa

        rows = await self.queries().all()
        columns = {
            metric: pa.array([row.values.get(metric) for row in rows], pa.float64())
            for metric in self.metrics
        }
        return pa.table({"query_id": pa.array([row.query_id for row in rows], pa.string()), **columns})

    @property
    def _path(self) -> str:
        return f"/v1/evaluations/{self.id}"
