"""Calls that import models and rankings of other systems."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from rankery.array_inputs import with_nan
from rankery.client.asynchronous.dataset_calls import AsyncDatasetReferences, DatasetSource
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.resumable_upload import send_upload
from rankery.client.display.progress import upload_progress
from rankery.client.frames import runs
from rankery.client.frames.incoming import collected, is_frame
from rankery.client.model_text import is_booster, is_model_file, text_of, with_feature_names
from rankery.client.reading import without_none
from rankery.client.references import described, path_of, system_of
from rankery.client.uploads import Upload
from rankery.errors import DataUnusable, FileUnusable, WrongType
from rankery.local_files import is_file

# A reference, an object of the client, a LightGBM model, scores, or a file of a model or of scores.
System: TypeAlias = Any
_FORMS_OF_A_RUN = "a path, scores in the order of the dataset's rows, a frame, or {query: {document: score}}"
_REFERENCES = frozenset({"model", "ranking_id", "name"})
_SCATTERED = "scattered-queries"
_INVALID_IN_NAMES = re.compile(r"[^a-z0-9._-]+")


class AsyncSystemCalls(AsyncDatasetReferences):
    """Calls that import models and rankings of other systems."""

    async def import_model(
        self,
        model: Any,
        name: str,
        *,
        feature_names: Sequence[str] | None = None,
        description: str | None = None,
        tags: Mapping[str, str] | None = None,
        project: str | None = None,
        progress: bool | None = None,
    ) -> AsyncJob:
        """Upload a model of LightGBM; a job checks it and creates the next version of the model name.

        Args:
            model: Path of a file that LightGBM saved, which is streamed unless `feature_names` are given; a
                `Booster`, an `LGBMRanker`, or the model's text.
            name: Model name; the upload becomes its next version.
            feature_names: Features of a model that was trained on an array, in the order of the array.
            description: Description of the version.
            tags: Tags of the version.
            project: Project label.
            progress: Whether to draw a bar; by default, in notebooks and if standard error is a terminal.

        Raises:
            FileUnusable: The file cannot be read.
            InvalidArgument: The model is not fitted, or the names do not match it.
            WrongType: `model` is not a model of LightGBM.
        """
        encoded_tags = None if tags is None else json.dumps(dict(tags))
        fields = without_none(
            {"name": name, "description": description, "project": project, "tags": encoded_tags}
        )
        text = text_of(model)
        if feature_names is not None:
            text = with_feature_names(_text_in(Path(model)) if text is None else text, feature_names)
        if text is None:
            return await self._send("/v1/models", Upload({"file": Path(model)}, fields), progress)
        with _temporary_file("model.txt", [text]) as path:
            return await self._send("/v1/models", Upload({"file": path}, fields), progress)

    async def upload_run(
        self,
        run: Any,
        dataset: DatasetSource,
        *,
        name: str | None = None,
        columns: Mapping[str, str] | None = None,
        project: str | None = None,
        progress: bool | None = None,
    ) -> AsyncJob:
        """Upload the scores or run of another system; a job reads them and makes a ranking.

        Args:
            run: Path of a TREC run, which is streamed; an array of scores in the order of the dataset's
                rows (NaN where a document is not retrieved); a data frame with `query`, `document` and
                `score`; or `{query: {document: score}}`.
            dataset: The dataset whose queries it ranks, in any form that `train` takes.
            name: Display name; the file's name, or "scores", when left out.
            columns: Column names of a frame by role: `{"query": …, "document": …, "score": …}`.
            project: Project label.
            progress: Whether to draw a bar; by default, in notebooks and if standard error is a terminal.

        Raises:
            FileUnusable: The file cannot be read.
            DataUnusable: The scores do not match the dataset; the message names the row or the query.
            WrongType: `run` has an unsupported type.

        Warns:
            DataWarning: Scores are matched by their order, but their pandas index is not in that order.

        Example:
            ```python
            job = await client.upload_run(network.predict(frame), dataset, name="neural")
            ranking = await (await job.wait()).ranking()
            ```
        """
        dataset_id = await self._dataset_id(dataset)
        if isinstance(run, str | Path) or hasattr(run, "__fspath__"):
            path = path_of(run, _FORMS_OF_A_RUN)
            fields = without_none({"dataset_id": dataset_id, "name": name, "project": project})
            return await self._send("/v1/rankings", Upload({"file": path}, fields), progress)
        fields = without_none({"dataset_id": dataset_id, "name": name or "scores", "project": project})
        with _temporary_file("scores.run", await self._run_lines(run, dataset_id, columns)) as path:
            return await self._send("/v1/rankings", Upload({"file": path}, fields), progress)

    async def _run_lines(self, run: Any, dataset_id: str, columns: Mapping[str, str] | None) -> Iterable[str]:
        if isinstance(run, Mapping):
            return runs.run_of_mapping(run)
        run = collected(run)
        if is_frame(run):
            table = runs.scores_table(run, columns)
            if "document" in table.column_names:
                return runs.run_of_table(table)
            runs.warn_if_reordered(run, table.column("query").to_numpy())
            queries, documents = await self._judged_rows(dataset_id)
            return runs.run_of_scores(runs.scores_of_rows(table, queries), queries, documents)
        if not (hasattr(run, "__array__") or isinstance(run, Sequence)) or isinstance(run, str | bytes):
            scores = "; pass its scores, such as model.predict(X)" if hasattr(run, "predict") else ""
            raise WrongType(f"{_FORMS_OF_A_RUN} is expected here, not {described(run)}{scores}")
        from rankery.client.frames.arrow import np

        runs.warn_if_reordered(run)
        dataset = await self.find_dataset(dataset_id)
        if any(finding.code == _SCATTERED for finding in dataset.findings or ()):
            raise DataUnusable(
                f"the rows of dataset {dataset.name!r} were gathered by query, so that an array may not be in"
                " their order; give a frame with query, document and score, or with query and score"
            )
        queries, documents = await self._judged_rows(dataset_id)
        return runs.run_of_scores(np.asarray(with_nan(run)), queries, documents)

    async def _judged_rows(self, dataset_id: str) -> tuple[list[str], list[str]]:
        response = await self.transport.request("GET", f"/v1/datasets/{dataset_id}/qrels")
        return runs.judged_rows(response.text)

    async def _systems(
        self, systems: Sequence[System] | Mapping[str, System], dataset_id: str
    ) -> list[dict[str, Any]]:
        if isinstance(systems, Mapping):
            return [
                await self._system(system, dataset_id, name, names_files=True)
                for name, system in systems.items()
            ]
        if isinstance(systems, str) or not isinstance(systems, Sequence):
            raise WrongType(f"a list of two or more systems is expected here, not {described(systems)}")
        return [
            await self._system(system, dataset_id, f"system {index}")
            for index, system in enumerate(systems, start=1)
        ]

    async def _system(
        self, system: System, dataset_id: str, name: str = "scores", *, names_files: bool = False
    ) -> dict[str, Any]:
        """Return a system as a field of a comparison; upload LightGBM models and scores first.

        Args:
            system: Argument of `compare`.
            dataset_id: The dataset that scores belong to.
            name: Name of uploaded models and scores.
            names_files: Whether scores in a file get this name instead of the file name.
        """
        if isinstance(system, Mapping) and set(system) <= _REFERENCES:
            return dict(system)
        if is_booster(system) or is_model_file(system):
            model_name = _INVALID_IN_NAMES.sub("-", name.lower()).strip("-._") or "imported"
            job = await self.import_model(system, model_name)
            return {"model": (await job.wait()).made("model_id")}
        if isinstance(getattr(system, "id", None), str):
            return system_of(system)
        if isinstance(system, str) and not is_file(system):
            return system_of(system)
        named = None if isinstance(system, str | Path) and not names_files else name
        job = await self.upload_run(system, dataset_id, name=named)
        return {"ranking_id": (await job.wait()).made("ranking_id")}

    async def _send(self, path: str, upload: Upload, progress: bool | None) -> AsyncJob:
        with upload_progress(upload.size_bytes, progress) as on_bytes:
            return self._bound(AsyncJob, await send_upload(self.transport, path, upload, on_bytes))


def _text_in(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileUnusable(f"{path} cannot be read as the text of a model: {error}") from error


@contextmanager
def _temporary_file(name: str, blocks: Iterable[str]) -> Iterator[Path]:
    """Yield a temporary file with a text; it is removed at the end of the block."""
    with TemporaryDirectory(prefix="rankery-") as folder:
        path = Path(folder) / name
        with path.open("w", encoding="utf-8") as file:
            file.writelines(blocks)
        yield path
