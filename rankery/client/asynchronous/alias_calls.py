"""Calls about aliases and exports of models."""

from pathlib import Path
from typing import Any, Unpack

import httpx

from rankery.client.arguments import ExportOptions
from rankery.client.asynchronous.resource import AsyncCalls, AsyncPages
from rankery.client.asynchronous.transport import AsyncTransport
from rankery.client.display.progress import download_progress
from rankery.client.listing import Listing
from rankery.client.reading import document_of, read, without_none
from rankery.client.references import HasId, escaped_reference, id_of
from rankery.client.schemas.answers import Alias, AliasMove, ExportParity
from rankery.client.schemas.requests import GateRequest
from rankery.client.views.model import GateView


class AsyncAliasCalls(AsyncCalls):
    """Calls about aliases and their promotion gates."""

    async def aliases(self, name: str) -> Listing[Alias]:
        """Return the aliases of a model's name, in alphabetical order."""
        document = await self._alias_list(name)
        return Listing(read(Alias, one) for one in document["items"])

    async def _alias_list(self, name: str) -> Any:
        return await self.transport.get(f"/v1/models/{escaped_reference(name)}/aliases")

    async def remove_alias(self, name: str, alias: str) -> None:
        """Remove an alias; its history and its gate stay."""
        await self.transport.request("DELETE", alias_path(name, alias), repeatable=False)

    def alias_history(self, name: str, alias: str) -> AsyncPages[AliasMove]:
        """List the moves of an alias and the refusals of its gate, newest first."""
        path = f"{alias_path(name, alias)}/history"
        return AsyncPages(self.transport, path, lambda one: read(AliasMove, one))

    async def gates(self, name: str | None = None) -> Listing[GateView]:
        """Return the promotion gates of aliases, in alphabetical order.

        Args:
            name: Only aliases of this model; of all models if None.
        """
        names = [name] if name is not None else [model["name"] async for model in self._aliased_names()]
        listing: Listing[GateView] = Listing()
        for one in sorted(names):
            document = await self._alias_list(one)
            gated = [alias["alias"] for alias in document["items"] if alias["gated"]]
            for alias in sorted((*gated, *document.get("gates_without_version", ()))):
                listing.append(await self.gate(one, alias))
        return listing

    def _aliased_names(self) -> AsyncPages[Any]:
        return AsyncPages(self.transport, "/v1/model-names", lambda one: one, fields="name")

    async def gate(self, name: str, alias: str) -> GateView:
        """Return the promotion gate of an alias.

        Raises:
            RankeryApiError: The alias has no gate.
        """
        return read(GateView, await self.transport.get(f"{alias_path(name, alias)}/gate"))

    async def set_gate(self, name: str, alias: str, gate: GateRequest) -> GateView:
        """Set the promotion gate of an alias.

        Args:
            name: The model's name.
            alias: The alias.
            gate: `{"dataset_id", "metric", "require", …}`.
        """
        response = await self.transport.request("PUT", f"{alias_path(name, alias)}/gate", json=dict(gate))
        return read(GateView, response.json())

    async def remove_gate(self, name: str, alias: str) -> None:
        """Delete the promotion gate of an alias.

        Raises:
            RankeryApiError: The alias has no gate.
        """
        await self.transport.request("DELETE", f"{alias_path(name, alias)}/gate", repeatable=False)


def alias_path(name: str, alias: str) -> str:
    """Return the path of an alias."""
    return f"/v1/models/{escaped_reference(name)}/aliases/{escaped_reference(alias)}"


async def move_alias(transport: AsyncTransport, name: str, alias: str, version: int) -> httpx.Response:
    """Send a request to point an alias at a version; the response has the model, or the job of its gate."""
    # With a gate each request creates a job.
    return await transport.request(
        "PUT", alias_path(name, alias), json={"version": version}, repeatable=False
    )


class AsyncExportCalls(AsyncCalls):
    """Calls about exports of models."""

    async def export(
        self,
        reference: str | HasId,
        format: str,
        path: Path | str,
        *,
        archive: bool = False,
        progress: bool | None = None,
        **options: Unpack[ExportOptions],
    ) -> Path:
        """Export a model to a file for another engine.

        Args:
            reference: Id, name, `name:version` or `name@alias`.
            format: A format that the service lists: `lightgbm`, `solr`, `vespa`, `onnx`, …
            path: Target file, written atomically.
            archive: Write a zip of the model with parity files and installation instructions.
            progress: Whether to draw a bar; by default, in notebooks and if standard error is a terminal.
            **options: Options of the format: `target_version`, `model_name`, `feature_set`, `score_shift`,
                `never_missing` and `feature_names`; see `rankery.client.ExportOptions`.

        Raises:
            RankeryApiError: The format cannot express the model, or the service refused it otherwise.
            FileUnusable: The file cannot be written.

        Example:
            ```python
            await client.export("web@champion", "solr", "model.json", feature_set="web-features")
            ```
        """
        target = Path(path)
        url = f"/v1/models/{escaped_reference(reference)}/export{'/archive' if archive else ''}"
        with download_progress(f"exporting {target.name}", progress) as on_bytes:
            await self.transport.download(
                "POST", url, target, json={"format": format, **options}, on_bytes=on_bytes
            )
        return target

    async def parity(
        self,
        reference: str | HasId,
        format: str,
        *,
        dataset: str | HasId | None = None,
        **options: Unpack[ExportOptions],
    ) -> ExportParity:
        """Verify the parity of an export: write it, read it back and evaluate it like the engine.

        Args:
            reference: Id, name, `name:version` or `name@alias`.
            format: The export's format.
            dataset: Documents to compare scores on; the model's test or training data when left out.
            **options: Options of the format, as in `export`.

        Raises:
            RankeryApiError: The format cannot express the model, or the service refused it otherwise.
        """
        body = {"format": format, "dataset_id": None if dataset is None else id_of(dataset), **options}
        path = f"/v1/models/{escaped_reference(reference)}/export/parity"
        response = await self.transport.request("POST", path, json=without_none(body))
        return read(ExportParity, document_of(response))
