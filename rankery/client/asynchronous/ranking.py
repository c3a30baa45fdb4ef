"""Stored rankings, and their queries."""

from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.resource import AsyncResource
from rankery.client.reading import read
from rankery.client.schemas.answers import RankingItem
from rankery.client.views.ranking import RankingView


class AsyncRanking(RankingView, AsyncResource):
    """A stored ranking of a dataset's queries."""

    def queries(self) -> AsyncPages[RankingItem]:
        """List its queries with their documents, best first, in the dataset's order."""
        return AsyncPages(self._client.transport, self._path, lambda one: read(RankingItem, one))

    @property
    def _path(self) -> str:
        return f"/v1/rankings/{self.id}"
