"""Datasets: wait for them and read their queries."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Self

import httpx

from rankery.client.arguments import texts_field
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.resource import AsyncPages, AsyncRefreshable
from rankery.client.display.progress import download_progress
from rankery.client.reading import UNSET, Unset, read, without_none, without_unset
from rankery.client.references import escaped_path_segment
from rankery.client.schemas.answers import Corpus, FeatureProfiles, QueryEntry
from rankery.client.views.model import DatasetView
from rankery.client.views.results import Query
from rankery.errors import RankeryApiError


class AsyncData(AsyncRefreshable):
    """Data with the status `pending` until a job has read or made them."""

    job_id: str | None

    async def change(self, *, name: str | None = None, project: str | Unset | None = UNSET) -> Self:
        """Change the name or the project; omitted fields stay.

        Args:
            name: Display name.
            project: Project label; no project if None.
        """
        return await self._change(without_none({"name": name}) | without_unset({"project": project}))

    async def job(self) -> AsyncJob | None:
        """Return the job that reads or makes the data; None if there is none, or it was deleted."""
        if self.job_id is None:
            return None
        try:
            document = await self._transport.get(f"/v1/jobs/{self.job_id}")
        except RankeryApiError as error:
            if error.status != httpx.codes.NOT_FOUND:
                raise
            return None
        return AsyncJob.of(document, self._transport)

    async def wait(
        self,
        on_progress: Callable[[AsyncJob], object] | None = None,
        *,
        timeout_seconds: float | None = None,
        progress: bool | None = None,
    ) -> Self:
        """Wait until the data are ready, with a progress bar.

        Args:
            on_progress: Called with the job that reads the data after each poll.
            timeout_seconds: Timeout in seconds; None waits forever.
            progress: Whether to draw the bar; by default, in notebooks and if standard error is a terminal.

        Returns:
            This object, with the status `ready`.

        Raises:
            JobFailed: The data are invalid; the message names the first error and its location.
            TimeoutError: The data have not been read in time.
        """
        job = await self.job()
        if job is not None:
            await job.wait(on_progress, timeout_seconds=timeout_seconds, progress=progress)
        return await self.refresh()


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
        document = await self._transport.create(f"{self._path}/read-again", {"ignore": texts_field(ignore)})
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
