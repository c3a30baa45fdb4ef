"""Paginated lists of the service."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rich.console import Console, ConsoleOptions, RenderableType

from rankery.client.asynchronous.transport import AsyncTransport
from rankery.client.listing import Listing, pages_card

if TYPE_CHECKING:
    import pandas

Item = TypeVar("Item")
_PAGE = 100


class AsyncPages(Generic[Item]):
    """A lazy paginated list, in the order of the service.

    Example:
        ```python
        async for job in client.jobs(status="running"):
            print(job.id)
        ```
    """

    def __init__(
        self, transport: AsyncTransport, path: str, read: Callable[[Any], Item], **parameters: Any
    ) -> None:
        self._transport = transport
        self._path = path
        self._read = read
        self._parameters = parameters

    async def __aiter__(self) -> AsyncIterator[Item]:
        cursor: str | None = None
        while True:
            page = await self._page(cursor, _PAGE)
            for document in page["items"]:
                yield self._read(document)
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    async def first(self, count: int = 20) -> Listing[Item]:
        """Return the first items of the list.

        Args:
            count: Largest number of items.
        """
        items: Listing[Item] = Listing()
        if count <= _PAGE:
            page = await self._page(None, count)
            items.extend(map(self._read, page["items"]))
            return items
        async for item in self:
            items.append(item)
            if len(items) == count:
                break
        return items

    async def all(self) -> Listing[Item]:
        """Return all items, from all pages."""
        items: Listing[Item] = Listing()
        async for item in self:
            items.append(item)
        return items

    async def to_pandas(self) -> "pandas.DataFrame":
        """Return the fields of all items as a data frame of pandas.

        Raises:
            PackageMissing: pandas is not installed.
        """
        return (await self.all()).to_pandas()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._path})"

    def _repr_html_(self) -> str:
        return pages_card(self).html()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        return pages_card(self).rendered()

    async def _page(self, cursor: str | None, limit: int) -> Any:
        return await self._transport.get(self._path, **self._parameters, cursor=cursor, limit=limit)
