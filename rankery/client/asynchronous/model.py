"""Models: importance, exports and aliases."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from rankery.client.arguments import CandidateColumns, ExportOptions
from rankery.client.asynchronous.deletable import AsyncDeletable
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.frames.incoming import Frame, LazyFrame
from rankery.client.reading import read
from rankery.client.references import HasId
from rankery.client.schemas.answers import ExportParity, InspectionEntry, ModelTree
from rankery.client.schemas.requests import GateRequest
from rankery.client.unset import UNSET, Unset, chosen
from rankery.client.views.gate import GateView
from rankery.client.views.importance import Importance
from rankery.client.views.model import ModelView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike


class AsyncModel(ModelView, AsyncDeletable):
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

    async def predict(
        self,
        candidates: "Frame | LazyFrame | Mapping[str, Any] | ArrayLike",
        *,
        columns: CandidateColumns | None = None,
        allow_absent_features: bool = False,
    ) -> "np.ndarray[Any, Any]":
        """Return the score of each document, (n_documents,), in the order of the rows given.

        Args:
            candidates: A data frame, a dictionary of columns or an array; see `client.score`.
            columns: Other names of a data frame's columns: `{"query", "document", "ignore"}`.
            allow_absent_features: Count features without a column as missing values.

        Raises:
            DataUnusable: The candidates cannot be sent.
            RankeryApiError: They do not fit the model.
        """
        return await self._client.score(
            self, candidates, columns=columns, allow_absent_features=allow_absent_features
        )

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
        self,
        *,
        title: str | Unset | None = UNSET,
        description: str | Unset | None = UNSET,
        tags: Mapping[str, str | None] | None = None,
        project: str | Unset | None = UNSET,
    ) -> Self:
        """Change what people read of it; omitted fields stay.

        Args:
            title: Display name of this version; none if None.
            description: In the place of the one that it has.
            tags: Tags to set; those that are None go, all others stay. `keep` holds it against retention.
            project: The project of all versions of its name; none if None.

        Returns:
            This model.
        """
        body = chosen({"title": title, "description": description, "project": project})
        body |= {} if tags is None else {"tags": dict(tags)}
        return self._take((await self._client.transport.request("PATCH", self._path, json=body)).json())

    async def gate(self, alias: str) -> GateView:
        """Return the promotion gate of an alias of its name; see `client.gate`."""
        return await self._client.gate(self.name, alias)

    async def set_gate(self, alias: str, gate: GateRequest) -> GateView:
        """Set the promotion gate of an alias of its name; see `client.set_gate`."""
        return await self._client.set_gate(self.name, alias, gate)

    async def remove_gate(self, alias: str) -> None:
        """Delete the promotion gate of an alias of its name."""
        await self._client.remove_gate(self.name, alias)

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
