"""Base of the client's calls."""

from typing import TYPE_CHECKING, Any, TypeVar, cast

from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.resource import AsyncResource
from rankery.client.asynchronous.transport import AsyncTransport

if TYPE_CHECKING:
    from rankery.client.asynchronous.client import AsyncClient

Kind = TypeVar("Kind", bound=AsyncResource)


class AsyncCalls:
    """Base of the calls on one resource."""

    transport: AsyncTransport

    def _bound(self, kind: type[Kind], document: Any) -> Kind:
        return kind.of(document, cast("AsyncClient", self))

    def _pages(self, kind: type[Kind], path: str, /, **parameters: Any) -> AsyncPages[Kind]:
        return AsyncPages(self.transport, path, lambda document: self._bound(kind, document), **parameters)
