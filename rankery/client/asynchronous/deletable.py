"""Resources that go to the trash."""

from abc import abstractmethod

from rankery.client.asynchronous.resource import AsyncResource
from rankery.client.reading import read
from rankery.client.views.lifecycle import DeletionView


class AsyncDeletable(AsyncResource):
    """A resource that can be deleted, and restored from the trash."""

    @property
    @abstractmethod
    def _path(self) -> str: ...

    async def delete(self, *, with_results: bool = False, permanently: bool = False) -> DeletionView:
        """Move it to the trash, from which `client.restore` brings it back.

        Args:
            with_results: Delete what it made as well.
            permanently: Free its bytes at once instead.

        Returns:
            What was deleted.

        Raises:
            RankeryApiError: Something else needs it; the problem lists what.
        """
        parameters = {"with_results": with_results or None, "permanently": permanently or None}
        response = await self._client.transport.request("DELETE", self._path, parameters=parameters)
        return read(DeletionView, response.json())
