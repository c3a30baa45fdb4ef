"""Parameters and pages that all lists share: sorting, search by prefix, and the choice of fields."""

import inspect
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from fastapi import Depends, Query

from app.http.pointers import pointers_below
from app.http.schemas import Cursor, Json, Limit, PageModel, ResponseModel, SearchText
from core.errors import InvalidInput
from core.metrics import metric_name

Direction = Annotated[
    Literal["asc", "desc"] | None,
    Query(
        description="Sort direction. By default texts ascend, numbers and times descend. Items without a"
        " value come last",
    ),
]
Prefix = Annotated[
    SearchText | None,
    Query(
        description="Only items whose name or id begins with this text, ignoring case",
        examples=["web"],
    ),
]
Fields = Annotated[
    str | None,
    Query(
        max_length=1000,
        pattern=r"^[a-z][a-z0-9_]*(\.[^.,\x00-\x1f\x7f]+)?(,[a-z][a-z0-9_]*(\.[^.,\x00-\x1f\x7f]+)?)*$",
        description="Fields of each item to return besides its id, separated by commas; `statistics.queries`"
        " is one member of an object, or of each object of a list. All fields by default",
        examples=["id,created_at"],
    ),
]


class SelectedFields(PageModel):
    """A page of items with the requested fields."""

    items: list[Json]


Page = TypeVar("Page", bound=ResponseModel)


@dataclass(frozen=True)
class ListQuery:
    """The requested sorting, page and fields of a list.

    Attributes:
        order: Direction; the default of the column when None.
        limit: Largest number of items of the page.
        fields: As `Fields` describes them; None for all.
        metric: The metric of `sort=metric`, empty with other columns; None where the list has no metrics.
    """

    sort: Any
    order: Literal["asc", "desc"] | None
    cursor: str | None
    limit: int
    fields: str | None = None
    metric: str | None = None

    @property
    def paging(self) -> dict[str, Any]:
        """The arguments of a repository's `page`."""
        paging = {"cursor": self.cursor, "limit": self.limit, "sort": self.sort, "direction": self.order}
        return paging if self.metric is None else {**paging, "metric": self.metric}

    def page(
        self, page_type: type[Page], items: Sequence[ResponseModel], next_cursor: str | None
    ) -> Page | SelectedFields:
        """Return a page of the items, or `SelectedFields` if the request selects fields."""
        if self.fields is not None:
            return selected(items, next_cursor, self.fields)
        return page_type(items=items, next_cursor=next_cursor)


def list_query(
    item: type[ResponseModel] | None,
    columns: Iterable[str],
    description: str = "Sort key",
    metric: Any = None,
) -> Any:
    """Return the dependency that parses the sorting, page and fields of a list, for its route.

        JobListing = Annotated[ListQuery, list_query(Job, Jobs.columns)]

    Args:
        item: Schema of an item, whose fields may be selected; None where a page has all fields.
        columns: Names of the columns to sort by, as the repository has them.
        description: Description of the parameter `sort`.
        metric: Annotated type of the query parameter `metric`, by which the list can also be sorted; None for
            lists without metrics.
    """

    async def read(**parameters: Any) -> ListQuery:
        if item is not None:
            check_fields(item, parameters["fields"])
        if metric is not None:
            parameters["metric"] = check_metric(parameters["sort"], parameters["metric"])
        return ListQuery(**parameters)

    names: Any = Literal.__getitem__((*columns, *(() if metric is None else ("metric",))))
    declared: dict[str, tuple[Any, Any]] = {
        "sort": (Annotated[names, Query(description=description)], "created")
    }
    if metric is not None:
        by_metric = Annotated[metric | None, Query(description="Metric to sort by; only with `sort=metric`")]
        declared["metric"] = by_metric, None
    declared["order"] = Direction, None
    if item is not None:
        declared["fields"] = Fields, None
    declared |= {"cursor": (Cursor, None), "limit": (Limit, 50)}
    read.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in declared.items()
        ]
    )
    return Depends(read)


def selected(items: Sequence[ResponseModel], next_cursor: str | None, fields: str) -> SelectedFields:
    """Return a page with some fields of its items.

    Args:
        fields: As `Fields` describes them, checked by `check_fields`.
    """
    wanted: dict[str, set[str] | None] = {"id": None}
    for path in fields.split(","):
        name, dot, member = path.partition(".")
        members = wanted.setdefault(name, set())
        if not dot:
            wanted[name] = None
        elif members is not None:
            members.add(member)
    return SelectedFields(items=[_selected(item, wanted) for item in items], next_cursor=next_cursor)


def check_fields(item: type[ResponseModel], fields: str | None) -> None:
    """Refuse fields that the items of a list do not have.

    Raises:
        InvalidInput: At `/fields`, with the names of the existing fields.
    """
    names = list(item.model_fields)
    requested = [path.partition(".")[0] for path in fields.split(",")] if fields else []
    if unknown := next((name for name in requested if name not in names), None):
        raise InvalidInput.at("/fields", f"unknown field {unknown!r}; the fields are {', '.join(names)}")


def check_metric(sort: str, metric: str | None) -> str:
    """Return the metric to sort by, empty where the list is sorted by a column.

    Raises:
        InvalidInput: `sort=metric` lacks a metric, a metric lacks `sort=metric`, or the metric is unknown.
    """
    if (sort == "metric") != (metric is not None):
        needed = "required with sort=metric" if metric is None else "has no effect without sort=metric"
        raise InvalidInput.at("/metric", needed)
    with pointers_below("/metric"):
        return "" if metric is None else metric_name(metric)


def _selected(item: ResponseModel, wanted: dict[str, set[str] | None]) -> Json:
    """Return the wanted fields of an item; a field with a set of names is cut to these members."""
    return {
        name: value if (members := wanted[name]) is None else _members(value, members)
        for name, value in item.model_dump(mode="json", include=set(wanted)).items()
    }


def _members(value: Any, members: Collection[str]) -> Any:
    if isinstance(value, list):
        return [_members(each, members) for each in value]
    if isinstance(value, dict):
        return {name: member for name, member in value.items() if name in members}
    return value
