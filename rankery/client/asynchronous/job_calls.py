"""Calls about jobs, and the jobs of a grid."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from rankery.client.arguments import texts_field
from rankery.client.asynchronous.job import AsyncJob, wait_all
from rankery.client.asynchronous.resource import AsyncCalls, AsyncPages
from rankery.client.listing import Listing
from rankery.client.reading import without_none
from rankery.client.schemas.requests import RepeatsRequest
from rankery.client.views.grid import GridView


class AsyncGrid(GridView[AsyncJob]):
    """The trainings of a grid.

    Example:
        ```python
        grid = await client.grid("web", dataset, {"num_leaves": [15, 31]}, validation=0.2)
        print((await grid.wait()).best)
        ```
    """

    async def wait(self, *, timeout_seconds: float | None = None, progress: bool | None = None) -> Self:
        """Wait until all trainings have ended, whatever their status, with a progress bar for each.

        Args:
            timeout_seconds: Timeout in seconds; None waits forever.
            progress: Whether to draw the bars; by default, in notebooks and if standard error is a terminal.

        Raises:
            TimeoutError: A job has not ended in time.
        """
        await wait_all(self.jobs, timeout_seconds=timeout_seconds, progress=progress)
        return self


class AsyncJobCalls(AsyncCalls):
    """Calls about jobs."""

    async def submit(self, job: Mapping[str, Any]) -> AsyncJob:
        """Submit a job with the fields of the HTTP API.

        Args:
            job: `{"kind": "train" | "auto-train" | "evaluate" | "rank" | "compare" | "inspect", …}`.
        """
        return self._bound(AsyncJob, await self.transport.create("/v1/jobs", dict(job)))

    async def submit_all(
        self, jobs: Sequence[Mapping[str, Any]], *, repeats: int | RepeatsRequest | None = None
    ) -> Listing[AsyncJob]:
        """Submit several jobs, such as the trainings of a grid; if one is refused, none is queued.

        Args:
            jobs: Jobs in the form of `submit`.
            repeats: Number of submissions of each training, on bootstrap samples of its queries with
                consecutive seeds; or `{"count", "by"}`.

        Raises:
            RankeryApiError: The service refused a job; the message names it by its position, `/jobs/0`.
        """
        repeat_options = repeats if repeats is None or isinstance(repeats, Mapping) else {"count": repeats}
        batch = without_none({"jobs": [dict(job) for job in jobs], "repeats": repeat_options})
        answer = await self.transport.create("/v1/jobs/batch", batch)
        return Listing(self._bound(AsyncJob, job) for job in answer["jobs"])

    def jobs(
        self,
        *,
        kind: str | None = None,
        status: str | None = None,
        tag: str | Sequence[str] | None = None,
        project: str | None = None,
        folded: bool | None = None,
    ) -> AsyncPages[AsyncJob]:
        """List jobs, newest first.

        Args:
            kind: Only jobs of this kind, such as `train`.
            status: Only jobs that are `queued`, `running`, `succeeded`, `refused`, `failed` or `cancelled`.
            tag: Only jobs with a tag, as `name` or `name:value`; with all tags of a list.
            project: Only jobs of this project; `-` for no project.
            folded: Leave out the candidates of automatic trainings, and all trials of each study except the
                last.
        """
        return self._pages(
            AsyncJob,
            "/v1/jobs",
            kind=kind,
            status=status,
            tag=texts_field(tag),
            project=project,
            folded=folded,
        )

    async def job(self, job_id: str) -> AsyncJob:
        """Return a job with its status, progress, metrics, result and problem."""
        return self._bound(AsyncJob, await self.transport.get(f"/v1/jobs/{job_id}"))

    async def wait_all(
        self,
        jobs: Iterable[AsyncJob],
        *,
        timeout_seconds: float | None = None,
        progress: bool | None = None,
    ) -> Listing[AsyncJob]:
        """Wait until all jobs have ended, whatever their status, with a progress bar for each.

        Args:
            jobs: The jobs.
            timeout_seconds: Timeout in seconds; None waits forever.
            progress: Whether to draw the bars; by default, in notebooks and if standard error is a terminal.

        Returns:
            The same jobs; failed jobs have a `problem`.

        Raises:
            TimeoutError: A job has not ended in time.
            WrongType: An item is not a job of the client, such as an id.
        """
        return await wait_all(jobs, timeout_seconds=timeout_seconds, progress=progress)
