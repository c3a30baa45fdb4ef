"""Base of the client's resources, calls and paginated lists."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

import httpx
from pydantic import BaseModel, PrivateAttr
from rich.console import Console, ConsoleOptions, RenderableType

from rankery.client.asynchronous.transport import AsyncTransport
from rankery.client.listing import Listing, pages_card
from rankery.client.reading import read
from rankery.client.views.lifecycle import DeletionView

if TYPE_CHECKING:
    import pandas


Item = TypeVar("Item")
_PAGE = 100
_INTERVAL_GROWTH = 1.1


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


class AsyncResource(BaseModel):
    """A resource as last fetched from the service."""

    _transport: AsyncTransport = PrivateAttr()

    @classmethod
    def of(cls, document: Any, transport: AsyncTransport) -> Self:
        """Build the resource from a response.

        Raises:
            AnswerNotUnderstood: The response does not have the expected fields.
        """
        resource = read(cls, document)
        resource._transport = transport
        return resource

    def _update_from(self, document: Any) -> Self:
        """Update the resource from a response."""
        self.__dict__.update(read(type(self), document).__dict__)
        return self

    @property
    @abstractmethod
    def _path(self) -> str: ...

    async def _change(self, changes: Mapping[str, Any]) -> Self:
        """Change fields of the resource."""
        return self._update_from((await self._transport.request("PATCH", self._path, json=changes)).json())

    async def _post(self, action: str) -> Self:
        """Request an action that changes the resource, once."""
        response = await self._transport.request("POST", f"{self._path}/{action}", repeatable=False)
        return self._update_from(response.json())

    async def _delete(self, **parameters: bool) -> httpx.Response:
        """Delete the resource; a parameter is sent only if it is true."""
        chosen = {name: value or None for name, value in parameters.items()}
        return await self._transport.request("DELETE", self._path, parameters=chosen)

    async def _deletion(self, **parameters: bool) -> DeletionView:
        """Delete the resource, and return the deleted objects."""
        response = await self._delete(**parameters)
        if response.is_success:
            return read(DeletionView, response.json())
        return DeletionView.missing_only(self._path.rpartition("/")[2])


class AsyncRefreshable(AsyncResource):
    """A resource whose state changes."""

    async def refresh(self) -> Self:
        """Fetch the current state."""
        return self._update_from(await self._transport.get(self._path))


class AsyncDeletable(AsyncResource):
    """A resource that can be deleted, and restored from the trash."""

    async def delete(self, *, with_results: bool = False, permanently: bool = False) -> DeletionView:
        """Move the object to the trash; `client.restore` restores it.

        Args:
            with_results: Also delete the results of the object.
            permanently: Delete permanently instead of moving to the trash.

        Raises:
            RankeryApiError: Other objects depend on it; the problem lists them.
        """
        return await self._deletion(with_results=with_results, permanently=permanently)


class _Work(Protocol):
    """A job, a study or an experiment."""

    @property
    def id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def has_ended(self) -> bool: ...


class AsyncWork(AsyncRefreshable):
    """A job, a study or an experiment: it runs until it succeeds, fails or is cancelled."""

    _noun: ClassVar[str]
    _interval_seconds: ClassVar[float]
    _longest_interval_seconds: ClassVar[float] = 0.0

    async def wait(
        self,
        on_progress: Callable[[Self], object] | None = None,
        *,
        timeout_seconds: float | None = None,
        interval_seconds: float | None = None,
        progress: bool | None = None,
    ) -> Self:
        """Wait until the work has succeeded, with a progress bar; return this object.

        A keyboard interrupt ends the wait; the work continues.

        Args:
            on_progress: Called with this object after each poll.
            timeout_seconds: Timeout in seconds; None waits forever.
            interval_seconds: First interval between polls: 0.2 s for a job, growing to 2 s; 0.5 s for an
                experiment, growing to 5 s; 1 s for a study.
            progress: Whether to draw the bar; by default, in notebooks and if standard error is a terminal.

        Raises:
            JobFailed: The job failed or was cancelled; it is a `JobRefused` if a gate refused the version.
            StudyFailed: The study failed or was cancelled.
            ExperimentFailed: The experiment failed or was cancelled.
            TimeoutError: The timeout has expired.
        """
        deadline = None if timeout_seconds is None else monotonic() + timeout_seconds
        interval = first = self._interval_seconds if interval_seconds is None else interval_seconds
        work = cast("_Work", self)
        with self._progress(progress) as show:
            while True:
                await self.refresh()
                show()
                if on_progress is not None:
                    on_progress(self)
                if work.status == "succeeded":
                    return self
                if work.has_ended:
                    raise self._failure()
                if deadline is not None and monotonic() > deadline:
                    raise TimeoutError(
                        f"{self._noun} {work.id} is still {work.status} after {timeout_seconds:g} s"
                    )
                await asyncio.sleep(interval)
                interval = min(interval * _INTERVAL_GROWTH, max(first, self._longest_interval_seconds))

    @abstractmethod
    def _progress(self, progress: bool | None) -> AbstractContextManager[Callable[[], object]]:
        """Draw a progress bar: the block gets a function that shows the current state."""

    @abstractmethod
    def _failure(self) -> Exception:
        """Return the error to raise if the work has ended without success."""


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
