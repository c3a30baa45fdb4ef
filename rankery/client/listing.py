"""Listings of resources."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel
from rich.console import Console, ConsoleOptions, RenderableType

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.frames.outgoing import rows_as_pandas

if TYPE_CHECKING:
    import pandas

Item = TypeVar("Item")
_PLAIN = (str, int, float, bool, type(None))


class Listing(list[Item]):
    """A list that is shown as a table."""

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the fields of the items as a data frame of pandas.

        Raises:
            PackageMissing: pandas is not installed.
        """
        return rows_as_pandas(
            [item.model_dump() if isinstance(item, BaseModel) else {"value": item} for item in self]
        )

    def _repr_html_(self) -> str:
        return _card(self).html()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        return _card(self).rendered()


def pages_card(pages: Any) -> Card:
    """Return a card of the first items of a paginated list; of an asynchronous list, a card with a hint."""
    if isinstance(pages, Iterable):
        first: Iterable[Any] = pages.first()  # type: ignore[attr-defined] # the synchronous list
        return _card(first)
    return Card("", sentence=f"{pages!r}: iterate it with `async for`, or await its first()")


def _card(items: Iterable[Any]) -> Card:
    summaries = [_summary(item) for item in items]
    if not summaries:
        return Card("", sentence="No objects.")
    names = list(dict.fromkeys(name for summary in summaries for name in summary))
    return Card("", tables=[CardTable(names, [[one.get(name, "") for name in names] for one in summaries])])


def _summary(item: Any) -> dict[str, str]:
    if isinstance(item, Displayable):
        return item.summary()
    fields = dict(item) if isinstance(item, BaseModel) else {"value": str(item)}
    return {
        name: "" if value is None else str(value)
        for name, value in fields.items()
        if isinstance(value, _PLAIN)
    }
