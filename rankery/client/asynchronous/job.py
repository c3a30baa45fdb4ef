"""Jobs: wait for, follow and cancel them, and fetch their results."""

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Self

from rankery.client.asynchronous.deletable import AsyncDeletable
from rankery.client.display.progress import followed
from rankery.client.reading import read
from rankery.client.unset import UNSET, Unset, chosen
from rankery.client.views.history import History
from rankery.client.views.job import JobView
from rankery.errors import JobFailed, JobRefused

if TYPE_CHECKING:
    from rankery.client.asynchronous.comparison import AsyncComparison
    from rankery.client.asynchronous.evaluation import AsyncEvaluation
    from rankery.client.asynchronous.model import AsyncModel
    from rankery.client.asynchronous.ranking import AsyncRanking
    from rankery.client.views.inspection import Inspection

_LONGEST_INTERVAL_SECONDS = 2.0
_SLOWER = 1.1


class AsyncJob(JobView, AsyncDeletable):
    """A job, as last fetched from the service.

    `refresh` and `wait` bring it up to date in place.

    Example:
        ```python
        job = await client.train("web", dataset, "ndcg-loss2++", validation=0.2)
        model = await (await job.wait()).model()
        ```
    """

    async def refresh(self) -> Self:
        """Fetch the current state of the job.

        Returns:
            This job.
        """
        return self._take(await self._client.transport.get(self._path))

    async def wait(
        self,
        on_progress: Callable[[Self], object] | None = None,
        *,
        timeout_seconds: float | None = None,
        interval_seconds: float = 0.2,
        progress: bool | None = None,
    ) -> Self:
        """Wait until the job has ended; a bar shows its iterations, time left and validation metric.

        Interrupted from the keyboard, the job goes on.

        Args:
            on_progress: Called with the job each time it was asked for.
            timeout_seconds: Give up after so long; None waits for ever.
            interval_seconds: The first pause between two questions; later ones grow, to 2 s.
            progress: Whether to draw the bar; where standard error is a terminal or a notebook if None.

        Returns:
            This job, which has succeeded.

        Raises:
            JobFailed: It failed or was cancelled; `JobRefused` where a gate refused the version.
            TimeoutError: It has not ended in time.
        """
        deadline = None if timeout_seconds is None else monotonic() + timeout_seconds
        interval = interval_seconds
        with followed([self], progress) as show:
            while True:
                await self.refresh()
                show(self)
                if on_progress is not None:
                    on_progress(self)
                if self.status == "succeeded":
                    return self
                if self.has_ended:
                    raise JobRefused(self) if self.status == "refused" else JobFailed(self)
                if deadline is not None and monotonic() > deadline:
                    raise TimeoutError(f"job {self.id} is still {self.status} after {timeout_seconds:g} s")
                await asyncio.sleep(interval)
                interval = min(interval * _SLOWER, max(interval_seconds, _LONGEST_INTERVAL_SECONDS))

    async def cancel(self) -> Self:
        """Ask the job to stop; a queued one stops at once, a running one within a second or so.

        Returns:
            This job.

        Raises:
            RankeryApiError: It has ended already.
        """
        path = f"{self._path}/cancel"
        response = await self._client.transport.request("POST", path, repeatable=False)
        return self._take(response.json())

    async def change(
        self,
        *,
        name: str | Unset | None = UNSET,
        notes: str | Unset | None = UNSET,
        tags: Mapping[str, str | None] | None = None,
        project: str | Unset | None = UNSET,
    ) -> Self:
        """Change how people find it; omitted fields stay.

        Args:
            name: What it is called; the usual title again if None.
            notes: Whatever they note.
            tags: Tags to set; those that are None go, all others stay.
            project: The project of the job and its results; none if None.

        Returns:
            This job.
        """
        body = chosen({"name": name, "notes": notes, "project": project})
        body |= {} if tags is None else {"tags": dict(tags)}
        return self._take((await self._client.transport.request("PATCH", self._path, json=body)).json())

    async def history(self, after: int = 0) -> History:
        """Return a training's learning curves.

        Args:
            after: Leave out iterations up to this one.
        """
        return read(History, await self._client.transport.get(f"{self._path}/history", after=after))

    async def model(self) -> "AsyncModel":
        """Return the model that the job made.

        Raises:
            NothingMade: There is none (yet).
        """
        return await self._client.model(await self._made("model_id"))

    async def evaluation(self) -> "AsyncEvaluation":
        """Return the evaluation that the job made; a training makes one where it has a test dataset.

        Raises:
            NothingMade: There is none (yet).
        """
        return await self._client.evaluation(await self._made("evaluation_id"))

    async def comparison(self) -> "AsyncComparison":
        """Return the comparison that the job made.

        Raises:
            NothingMade: There is none (yet).
        """
        return await self._client.comparison(await self._made("comparison_id"))

    async def ranking(self) -> "AsyncRanking":
        """Return the ranking that the job made.

        Raises:
            NothingMade: There is none (yet).
        """
        return await self._client.ranking(await self._made("ranking_id"))

    async def inspection(self) -> "Inspection":
        """Return the inspection that the job made.

        Raises:
            NothingMade: There is none (yet).
        """
        return await self._client.inspection(await self._made("inspection_id"))

    async def _made(self, name: str) -> str:
        if not self.has_ended:
            await self.refresh()
        return self.made(name)

    @property
    def _path(self) -> str:
        return f"/v1/jobs/{self.id}"
