"""Calls about exports of models."""

from collections.abc import Mapping
from pathlib import Path

from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.display.progress import downloaded
from rankery.client.reading import given, read
from rankery.client.references import HasId, address_of, id_of
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
        target_version: str | None = None,
        model_name: str | None = None,
        feature_set: str | None = None,
        score_shift: bool | None = None,
        never_missing: bool | None = None,
        feature_names: Mapping[str, str] | None = None,
        progress: bool | None = None,
    ) -> Path:
        """Write a model for another engine into a file.

        Args:
            reference: Id, name, `name:version` or `name@alias`.
            format: One of those that the service lists: `lightgbm`, `solr`, `elasticsearch`, `onnx`, …
            path: The file; it appears when it is complete.
            archive: Write a zip with the proof and how to install it beside the model.
            target_version: The engine's version; the newest when left out.
            model_name: The model's name in the engine.
            feature_set: Feature set of Elasticsearch or OpenSearch, feature store of Solr.
            score_shift: Raise all scores so that none is below 0, as Lucene demands.
            never_missing: Every document has every feature.
            feature_names: What the engine calls a feature, by the model's name of it.
            progress: Whether to draw a bar; where standard error is a terminal or a notebook if None.

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
        options = given(
            {
                "format": format,
                "target_version": target_version,
                "model_name": model_name,
                "feature_set": feature_set,
                "score_shift": score_shift,
                "never_missing": never_missing,
                "feature_names": feature_names,
            }
        )
        target = Path(path)
        address = f"/v1/models/{address_of(reference)}/export{'/archive' if archive else ''}"
        with downloaded(f"exporting {target.name}", progress) as on_bytes:
            await self.transport.download("POST", address, target, json=options, on_bytes=on_bytes)
        return target

    async def parity(
        self,
        reference: str | HasId,
        format: str,
        *,
        dataset: str | HasId | None = None,
        target_version: str | None = None,
        score_shift: bool | None = None,
        never_missing: bool | None = None,
        feature_names: Mapping[str, str] | None = None,
    ) -> ExportParity:
        """Return the proof of an export: written, read back and evaluated as the engine does.

        Args:
            reference: Id, name, `name:version` or `name@alias`.
            format: The export's format.
            dataset: Documents to compare over; the model's own when left out.
            target_version: The engine's version; the newest when left out.
            score_shift: As in the export.
            never_missing: As in the export.
            feature_names: As in the export.

        Raises:
            RankeryApiError: The format cannot express the model, or the service refused it otherwise.
        """
        options = given(
            {
                "format": format,
                "dataset_id": None if dataset is None else id_of(dataset),
                "target_version": target_version,
                "score_shift": score_shift,
                "never_missing": never_missing,
                "feature_names": feature_names,
            }
        )
        path = f"/v1/models/{address_of(reference)}/export/parity"
        return read(ExportParity, (await self.transport.request("POST", path, json=options)).json())
