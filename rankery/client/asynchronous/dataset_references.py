"""Datasets as arguments: by id or name, as a file, a frame, arrays or a URL."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from rankery.client.arguments import Columns, was_read_with
from rankery.client.asynchronous.dataset import AsyncDataset
from rankery.client.asynchronous.upload_calls import AsyncUploadCalls
from rankery.client.frames.cells import suggestion
from rankery.client.frames.incoming import Frame, as_table, collected, is_frame, temporary_parquet
from rankery.client.frames.judged import checked_columns
from rankery.client.references import DATASET_PREFIX, HasId, id_of, is_source_url
from rankery.client.uploads import Upload
from rankery.errors import NothingFound
from rankery.json_text import plain_value

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
            RankeryApiError: The id is unknown.
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

        Raises:
            JobFailed: The data cannot be read.
            NothingFound: No dataset has this name.
            WrongType: `data` has an unsupported type.
        """
        if isinstance(data, str) and not is_source_url(data):
            if data.startswith(DATASET_PREFIX):
                return data
            path = Path(data)
            if not path.is_file():
                return (await self.find_dataset(data)).id
            data = path
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
