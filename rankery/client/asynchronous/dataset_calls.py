"""Calls about datasets."""

from collections.abc import Mapping, Sequence
from typing import Literal

from rankery.client.arguments import Columns
from rankery.client.asynchronous.dataset import AsyncDataset
from rankery.client.asynchronous.dataset_references import AsyncDatasetReferences
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.reading import read, without_none
from rankery.client.references import HasId, id_of
from rankery.client.schemas.answers import DataFolder


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
        """Return a dataset with its statistics and findings, or with the problem found in it.

        Raises:
            RankeryApiError: The id is unknown.
        """
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
