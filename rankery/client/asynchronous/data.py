"""Base of datasets and click logs, which a job reads or makes."""

from collections.abc import Callable
from typing import Self

import httpx

from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.resource import AsyncRefreshable
from rankery.client.reading import UNSET, Unset, without_none, without_unset
from rankery.errors import RankeryApiError


class AsyncData(AsyncRefreshable):
    """Data with the status `pending` until a job has read or made them."""

    job_id: str | None

    async def change(self, *, name: str | None = None, project: str | Unset | None = UNSET) -> Self:
        """Change the name or the project; omitted fields stay.

        Args:
            name: Display name.
            project: Project label; no project if None.

        Returns:
            This object.
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
