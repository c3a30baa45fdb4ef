"""Calls about evaluations, comparisons and inspections."""

from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.asynchronous.comparison import AsyncComparison
from rankery.client.asynchronous.evaluation import AsyncEvaluation
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.reading import read
from rankery.client.schemas.answers import ComparisonEntry
from rankery.client.views.inspection import Inspection


class AsyncMeasuringCalls(AsyncCalls):
    """Calls about evaluations, comparisons and inspections."""

    async def evaluation(self, evaluation_id: str) -> AsyncEvaluation:
        """Return the mean and 95 % interval of each metric of an evaluation.

        Raises:
            RankeryApiError: There is none of this id.
        """
        return self._bound(AsyncEvaluation, await self.transport.get(f"/v1/evaluations/{evaluation_id}"))

    def comparisons(self) -> AsyncPages[ComparisonEntry]:
        """List comparisons, newest first; `client.comparison` has all of one."""
        return AsyncPages(self.transport, "/v1/comparisons", lambda one: read(ComparisonEntry, one))

    async def comparison(self, comparison_id: str) -> AsyncComparison:
        """Return the conclusion for every pair of systems, and the tests behind it.

        Raises:
            RankeryApiError: There is none of this id.
        """
        return self._bound(AsyncComparison, await self.transport.get(f"/v1/comparisons/{comparison_id}"))

    async def inspection(self, inspection_id: str) -> Inspection:
        """Return feature importance and partial dependence of a model on a dataset.

        Raises:
            RankeryApiError: There is none of this id.
        """
        return read(Inspection, await self.transport.get(f"/v1/inspections/{inspection_id}"))
