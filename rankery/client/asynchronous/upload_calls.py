"""Calls that upload or import data: files, frames, arrays and URLs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rankery.client.arguments import Columns
from rankery.client.asynchronous.dataset import AsyncDataset
from rankery.client.asynchronous.resource import AsyncCalls
from rankery.client.asynchronous.resumable_upload import send_upload
from rankery.client.display.progress import upload_progress
from rankery.client.frames import incoming
from rankery.client.frames.cells import warn
from rankery.client.frames.judged import checked_columns, declared_categories
from rankery.client.reading import without_none
from rankery.client.references import described, is_source_url, mapping_of, path_of
from rankery.client.uploads import Upload
from rankery.companion_files import ignored_files_beside
from rankery.errors import DataUnusable, InvalidArgument, WrongType
from rankery.json_text import plain_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_DATA = "a path, a URL, a data frame of pandas, polars or Arrow, or (X, y, group)"


class AsyncUploadCalls(AsyncCalls):
    """Calls that upload or import data."""

    async def upload_dataset(
        self,
        data: "Path | str | incoming.Frame | tuple[Any, Any, Any] | None" = None,
        name: str | None = None,
        *,
        columns: Columns | None = None,
        parts: Mapping[str, Path | str] | None = None,
        query_sizes: Mapping[str, Path | str] | None = None,
        format: str | None = None,
        non_contiguous_queries: Literal["regroup", "error"] | None = None,
        repeated_features: Literal["last", "reject"] | None = None,
        feature_names: Mapping[str, str] | Sequence[str] | None = None,
        project: str | None = None,
        progress: bool | None = None,
    ) -> AsyncDataset:
        """Upload judged data; it is read by a job and becomes `ready` or `invalid`.

        Args:
            data: A file (LETOR, LightGBM, CSV, TSV, Parquet or TREC qrels; plain, gzip or Zstandard), which
                is streamed; a data frame of pandas, polars or Arrow with one row per document, sent as
                Parquet; `(X, y, group)` as LightGBM takes them, where `group` may also have the query of each
                document; a URL, which the service reads (see `import_dataset`); or None where `parts`
                has several files.
            name: Display name; the file's name when left out.
            columns: Columns of a table by role: `{"label": "grade", "query": "session"}`; detected by the
                usual names if left out.
            parts: `train`, `validation` and `test` files instead. Each becomes a dataset; the first is
                returned, and its `parts` lists all of them.
            query_sizes: LightGBM's query files by part; under the key `file` if `data` is a file.
            format: `letor`, `lightgbm`, `csv`, `parquet` or `trec-qrels`; detected by the content if None.
            non_contiguous_queries: `regroup` gathers the rows of each query; `error` refuses queries whose
                rows are not contiguous.
            repeated_features: `last` uses the last value of a feature that is repeated in a LETOR row;
                `reject` refuses the data.
            feature_names: Names by feature id, or a list of them.
            project: Project label.
            progress: Whether to draw a bar; by default, in notebooks and if standard error is a terminal.

        Returns:
            The dataset, which is still being read; `wait` on it.

        Raises:
            FileUnusable: A file cannot be read.
            DataUnusable: The data frame cannot be sent; the message names the row and the column.
            WrongType: The data are of another type.

        Warns:
            DataWarning: A label is missing, all rows are of one query, or the rows of a query are not
                contiguous. Also for an ignored file that LightGBM reads beside the data, such as weights.

        Example:
            ```python
            dataset = await client.upload_dataset("train.txt.gz")
            dataset = await client.upload_dataset(frame, "clicks", columns={"label": "clicked"})
            await dataset.wait()
            ```
        """
        paths = _paths(parts)
        paths |= {f"{part}_query": query_file for part, query_file in _paths(query_sizes).items()}
        feature_names = plain_value(feature_names)
        options: dict[str, Any] = {
            "name": name,
            "format": format,
            "non_contiguous_queries": non_contiguous_queries,
            "repeated_features": repeated_features,
            "feature_names": feature_names and json.dumps(feature_names),
            "project": project,
        }
        if isinstance(data, tuple) and len(data) == 3:
            return await self._upload_triple(data, name, columns, feature_names, project, progress)
        if is_source_url(data):
            return await self._import_url(data, columns=columns, **options | {"feature_names": feature_names})
        data = incoming.collected(data)
        if incoming.is_frame(data):
            table = incoming.as_table(data)
            options["columns"] = json.dumps(checked_columns(data, table, columns))
            with incoming.temporary_parquet(table) as path:
                return await self._upload(Upload({"file": path, **paths}, _form_fields(options)), progress)
        options["columns"] = columns and json.dumps(columns)
        if data is not None or not paths:
            paths["file"] = path_of(data, _DATA)
        for path in paths.values():
            for file_name, remedy in ignored_files_beside(path).items():
                warn(f"{file_name} is ignored: {remedy}")
        return await self._upload(Upload(paths, _form_fields(options)), progress)

    async def upload_arrays(
        self,
        features: "ArrayLike | incoming.Frame",
        labels: "ArrayLike",
        name: str | None = None,
        *,
        query_sizes: "ArrayLike | None" = None,
        query_ids: "ArrayLike | None" = None,
        document_ids: "ArrayLike | None" = None,
        feature_names: Sequence[str] | None = None,
        categorical_features: Sequence[str] = (),
        project: str | None = None,
        progress: bool | None = None,
    ) -> AsyncDataset:
        """Upload judged data from numpy arrays.

        Args:
            features: (n_documents, n_features), dense, sparse or a data frame; NaN is a missing value.
            labels: (n_documents,).
            name: Display name.
            query_sizes: (n_queries,) documents of each query, in order; or `query_ids`.
            query_ids: (n_documents,).
            document_ids: (n_documents,).
            feature_names: Names by column; those of the frame, or `f1`, `f2`, …, when left out.
            categorical_features: Names of features whose values are categories.
            project: Project label.
            progress: Whether to draw a bar; by default, in notebooks and if standard error is a terminal.

        Returns:
            The dataset, which is still being read; `wait` on it.

        Raises:
            DataUnusable: The shapes do not match.
            InvalidArgument: Indexes of pandas are in different orders.
        """
        if query_sizes is None and query_ids is None:
            raise DataUnusable("give query_sizes (documents per query) or query_ids (one per document)")
        features = incoming.collected(features)
        table = incoming.table_of_arrays(
            features,
            labels=labels,
            query_sizes=query_sizes,
            query_ids=query_ids,
            document_ids=document_ids,
            feature_names=feature_names,
        )
        columns: Columns = {"label": "label", "query": "query_id"}
        if document_ids is not None:
            columns["document"] = "document_id"
        declared = declared_categories(features, table) if incoming.is_frame(features) else set()
        categories = [one for one in table.column_names if one in declared or one in categorical_features]
        if categories:
            columns["categorical_features"] = categories
        return await self.upload_dataset(table, name, columns=columns, project=project, progress=progress)

    async def import_dataset(
        self,
        source: str | Sequence[str] | None = None,
        name: str | None = None,
        *,
        parts: Mapping[str, str | Sequence[str]] | None = None,
        files: str | None = None,
        columns: Columns | None = None,
        format: str | None = None,
        credentials: str | None = None,
        non_contiguous_queries: Literal["regroup", "error"] | None = None,
        repeated_features: Literal["last", "reject"] | None = None,
        feature_names: Mapping[str, str] | Sequence[str] | None = None,
        project: str | None = None,
    ) -> AsyncDataset:
        """Import judged data from a URL that `RANKERY_SOURCES` allows; a worker reads it.

        Args:
            source: `s3://…`, `gs://…`, `https://…`, `hf://datasets/…` or `ir_datasets:…`; several become one
                dataset. Or `upload:upl_…`, a file that a tus client has uploaded.
            name: Display name.
            parts: `train`, `validation` and `test` URLs instead; each becomes a dataset.
            files: Pattern of the names of the files in a folder: `part-*.parquet`.
            columns: Column roles of a table, as in `upload_dataset`.
            format: Detected by the content if None.
            credentials: Name of credentials that are configured in workers; never a secret.
            non_contiguous_queries: `regroup` gathers the rows of each query; `error` refuses queries whose
                rows are not contiguous.
            repeated_features: `last` uses the last value of a feature that is repeated in a LETOR row;
                `reject` refuses the data.
            feature_names: Names by feature id, or a list of them.
            project: Project label.

        Returns:
            The dataset, which is still being read; `wait` on it.

        Raises:
            RankeryApiError: The service may not read the URL.

        Example:
            ```python
            dataset = await client.import_dataset("s3://clicks/2026-05.parquet", "May")
            await dataset.wait()
            ```
        """
        return await self._import_url(
            source if source is None or isinstance(source, str) else list(source),
            name=name,
            parts=None if parts is None else dict(parts),
            files=files,
            columns=columns,
            format=format,
            credentials=credentials,
            non_contiguous_queries=non_contiguous_queries,
            repeated_features=repeated_features,
            feature_names=feature_names,
            project=project,
        )

    async def _import_url(self, source: Any, **options: Any) -> AsyncDataset:
        body = without_none({"source": source, **options})
        return self._bound(AsyncDataset, await self.transport.create("/v1/datasets", body))

    async def _upload_triple(
        self,
        data: tuple[Any, Any, Any],
        name: str | None,
        columns: Columns | None,
        feature_names: Mapping[str, str] | Sequence[str] | None,
        project: str | None,
        progress: bool | None,
    ) -> AsyncDataset:
        features, labels, group = data
        if not hasattr(labels, "__len__"):
            raise WrongType(f"labels must be an array with one label per document, not {described(labels)}")
        shape = getattr(features, "shape", (len(labels),))
        if shape[0] != len(labels):
            raise InvalidArgument(f"X has {shape[0]:,} documents, but y has {len(labels):,} labels")
        if columns is not None and set(columns) - {"categorical_features"}:
            raise InvalidArgument("with arrays, columns takes only categorical_features")
        if isinstance(feature_names, Mapping):
            raise InvalidArgument("feature_names must be a list where arrays are given")
        return await self.upload_arrays(
            features,
            labels,
            name,
            **incoming.sizes_or_ids(group, len(labels)),
            feature_names=feature_names,
            categorical_features=(columns or {}).get("categorical_features", ()),
            project=project,
            progress=progress,
        )

    async def _upload(self, upload: Upload, progress: bool | None) -> AsyncDataset:
        with upload_progress(upload.size_bytes, progress) as on_bytes:
            document = await send_upload(self.transport, "/v1/datasets", upload, on_bytes)
        return self._bound(AsyncDataset, document)


def _form_fields(options: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in options.items() if value is not None}


def _paths(named: Mapping[str, Path | str] | None) -> dict[str, Path]:
    files = mapping_of(named or {}, "a dictionary of paths by part")
    return {part: path_of(path, f"the path of {part}") for part, path in files.items()}
