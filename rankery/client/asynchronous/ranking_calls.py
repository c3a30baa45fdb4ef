"""Calls about stored rankings."""

from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.ranking import AsyncRanking
from rankery.client.references import HasId, id_of


class AsyncRankingCalls(AsyncCalls):
    """Calls about stored rankings."""

    def rankings(
        self, *, dataset: str | HasId | None = None, uploaded: bool | None = None
    ) -> AsyncPages[AsyncRanking]:
        """List stored rankings, newest first.

        Args:
            dataset: Only those of its queries.
            uploaded: Only those of other systems, or only those of models.
        """
        dataset_id = None if dataset is None else id_of(dataset)
        return self._pages(AsyncRanking, "/v1/rankings", dataset_id=dataset_id, uploaded=uploaded)

    async def ranking(self, ranking_id: str) -> AsyncRanking:
        """Return a stored ranking; `queries` lists its documents.

        Raises:
            RankeryApiError: There is none of this id.
        """
        return self._bound(AsyncRanking, await self.transport.get(f"/v1/rankings/{ranking_id}", limit=1))
