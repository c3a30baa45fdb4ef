"""Calls about exports of models."""

from pathlib import Path
from typing import Unpack

from rankery.client.arguments import ExportOptions
from rankery.client.asynchronous.resource import AsyncCalls
from rankery.client.display.progress import download_progress
from rankery.client.reading import document_of, read, without_none
from rankery.client.references import HasId, escaped_reference, id_of
from rankery.client.schemas.answers import ExportParity


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

        Returns:
            The file.

        Raises:
            RankeryApiError: The format cannot express the model, or the service refused it otherwise.
            FileUnusable: The file cannot be written.

        Example:
            ```python
            await client.export("web@champion", "solr", "model.json", feature_set="web-features")
            ```
        """
        target = Path(path)
        address = f"/v1/models/{escaped_reference(reference)}/export{'/archive' if archive else ''}"
        with download_progress(f"exporting {target.name}", progress) as on_bytes:
            await self.transport.download(
                "POST", address, target, json={"format": format, **options}, on_bytes=on_bytes
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
            **options: As in the export.

        Raises:
            RankeryApiError: The format cannot express the model, or the service refused it otherwise.
        """
        body = {"format": format, "dataset_id": None if dataset is None else id_of(dataset), **options}
        path = f"/v1/models/{escaped_reference(reference)}/export/parity"
        response = await self.transport.request("POST", path, json=without_none(body))
        return read(ExportParity, document_of(response))
