"""Resources of the service, bound to their client."""

from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, PrivateAttr

from rankery.client.reading import read

if TYPE_CHECKING:
    from rankery.client.asynchronous.client import AsyncClient


class AsyncResource(BaseModel):
    """A resource as last fetched from the service."""

    _client: "AsyncClient" = PrivateAttr()

    @classmethod
    def of(cls, document: Any, client: "AsyncClient") -> Self:
        """Build the resource from a response.

        Raises:
            AnswerNotUnderstood: It is something else.
        """
        made = read(cls, document)
        made._client = client
        return made

    def _take(self, document: Any) -> Self:
        """Update the resource from a response."""
        return self._become(read(type(self), document))

    def _become(self, other: BaseModel) -> Self:
        self.__dict__.update(other.__dict__)
        return self
