"""Calls about datasets."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.asynchronous.dataset import AsyncDataset
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.display.progress import transferred
from rankery.client.reading import given
from rankery.client.references import HasId, id_of
from rankery.client.uploads import Upload


class AsyncDatasetCalls(AsyncCalls):
    """Calls about datasets."""

    async def upload_dataset(
        self,
        path: Path | str | None = None,
        name: str | None = None,
        *,
        parts: Mapping[str, Path | str] | None = None,
        query_sizes: Mapping[str, Path | str] | None = None,
        progress: bool | None = None,
        **options: Any,
    ) -> AsyncDataset:
        """Upload judged data; it is read by a job and becomes `ready` or `invalid`.

        Args:
            path: The file, streamed; or None where `parts` has several.
            name: What people will call it; the file's name when left out.
            parts: `train`, `validation` and `test` files instead. Each becomes a dataset; that of the first
                is returned, and its `parts` names them all.
            query_sizes: LightGBM's query file beside each part; beside `file` for a single one.
            progress: Whether to draw a bar; where standard error is a terminal or a notebook if None.
            **options: `format`, `non_contiguous_queries`, `repeated_features`, `columns`, `feature_names`.
        """
        paths = {**({} if path is None else {"file": Path(path)}), **_paths(parts)}
        paths |= {f"{part}_query": side for part, side in _paths(query_sizes).items()}
        fields = {
            key: value if isinstance(value, str) else json.dumps(value) for key, value in options.items()
        }
        if name is not None:
            fields["name"] = name
        upload = Upload(paths, fields)
        with transferred("uploading", upload.size_bytes, progress) as on_bytes:
            document = await self.transport.upload("/v1/datasets", upload, on_bytes)
        return self._bound(AsyncDataset, document)

    async def synthetic_dataset(
        self, queries: int, *, seed: int = 0, polynomial_seed: int = 0, name: str | None = None
    ) -> AsyncDataset:
        """Have a synthetic dataset made, of random cubic polynomials (Burges et al. 2006, section 5).

        Args:
            queries: How many queries.
            seed: Of the documents and their noise.
            polynomial_seed: Of the function to be learnt; share it between training and test data.
            name: What people will call it.
        """
        body = {"queries": queries, "seed": seed, "polynomial_seed": polynomial_seed, "name": name}
        document = await self.transport.create("/v1/datasets/synthetic", given(body))
        return self._bound(AsyncDataset, document)

    def datasets(self, status: str | None = None) -> AsyncPages[AsyncDataset]:
        """List datasets, newest first.

        Args:
            status: Only `pending`, `ready` or `invalid` ones.
        """
        return self._pages(AsyncDataset, "/v1/datasets", status=status)

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


def _paths(given: Mapping[str, Path | str] | None) -> dict[str, Path]:
    return {part: Path(path) for part, path in (given or {}).items()}
