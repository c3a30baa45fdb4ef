"""What the service keeps, with the client that asks for more of it."""

from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, PrivateAttr

from rankery.client.reading import read

if TYPE_CHECKING:
    from rankery.client.asynchronous.client import AsyncClient


class AsyncResource(BaseModel):
    """Something that the service keeps, as it last told of it."""

    _client: "AsyncClient" = PrivateAttr()

    @classmethod
    def of(cls, document: Any, client: "AsyncClient") -> Self:
        """Read an answer of a client's service.

        Raises:
            AnswerNotUnderstood: It is something else.
        """
        made = read(cls, document)
        made._client = client
        return made

    def _take(self, document: Any) -> Self:
        """Become what the service tells now."""
        return self._become(read(type(self), document))

    def _become(self, other: BaseModel) -> Self:
        self.__dict__.update(other.__dict__)
        return self
