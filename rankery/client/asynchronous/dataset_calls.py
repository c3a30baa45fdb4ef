"""Calls about datasets, and the datasets that other calls refer to."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from rankery.client.arguments import Columns, was_read_with
from rankery.client.asynchronous.dataset import AsyncDataset
from rankery.client.asynchronous.resource import AsyncPages
from rankery.client.asynchronous.upload_calls import AsyncUploadCalls
from rankery.client.frames.cells import suggestion
from rankery.client.frames.incoming import Frame, as_table, collected, is_frame, temporary_parquet
from rankery.client.frames.judged import checked_columns
from rankery.client.reading import read, without_none
from rankery.client.references import DATASET_PREFIX, HasId, id_of, is_source_url
from rankery.client.schemas.answers import DataFolder
from rankery.client.uploads import Upload
from rankery.errors import NothingFound
from rankery.json_text import plain_value
from rankery.local_files import is_file

DatasetSource: TypeAlias = str | Path | HasId | Frame | tuple[Any, Any, Any]
_ACCEPTED_FORMS = (
    "a dataset (its id, its name, an object of the client), a path, a data frame or (X, y, group)"
)
_MAX_SUGGESTED_FROM = 200  # newest datasets whose names are compared with an unknown name


class AsyncDatasetReferences(AsyncUploadCalls):
    """Calls that take datasets in any form."""

    async def find_dataset(self, reference: str) -> AsyncDataset:
        """Return the dataset with an id, or the newest ready dataset with a name.

        Args:
            reference: An id, `ds_…`, or a name.

        Raises:
            NothingFound: No dataset with this name is ready; the message has the nearest name.
        """
        if reference.startswith(DATASET_PREFIX):
            return self._bound(AsyncDataset, await self.transport.get(f"/v1/datasets/{reference}"))
        dataset = await self._named(reference, "ready")
        if dataset:
            return self._bound(AsyncDataset, dataset[0])
        waiting = await self._named(reference, None)
        if waiting:
            raise NothingFound(f"the dataset {reference!r} is {waiting[0]['status']}, not ready")
        newest = await self.transport.get("/v1/datasets", fields="name", limit=_MAX_SUGGESTED_FROM)
        near = suggestion(reference, [dataset["name"] for dataset in newest["items"]])
        raise NothingFound(f"there is no dataset and no file {reference!r}{near}")

    async def _named(self, name: str, status: str | None) -> Any:
        page = await self.transport.get("/v1/datasets", name=name, status=status, limit=1)
        return page["items"]

    async def _dataset_id(self, data: Any, columns: Columns | None = None, name: str | None = None) -> str:
        """Return the id of a dataset; upload data that are not a dataset yet, and wait until they are read.

        Args:
            data: A `DatasetSource`, as calls such as `train` and `evaluate` take it.
            columns: Column roles of a file or a frame.
            name: Name of an uploaded frame or of uploaded arrays.
        """
        if isinstance(data, str) and not is_source_url(data):
            if data.startswith(DATASET_PREFIX):
                return data
            if not is_file(data):
                return (await self.find_dataset(data)).id
            data = Path(data)
        if isinstance(data, Path):
            return await self._file_id(data, columns)
        data = collected(data)
        if is_frame(data):
            return await self._frame_id(data, columns, name)
        if is_source_url(data) or (isinstance(data, tuple) and len(data) == 3):
            named = None if isinstance(data, str) else name
            return (await (await self.upload_dataset(data, named, columns=columns)).wait()).id
        return id_of(data, _ACCEPTED_FORMS)

    async def _held_out(self, hold_out: Any, columns: Columns | None, name: str) -> Any:
        """Return the hold-out as a request field; replace a dataset by its id."""
        if hold_out is None or isinstance(plain_value(hold_out), Mapping | int | float):
            return hold_out
        return await self._dataset_id(hold_out, columns, name)

    async def _file_id(self, path: Path, columns: Columns | None) -> str:
        upload = Upload({"file": path})
        with upload.opened(lambda _: None) as files:
            sha256 = hashlib.file_digest(files["file"][1], "sha256").hexdigest()  # type: ignore[arg-type]
        existing_id = await self._existing_id(sha256, columns)
        return existing_id or (await (await self.upload_dataset(path, columns=columns)).wait()).id

    async def _frame_id(self, frame: Frame, columns: Columns | None, name: str | None) -> str:
        table = as_table(frame)
        checked = checked_columns(frame, table, columns)
        with temporary_parquet(table) as path:
            existing_id = await self._existing_id(hashlib.sha256(path.read_bytes()).hexdigest(), checked)
            if existing_id is not None:
                return existing_id
            fields = {"columns": json.dumps(checked)} | ({} if name is None else {"name": name})
            return (await (await self._upload(Upload({"file": path}, fields), None)).wait()).id

    async def _existing_id(self, sha256: str, columns: Columns | None) -> str | None:
        """Return the id of a dataset of the same bytes and reading options, or None."""
        page = await self.transport.get("/v1/datasets", status="ready", sha256=sha256)
        same = (str(dataset["id"]) for dataset in page["items"] if was_read_with(dataset["source"], columns))
        return next(same, None)


class AsyncDatasetCalls(AsyncDatasetReferences):
    """Calls about datasets."""

    async def synthetic_dataset(
        self,
        queries: int,
        *,
        seed: int = 0,
        polynomial_seed: int = 0,
        name: str | None = None,
        generator: Literal["polynomial", "sparse"] | None = None,
        documents_per_query: int | None = None,
        features: int | None = None,
        noise: float | None = None,
        gains: Sequence[float] | None = None,
        relevant_per_query: float | None = None,
    ) -> AsyncDataset:
        """Generate a synthetic dataset from random cubic polynomials (Burges et al. 2006, section 6.3.1).

        Args:
            queries: Number of queries.
            seed: Seed of the documents and their noise.
            polynomial_seed: Seed of the target function; use the same for training and test data.
            name: Display name.
            generator: `polynomial`, or `sparse` for long lists with few relevant documents (Marcuzzi et al.
                2023).
            documents_per_query: Number of documents; if None, 50, or 2,679 for sparse data.
            features: Number of features; 50 if None.
            noise: Standard deviation of the noise on the polynomial's value, in that value's standard
                deviations.
            gains: Five increasing numbers that replace the labels 0 to 4.
            relevant_per_query: Number of relevant documents of each query in sparse data; if None, 0.17% of
                the documents.
        """
        body = {
            "queries": queries,
            "seed": seed,
            "polynomial_seed": polynomial_seed,
            "name": name,
            "generator": generator,
            "documents_per_query": documents_per_query,
            "features": features,
            "noise": noise,
            "gains": None if gains is None else list(gains),
            "relevant_per_query": relevant_per_query,
        }
        document = await self.transport.create("/v1/datasets/synthetic", without_none(body))
        return self._bound(AsyncDataset, document)

    async def read_folder(
        self,
        folder: str,
        part: Literal["train", "validation", "test"] | None = None,
        name: str | None = None,
        *,
        files: str | None = None,
        columns: Columns | None = None,
        format: Literal["letor", "csv", "parquet"] | None = None,
        non_contiguous_queries: Literal["regroup", "error"] | None = None,
        repeated_features: Literal["last", "reject"] | None = None,
        feature_names: Mapping[str, str] | Sequence[str] | None = None,
    ) -> AsyncDataset:
        """Make datasets from files in a folder of the service, read in place without an upload.

        Args:
            folder: Folder below the service's `RANKERY_DATA_ROOTS`: `MSLR-WEB30K/Fold1`, or
                `s3://bucket/prefix`.
            part: Only this part; all parts that the folder has if None.
            name: Display name, followed by the part where there are several.
            files: Pattern of the names of several files that become one dataset: `part-*.parquet`.
            columns: Column roles of `files`, as in `upload_dataset`.
            format: Detected by the content if None.
            non_contiguous_queries: `regroup` gathers the rows of each query; `error` refuses queries whose
                rows are not contiguous.
            repeated_features: `last` uses the last value of a feature that is repeated in a LETOR row;
                `reject` refuses the data.
            feature_names: Names by feature id, or a list of them.

        Returns:
            Dataset of the first part, which is still being read; `wait` on it. Its `parts` lists all
            datasets.

        Raises:
            RankeryApiError: The service may not read the folder, or the folder has no such part or files.

        Example:
            ```python
            dataset = await client.read_folder("s3://clicks/2026-05", files="part-*.parquet", name="May")
            await dataset.wait()
            ```
        """
        body = {
            "folder": folder,
            "part": part,
            "name": name,
            "files": files,
            "columns": columns,
            "format": format,
            "non_contiguous_queries": non_contiguous_queries,
            "repeated_features": repeated_features,
            "feature_names": feature_names,
        }
        return self._bound(
            AsyncDataset, await self.transport.create("/v1/datasets/folders", without_none(body))
        )

    async def folder(self, folder: str = ".") -> DataFolder:
        """Return the dataset parts and the subfolders in a folder of the service.

        Args:
            folder: Folder below the service's `RANKERY_DATA_ROOTS`.

        Raises:
            RankeryApiError: The service may not read the folder.
        """
        return read(DataFolder, await self.transport.get("/v1/datasets/folders", folder=folder))

    def datasets(
        self,
        status: str | None = None,
        *,
        name: str | None = None,
        sha256: str | None = None,
        project: str | None = None,
    ) -> AsyncPages[AsyncDataset]:
        """List datasets, newest first.

        Args:
            status: Only `pending`, `ready` or `invalid` ones.
            name: Only datasets of this name.
            sha256: Only datasets whose uploaded bytes have this SHA-256.
            project: Only datasets of this project; `-` for no project.
        """
        return self._pages(
            AsyncDataset, "/v1/datasets", status=status, name=name, sha256=sha256, project=project
        )

    async def dataset(self, dataset_id: str) -> AsyncDataset:
        """Return a dataset with its statistics and findings, or with the problem found in it."""
        return self._bound(AsyncDataset, await self.transport.get(f"/v1/datasets/{dataset_id}"))

    async def delete_dataset(self, dataset: str | HasId, *, permanently: bool = False) -> None:
        """Move a dataset to the trash; `restore` restores it. Models trained on it stay.

        Args:
            dataset: The dataset, or its id.
            permanently: Delete permanently instead of moving to the trash.

        Raises:
            RankeryApiError: A job or a gate uses the dataset, or it does not exist.
        """
        parameters = {"permanently": permanently or None}
        await self.transport.request("DELETE", f"/v1/datasets/{id_of(dataset)}", parameters=parameters)
