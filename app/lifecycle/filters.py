"""Selections for bulk operations: ids, or the filters of the list of a kind."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Field

from app.http.labels import PROJECT_FILTER, ProjectFilterName, TagFilter, tag_filters
from app.http.schemas import PRINTABLE, Id, ModelReference, Moment, RequestModel, SearchText
from app.lifecycle.schemas import MAX_IDS
from core.errors import InvalidInput, NotFound
from core.jobs import JobKind, JobStatus
from core.scorers.parameters import ScorerKind
from core.store import Page, Store, Transaction
from core.store.clock import utc_now
from core.store.repositories.experiments import ExperimentStatus
from core.store.repositories.ids import first_id
from core.store.repositories.study_progress import StudyStatus
from core.store.trash.kinds import KINDS, MODEL, Kind

_PAGE = 200
_Tags = Annotated[
    list[TagFilter], Field(max_length=8, description="`team`, or `team:search`; all must match")
]


class Filter(RequestModel):
    """The filters that all kinds have in common; all given filters must match."""

    all: Literal[True] | None = Field(None, description="All objects of the kind")
    older_than_days: float | None = Field(
        None, ge=0, le=36_500, description="Only objects created at least this number of days ago"
    )
    created_before: Moment | None = Field(
        None,
        description="Only objects created before this time",
        examples=["2026-01-05T10:00:00Z"],
    )
    project: ProjectFilterName | None = Field(None, description=PROJECT_FILTER)
    prefix: SearchText | None = Field(None, description="Only objects whose name or id begins with this text")

    # Arguments of the list query by filter, where the names differ.
    list_argument_names: ClassVar[dict[str, str]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether `all` is needed: no field is given, or only an empty `tag` or a false `latest`."""
        fields = self.model_dump(exclude_none=True)
        return all(value == [] or (name == "latest" and value is False) for name, value in fields.items())

    def before(self) -> datetime | None:
        """Return the time before which matching objects were created, None for any."""
        moments = [self.created_before] if self.created_before else []
        if self.older_than_days is not None:
            moments.append(utc_now() - timedelta(days=self.older_than_days))
        return min(moments, default=None)

    def list_arguments(self) -> dict[str, Any]:
        """Return the filters as arguments for the kind's list query."""
        absent_from_lists = {"all", "older_than_days", "created_before"}
        arguments = self.model_dump(exclude=absent_from_lists, exclude_none=True)
        if "tag" in arguments:
            arguments["tags"] = tag_filters(arguments.pop("tag"))
        return {self.list_argument_names.get(name, name): value for name, value in arguments.items()}


class JobFilter(Filter):
    """The filters of jobs."""

    status: Annotated[JobStatus, Field(strict=False)] | None = Field(
        None, description="Only objects in this status"
    )
    kind: Annotated[JobKind, Field(strict=False)] | None = Field(None, description="Only jobs of this kind")
    dataset: Id | None = Field(None, description="Only jobs that read or create this dataset")
    text: SearchText | None = Field(
        None, description="Only jobs whose name contains this text, or whose id is this text"
    )
    tag: _Tags | None = None

    list_argument_names: ClassVar[dict[str, str]] = {"dataset": "dataset_id"}


class ModelFilter(Filter):
    """The filters of models."""

    name: Annotated[str, Field(max_length=100, pattern=PRINTABLE)] | None = Field(
        None, description="Only versions of this name"
    )
    tag: _Tags | None = None
    kind: ScorerKind | None = Field(None, description="Only models of this kind")
    latest: bool | None = Field(None, description="Only the latest version of each name")


class EvaluationFilter(Filter):
    """The filters of evaluations."""

    dataset_id: Id | None = Field(None, description="Only results on this dataset")
    model_id: Id | None = Field(None, description="Only results of this model version")
    ranking_id: Id | None = Field(None, description="Only evaluations of this ranking")


