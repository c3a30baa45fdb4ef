"""Evaluations, and the values of their queries."""

from typing import TYPE_CHECKING

from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.resource import AsyncResource
from rankery.client.asynchronous.tabular import AsyncTabular
from rankery.client.reading import read
from rankery.client.schemas.answers import QueryValues
from rankery.client.views.evaluation import EvaluationView

if TYPE_CHECKING:
    import pyarrow as pa


class AsyncEvaluation(EvaluationView, AsyncResource, AsyncTabular):
    """A model or a ranking measured on a dataset."""

    def queries(self) -> AsyncPages[QueryValues]:
        """List each query's values, in the dataset's order; None where a metric is undefined."""
        path = f"/v1/evaluations/{self.id}/queries"
        return AsyncPages(self._client.transport, path, lambda one: read(QueryValues, one))

    async def to_arrow(self) -> "pa.Table":
        """Ask for the values of all queries: `query_id` and a column a metric, null where undefined."""
        from rankery.client.frames.arrow import pa

        rows = await self.queries().all()
        columns = {
            metric: pa.array([row.values.get(metric) for row in rows], pa.float64())
            for metric in self.metrics
        }
        return pa.table({"query_id": pa.array([row.query_id for row in rows], pa.string()), **columns})
