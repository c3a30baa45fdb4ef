"""Evaluations, and the values of their queries."""

from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.resource import AsyncResource
from rankery.client.reading import read
from rankery.client.schemas.answers import QueryValues
from rankery.client.views.evaluation import EvaluationView


class AsyncEvaluation(EvaluationView, AsyncResource):
    """A model or a ranking measured on a dataset."""

    def queries(self) -> AsyncPages[QueryValues]:
        """List each query's values, in the dataset's order; None where a metric is undefined."""
        path = f"/v1/evaluations/{self.id}/queries"
        return AsyncPages(self._client.transport, path, lambda one: read(QueryValues, one))
