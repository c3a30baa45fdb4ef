"""Datasets: wait for them and read their queries."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from rankery.client.asynchronous.data import AsyncData
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.display.progress import download_progress
from rankery.client.reading import read
from rankery.client.references import escaped_path_segment
from rankery.client.schemas.answers import Corpus, FeatureProfiles, QueryEntry
from rankery.client.views.data import DatasetView
from rankery.client.views.query import Query


class AsyncDataset(DatasetView, AsyncData):
    """A judged dataset, as last fetched from the service."""

    async def read_again(self, ignore: Sequence[str] = ()) -> Self:
        """Read the files of an invalid dataset again, perhaps without some columns; `wait` on it.

        Args:
            ignore: Columns to leave out, in addition to those that were ignored before; at least one for an
                upload. Files at URLs or in a folder are read as they are now.

        Returns:
            This dataset, which is being read.

        Raises:
            RankeryApiError: The dataset is not invalid, or its upload was deleted.
        """
        document = await self._transport.create(f"{self._path}/read-again", {"ignore": list(ignore)})
        return self._update_from(document)

    async def download(
        self,
        path: Path | str,
        format: Literal["parquet", "letor"] = "parquet",
        *,
        progress: bool | None = None,
    ) -> Path:
        """Download the dataset into a file; uploading the file gives the same dataset.

        An interrupted download of Parquet resumes, in this call or in the next one with the same file. A
        download of LETOR, or of a dataset with categories, restarts.

        Args:
            path: Target file, written atomically. Until it is complete, a hidden file is beside it.
            format: `parquet`, or `letor`, which holds neither names of features nor weights.
            progress: Whether to draw a bar; by default, in notebooks and if standard error is a terminal.

        Returns:
            The file.

        Raises:
            FileUnusable: The file cannot be written.
            RankeryApiError: The dataset is not ready, or cannot be written as LETOR.
        """
        target = Path(path)
        with download_progress(f"downloading {target.name}", progress) as on_bytes:
            await self._transport.download(
                "GET", f"{self._path}/download", target, parameters={"format": format}, on_bytes=on_bytes
            )
        return target

    async def delete(self, *, permanently: bool = False) -> None:
        """Move the dataset to the trash; `client.restore` restores it. Models trained on it stay.

        Args:
            permanently: Delete permanently instead of moving to the trash.

        Raises:
            RankeryApiError: Jobs or gates use the dataset; the problem lists them.
        """
        await self._delete(permanently=permanently)

    def queries(self, prefix: str | None = None) -> AsyncPages[QueryEntry]:
        """List the queries, in the order of the dataset.

        Args:
            prefix: Only queries whose ids have this prefix.
        """
        path = f"{self._path}/queries"
        return AsyncPages(self._transport, path, lambda one: read(QueryEntry, one), prefix=prefix)

    async def query(self, query_id: str | int, *, offset: int = 0, limit: int = 100) -> Query:
        """Return documents of one query, with their labels and features.

        Args:
            query_id: The query.
            offset: Number of documents to skip.
            limit: Largest number of documents to return.

        Raises:
            RankeryApiError: There is no such query.
        """
        path = f"{self._path}/queries/{escaped_path_segment(str(query_id))}"
        return read(Query, await self._transport.get(path, offset=offset, limit=limit))

    async def features(self) -> FeatureProfiles:
        """Return the profile of each feature."""
        return read(FeatureProfiles, await self._transport.get(f"{self._path}/features"))

    async def corpus(self) -> Corpus:
        """Identify the public corpus of the dataset by its published counts.

        Raises:
            RankeryApiError: The dataset has not been read yet.
        """
        return read(Corpus, await self._transport.get(f"{self._path}/corpus"))

    @property
    def _path(self) -> str:
        return f"/v1/datasets/{self.id}"
