"""Calls about projects, labels, deletion and storage."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from rankery.client.arguments import ids_field
from rankery.client.asynchronous.resource import AsyncCalls, AsyncPages
from rankery.client.listing import Listing
from rankery.client.reading import UNSET, Unset, read, without_none, without_unset
from rankery.client.references import HasId, id_of
from rankery.client.views import lifecycle
from rankery.errors import InvalidArgument

Deletable: TypeAlias = Literal[
    "jobs", "models", "evaluations", "comparisons", "rankings", "inspections", "experiments", "studies"
]

# The service ends a bulk request after a minute; its response has the objects done so far.
_BULK_SECONDS = 120.0


class AsyncLifecycleCalls(AsyncCalls):
    """Calls that label, delete and restore objects, and measure storage."""

    async def projects(self) -> Listing[lifecycle.ProjectView]:
        """Return the projects with the number of their objects, in alphabetical order."""
        answer = await self.transport.get("/v1/projects")
        return Listing(read(lifecycle.ProjectView, one) for one in answer["items"])

    async def delete(
        self,
        kind: Deletable,
        ids: Sequence[str | HasId] | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        with_results: bool = False,
        permanently: bool = False,
        dry_run: bool = True,
    ) -> lifecycle.DeletionView:
        """Delete several objects of a kind, by their ids or by a filter.

        Objects that others depend on are not deleted; `refused` of the result lists them with their
        dependents.

        Args:
            kind: `jobs`, `models`, `evaluations`, `comparisons`, `rankings`, `inspections`, `experiments` or
                `studies`.
            ids: Ids to delete; for models also references such as `web:3`.
            where: Filter, instead of ids: the filters of the list of this kind, `older_than_days`,
                `created_before`, or `all` for all objects.
            with_results: Also delete the results of these objects.
            permanently: Delete permanently instead of moving to the trash.
            dry_run: Only return what would be deleted.

        Raises:
            InvalidArgument: Neither ids nor a filter is given, or both are.

        Example:
            ```python
            old = {"status": "failed", "older_than_days": 30}
            print(await client.delete("jobs", where=old))
            await client.delete("jobs", where=old, dry_run=False)
            ```
        """
        options = {"with_results": with_results, "permanently": permanently, "dry_run": dry_run}
        return await self._delete(f"/v1/{kind}/delete", _selection(ids, where) | options)

    async def label(
        self,
        kind: Literal["jobs", "models"],
        ids: Sequence[str | HasId] | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        tags: Mapping[str, str | None] | None = None,
        project: str | Unset | None = UNSET,
        dry_run: bool = True,
    ) -> lifecycle.LabelledView:
        """Change the tags and the project of several jobs or models, by their ids or by a filter.

        Results of a job move with it to another project; all versions of a model name move together.

        Args:
            kind: `jobs` or `models`.
            ids: Ids to label; for models also references such as `web:3`.
            where: Filter, instead of ids: the filters of the list of this kind, `older_than_days`,
                `created_before`, or `all` for all objects.
            tags: Tags to set; None removes a tag, other tags stay.
            project: New project label; None removes it. When left out, the project stays.
            dry_run: Only return what would change.

        Raises:
            InvalidArgument: Neither ids nor a filter is given, or both are.

        Example:
            ```python
            loose = {"project": "-", "kind": "train"}
            print(await client.label("jobs", where=loose, project="web"))
            await client.label("jobs", where=loose, project="web", dry_run=False)
            ```
        """
        labels = without_none({"tags": tags and dict(tags)}) | without_unset({"project": project})
        body = _selection(ids, where) | labels | {"dry_run": dry_run}
        total = latest = read(lifecycle.LabelledView, await self._post(f"/v1/{kind}/labels", body))
        while latest.changed and not (latest.complete or latest.dry_run):
            latest = read(lifecycle.LabelledView, await self._post(f"/v1/{kind}/labels", body))
            total = total.plus(latest)
        return total

    def trash(self, kind: str | None = None) -> AsyncPages[lifecycle.TrashedObjectView]:
        """List the trash, latest first.

        Args:
            kind: Only `job`, `model`, `evaluation`, `comparison`, `ranking`, `inspection`, `experiment`,
                `study`, `dataset` or `click-log`.
        """
        return AsyncPages(
            self.transport, "/v1/trash", lambda one: read(lifecycle.TrashedObjectView, one), kind=kind
        )

    async def restore(self, *things: str | HasId) -> lifecycle.RestoredView:
        """Restore objects from the trash, with the objects deleted with them.

        Args:
            *things: Objects or ids.
        """
        body = {"ids": [id_of(one) for one in things]}
        return read(lifecycle.RestoredView, await self._post("/v1/trash/restore", body))

    async def empty_trash(
        self,
        ids: Sequence[str | HasId] | None = None,
        *,
        older_than_days: float | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> lifecycle.DeletionView:
        """Purge objects from the trash permanently and free their storage.

        Args:
            ids: Only these ids.
            older_than_days: Purge only objects that were deleted at least this many days ago.
            everything: All objects in the trash.
            dry_run: Only return what would be purged.

        Raises:
            InvalidArgument: Not exactly one of ids, older_than_days and everything is given.
        """
        selectors = {
            "ids": ids_field(ids),
            "older_than_days": older_than_days,
            "all": everything or None,
        }
        if len(without_none(selectors)) != 1:
            raise InvalidArgument("give one of ids, older_than_days and everything=True")
        return await self._delete("/v1/trash/empty", without_none(selectors) | {"dry_run": dry_run})

    async def storage(self, *, refresh: bool = False) -> lifecycle.StorageView:
        """Return the storage in bytes by kind, that of the trash, and what retention would free.

        Args:
            refresh: Measure now; else the measurement of the last minute is returned.
        """
        return read(lifecycle.StorageView, await self.transport.get("/v1/storage", refresh=refresh or None))

    async def _delete(self, path: str, body: Mapping[str, Any]) -> lifecycle.DeletionView:
        """Repeat a deletion request until it is complete or deletes nothing; send a dry run once."""
        total = latest = read(lifecycle.DeletionView, await self._post(path, body))
        while latest.deleted and not (latest.complete or latest.dry_run):
            latest = read(lifecycle.DeletionView, await self._post(path, body))
            total = total.plus(latest)
        return total

    async def retention(self, *, refresh: bool = False) -> lifecycle.RetentionView:
        """Return how long objects of each kind are kept, and what retention would move to the trash now.

        The retention times are the settings `RANKERY_RETENTION_…_DAYS` of the service.

        Args:
            refresh: Measure now; else the measurement of the last minute is returned.
        """
        return read(lifecycle.RetentionView, await self.transport.get("/v1/storage", refresh=refresh or None))

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        # Idempotent: a repetition has no effect.
        response = await self.transport.request("POST", path, json=dict(body), read_seconds=_BULK_SECONDS)
        return response.json()


def _selection(ids: Sequence[str | HasId] | None, where: Mapping[str, Any] | None) -> dict[str, Any]:
    if (ids is None) == (where is None):
        raise InvalidArgument("give either ids or where, a filter such as {'older_than_days': 30}")
    return {"filter": dict(where)} if where is not None else {"ids": ids_field(ids)}
