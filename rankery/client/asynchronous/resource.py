"""Base of the client's resources and calls."""

from abc import abstractmethod
from typing import Any, Self, TypeVar

from pydantic import BaseModel, PrivateAttr

from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.transport import AsyncTransport
from rankery.client.reading import read
from rankery.client.views.lifecycle import DeletionView


class AsyncResource(BaseModel):
    """A resource as last fetched from the service."""

    _transport: AsyncTransport = PrivateAttr()

    @classmethod
    def of(cls, document: Any, transport: AsyncTransport) -> Self:
        """Build the resource from a response.

        Raises:
            AnswerNotUnderstood: The response does not have the expected fields.
        """
        made = read(cls, document)
        made._transport = transport
        return made

    def _take(self, document: Any) -> Self:
        """Update the resource from a response."""
        return self._become(read(type(self), document))

    def _become(self, other: BaseModel) -> Self:
        self.__dict__.update(other.__dict__)
        return self


class AsyncDeletable(AsyncResource):
    """A resource that can be deleted, and restored from the trash."""

    @property
    @abstractmethod
    def _path(self) -> str: ...

    async def delete(self, *, with_results: bool = False, permanently: bool = False) -> DeletionView:
        """Move the object to the trash; `client.restore` restores it.

        Args:
            with_results: Also delete the results of the object.
            permanently: Delete permanently instead of moving to the trash.

        Returns:
            The deleted objects.

        Raises:
            RankeryApiError: Other objects depend on it; the problem lists them.
        """
        parameters = {"with_results": with_results or None, "permanently": permanently or None}
        response = await self._transport.request("DELETE", self._path, parameters=parameters)
        return read(DeletionView, response.json())


Kind = TypeVar("Kind", bound=AsyncResource)


class AsyncCalls:
    """Base of the calls on one resource.

    Args:
        transport: Transport of the requests.
    """

    def __init__(self, transport: AsyncTransport) -> None:
        self.transport = transport

    def _bound(self, kind: type[Kind], document: Any) -> Kind:
        return kind.of(document, self.transport)

    def _pages(self, kind: type[Kind], path: str, /, **parameters: Any) -> AsyncPages[Kind]:
        return AsyncPages(self.transport, path, lambda document: self._bound(kind, document), **parameters)
