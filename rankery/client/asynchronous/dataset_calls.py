"""Calls about datasets."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rankery.client.arguments import Columns
from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.asynchronous.dataset import AsyncDataset
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.display.progress import transferred
from rankery.client.frames.incoming import Frame, as_arrays, as_table, written
from rankery.client.reading import given
from rankery.client.references import HasId, id_of
from rankery.client.uploads import Upload
from rankery.errors import DataUnusable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class AsyncDatasetCalls(AsyncCalls):
    """Calls about datasets."""

    async def upload_dataset(
        self,
        data: Path | str | Frame | None = None,
        name: str | None = None,
        *,
        columns: Columns | None = None,
        parts: Mapping[str, Path | str] | None = None,
        query_sizes: Mapping[str, Path | str] | None = None,
        format: str | None = None,
        non_contiguous_queries: Literal["regroup", "error"] | None = None,
        repeated_features: Literal["last", "reject"] | None = None,
        feature_names: Mapping[str, str] | Sequence[str] | None = None,
        progress: bool | None = None,
    ) -> AsyncDataset:
        """Upload judged data; it is read by a job and becomes `ready` or `invalid`.

        Args:
            data: A file (LETOR, LightGBM, CSV, TSV, Parquet or TREC qrels; plain, gzip or Zstandard), which
                is streamed; or a data frame of pandas, polars or Arrow with a row a document, sent as
                Parquet; or None where `parts` has several files.
            name: What people will call it; the file's name when left out.
            columns: Which columns of a table are what: `{"label": "grade", "query": "session"}`; told by the
                usual names where left out.
            parts: `train`, `validation` and `test` files instead. Each becomes a dataset; that of the first
                is returned, and its `parts` names them all.
            query_sizes: LightGBM's query file beside each part; beside `file` for a single one.
            format: `letor`, `lightgbm`, `csv`, `parquet` or `trec-qrels`; told by the content if None.
            non_contiguous_queries: Whether a query whose rows do not stand together is gathered or refused.
            repeated_features: Whether a feature that comes twice in a LETOR row counts with its last value.
            feature_names: Names by feature id, or a list of them.
            progress: Whether to draw a bar; where standard error is a terminal or a notebook if None.

        Returns:
            The dataset, which is still being read; `wait` on it.

        Raises:
            FileUnusable: A file cannot be read.
            DataUnusable: The data frame cannot be sent.
            RankeryApiError: The service refused it.

        Example:
            ```python
            dataset = await client.upload_dataset("train.txt.gz")
            dataset = await client.upload_dataset(frame, "clicks", columns={"label": "clicked"})
            await dataset.wait()
            ```
        """
        paths = _paths(parts)
        paths |= {f"{part}_query": side for part, side in _paths(query_sizes).items()}
        options = {
            "name": name,
            "format": format,
            "non_contiguous_queries": non_contiguous_queries,
            "repeated_features": repeated_features,
            "columns": columns and json.dumps(columns),
            "feature_names": feature_names and json.dumps(feature_names),
        }
        fields = {key: str(value) for key, value in options.items() if value is not None}
        if isinstance(data, Frame):
            with written(as_table(data)) as path:
                return await self._upload(Upload({"file": path, **paths}, fields), progress)
        if data is not None:
            paths["file"] = Path(data)
        return await self._upload(Upload(paths, fields), progress)

    async def upload_arrays(
        self,
        features: "ArrayLike",
        labels: "ArrayLike",
        name: str | None = None,
        *,
        query_sizes: "ArrayLike | None" = None,
        query_ids: "ArrayLike | None" = None,
        document_ids: "ArrayLike | None" = None,
        feature_names: Sequence[str] | None = None,
        progress: bool | None = None,
    ) -> AsyncDataset:
        """Upload judged data from arrays of numpy.

        Args:
            features: (n_documents, n_features); NaN is a missing value.
            labels: (n_documents,).
            name: What people will call it.
            query_sizes: (n_queries,) documents of each query, in order; or `query_ids`.
            query_ids: (n_documents,).
            document_ids: (n_documents,).
            feature_names: Names by column; `f1`, `f2`, … when left out.
            progress: Whether to draw a bar; where standard error is a terminal or a notebook if None.

        Returns:
            The dataset, which is still being read; `wait` on it.

        Raises:
            DataUnusable: The shapes do not fit each other.
            RankeryApiError: The service refused it.
        """
        if query_sizes is None and query_ids is None:
            raise DataUnusable("give query_sizes, the documents of each query, or query_ids, one a document")
        table = as_arrays(
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
        return await self.upload_dataset(table, name, columns=columns, progress=progress)

    async def synthetic_dataset(
        self, queries: int, *, seed: int = 0, polynomial_seed: int = 0, name: str | None = None
    ) -> AsyncDataset:
        """Generate a synthetic dataset from random cubic polynomials (Burges et al. 2006, section 5).

        Args:
            queries: How many queries.
            seed: Of the documents and their noise.
            polynomial_seed: Of the function to be learnt; share it between training and test data.
            name: What people will call it.
        """
        body = {"queries": queries, "seed": seed, "polynomial_seed": polynomial_seed, "name": name}
        document = await self.transport.create("/v1/datasets/synthetic", given(body))
        return self._bound(AsyncDataset, document)

    def datasets(
        self, status: str | None = None, *, name: str | None = None, sha256: str | None = None
    ) -> AsyncPages[AsyncDataset]:
        """List datasets, newest first.

        Args:
            status: Only `pending`, `ready` or `invalid` ones.
            name: Only those of this name.
            sha256: Only those whose bytes, as sent, hash to this.
        """
        return self._pages(AsyncDataset, "/v1/datasets", status=status, name=name, sha256=sha256)

    async def dataset(self, dataset_id: str) -> AsyncDataset:
        """Return a dataset with its statistics and findings, or with the problem found in it.

        Raises:
            RankeryApiError: There is none of this id.
        """
        return self._bound(AsyncDataset, await self.transport.get(f"/v1/datasets/{dataset_id}"))

    async def delete_dataset(self, dataset: str | HasId) -> None:
        """Remove a dataset; what was trained or measured on it stays.

        Raises:
            RankeryApiError: A job or a gate uses it, or there is none.
        """
        await self.transport.request("DELETE", f"/v1/datasets/{id_of(dataset)}")

    async def _upload(self, upload: Upload, progress: bool | None) -> AsyncDataset:
        with transferred("uploading", upload.size_bytes, progress) as on_bytes:
            document = await self.transport.upload("/v1/datasets", upload, on_bytes)
        return self._bound(AsyncDataset, document)


def _paths(given: Mapping[str, Path | str] | None) -> dict[str, Path]:
    return {part: Path(path) for part, path in (given or {}).items()}
