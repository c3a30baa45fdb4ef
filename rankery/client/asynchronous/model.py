"""Models: importance, exports and aliases."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, Unpack

from rankery.client.arguments import ExportOptions
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.resource import AsyncResource
from rankery.client.reading import read
from rankery.client.references import HasId
from rankery.client.schemas.answers import ExportParity, InspectionEntry, ModelTree
from rankery.client.views.importance import Importance
from rankery.client.views.model import ModelView


class AsyncModel(ModelView, AsyncResource):
    """A version of a model, as last fetched from the service."""

    async def refresh(self) -> Self:
        """Fetch the current state of the model and its aliases.

        Returns:
            This model.
        """
        return self._take(await self._client.transport.get(self._path))

    async def importance(self) -> Importance:
        """Return the gains and split counts of its features."""
        return read(Importance, await self._client.transport.get(f"{self._path}/importance"))

    async def tree(self, index: int, *, root: int | None = None, depth: int | None = None) -> ModelTree:
        """Return one of its trees, nested.

        Args:
            index: Which, from 0.
            root: The node to begin at.
            depth: Levels to show.

        Raises:
            RankeryApiError: There is no such tree.
        """
        path = f"{self._path}/trees/{index}"
        return read(ModelTree, await self._client.transport.get(path, root=root, depth=depth))

    def inspections(self) -> AsyncPages[InspectionEntry]:
        """List its inspections, newest first."""
        path = f"{self._path}/inspections"
        return AsyncPages(self._client.transport, path, lambda one: read(InspectionEntry, one))

    async def change(
        self, *, description: str | None = None, tags: Mapping[str, str | None] | None = None
    ) -> Self:
        """Change the description and tags; omitted fields stay.

        Args:
            description: In the place of the one that it has.
            tags: Tags to set; those that are None go, all others stay.

        Returns:
            This model.
        """
        body: dict[str, Any] = {} if description is None else {"description": description}
        body |= {} if tags is None else {"tags": dict(tags)}
        return self._take((await self._client.transport.request("PATCH", self._path, json=body)).json())

    async def set_alias(self, alias: str) -> Self | AsyncJob:
        """Point an alias such as `champion` at this version; see `client.set_alias`."""
        found = await self._client.set_alias(self.name, alias, self.version)
        return found if isinstance(found, AsyncJob) else self._become(found)

    async def reproduce(self) -> AsyncJob:
        """Reproduce its training; see `client.reproduce`."""
        return await self._client.reproduce(self)

    async def export(
        self,
        format: str,
        path: Path | str,
        *,
        archive: bool = False,
        progress: bool | None = None,
        **options: Unpack[ExportOptions],
    ) -> Path:
        """Export it to a file for another engine.

        Args:
            format: One of those that the service lists: `lightgbm`, `solr`, `elasticsearch`, `onnx`, …
            path: The file; it appears when it is complete.
            archive: Write a zip with the proof and how to install it beside the model.
            progress: Whether to draw a bar; where standard error is a terminal or a notebook if None.
            **options: What the format takes; see `client.export`.

        Returns:
            The file.

        Raises:
            RankeryApiError: The format cannot express the model, or the service refused it otherwise.
            FileUnusable: The file cannot be written.
        """
        return await self._client.export(self, format, path, archive=archive, progress=progress, **options)

    async def parity(
        self, format: str, *, dataset: str | HasId | None = None, **options: Unpack[ExportOptions]
    ) -> ExportParity:
        """Return the proof of an export: written, read back and evaluated as the engine does.

        Args:
            format: The export's format.
            dataset: Documents to compare over; the model's own when left out.
            **options: As in the export.

        Raises:
            RankeryApiError: The format cannot express the model, or the service refused it otherwise.
        """
        return await self._client.parity(self, format, dataset=dataset, **options)

    @property
    def _path(self) -> str:
        return f"/v1/models/{self.id}"