class ComparisonFilter(Filter):
    """The filters of comparisons."""

    dataset_id: Id | None = Field(None, description="Only results on this dataset")


class RankingFilter(Filter):
    """The filters of rankings."""

    dataset_id: Id | None = Field(None, description="Only rankings of this dataset")
    uploaded: bool | None = Field(None, description="Whether to select uploaded runs, or rankings of models")


class InspectionFilter(Filter):
    """The filters of inspections."""

    dataset_id: Id | None = Field(None, description="Only results on this dataset")
    model_id: Id | None = Field(None, description="Only results of this model version")


class ExperimentFilter(Filter):
    """The filters of experiments."""

    status: Annotated[ExperimentStatus, Field(strict=False)] | None = Field(
        None, description="Only objects in this status"
    )
    paper: Annotated[str, Field(max_length=100, pattern=PRINTABLE)] | None = Field(
        None, description="Only experiments of this paper"
    )


class StudyFilter(Filter):
    """The filters of studies."""

    status: StudyStatus | None = Field(None, description="Only objects in this status")
    dataset_id: Id | None = Field(None, description="Only studies on this dataset")


F = TypeVar("F", bound=Filter)


class Selection(RequestModel, Generic[F]):
    """The objects of a bulk operation: exactly one of ids and a filter."""

    ids: list[ModelReference] | None = Field(
        None, min_length=1, max_length=MAX_IDS, description="Ids of the objects; references of models"
    )
    filter: F | None = Field(None, description="At least one filter; `all` for all objects of the kind")

    def object_ids(self, store: Store, kind: Kind) -> Iterable[str]:
        """Return the ids of the objects, newest first for a filter; references are resolved to ids.

        Raises:
            InvalidInput: Not exactly one of ids and filter is given, or the filter is empty.
        """
        if (self.ids is None) == (self.filter is None):
            raise InvalidInput.at("", "must have exactly one of ids and filter")
        if self.filter is None:
            return _resolved(store, kind, dict.fromkeys(self.ids or ()))
        if self.filter.is_empty:
            raise InvalidInput.at("/filter", 'name at least one filter, or {"all": true}')
        object_ids = _matching(store, kind, self.filter)
        # Collect all ids first: after the latest version is deleted, its predecessor is the latest.
        return list(object_ids) if isinstance(self.filter, ModelFilter) and self.filter.latest else object_ids


class DeleteRequest(Selection[F], Generic[F]):
    """Objects to delete, and options."""

    with_results: bool = Field(False, description="Whether to delete the results of the objects as well")
    permanently: bool = Field(False, description="Whether to free the bytes immediately, without the trash")
    dry_run: bool = Field(True, description="Whether only to list the objects, without deleting them")


def _resolved(store: Store, kind: Kind, object_ids: Iterable[str]) -> list[str]:
    """Return ids; resolve all references of models before any changes, but keep unknown ones as they are."""
    if kind.name != MODEL:
        return list(object_ids)
    with store.read() as tx:
        return list(dict.fromkeys(_model_id(tx, each) for each in object_ids))


def _model_id(tx: Transaction, reference: str) -> str:
    if reference.startswith(KINDS[MODEL].prefix):
        return reference
    try:
        return tx.models.resolve(reference).id
    except NotFound:
        return reference


def _matching(store: Store, kind: Kind, wanted: Filter) -> Iterator[str]:
    before, arguments = wanted.before(), wanted.list_arguments()
    cursor = None if before is None else first_id(kind.prefix, before)
    while True:
        with store.read() as tx:
            page = _page_of(tx, kind)(cursor, _PAGE, **arguments)
        yield from (row.id for row in page.items)
        if page.next_cursor is None:
            return
        cursor = page.next_cursor


def _page_of(tx: Transaction, kind: Kind) -> Callable[..., Page[Any]]:
    page: Callable[..., Page[Any]] = getattr(tx, kind.plural).page
    return page
