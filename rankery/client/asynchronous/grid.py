"""The trainings of a grid: wait for them and see the best."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from rankery.client.asynchronous.job import AsyncJob
from rankery.client.listing import Listing
from rankery.client.views.grid import GridView

if TYPE_CHECKING:
    from rankery.client.asynchronous.job_calls import AsyncJobCalls


class AsyncGrid(GridView[AsyncJob]):
    """The trainings of a grid.

    Example:
        ```python
        grid = await client.grid("web", dataset, {"num_leaves": [15, 31]}, validation=0.2)
        print((await grid.wait()).best)
        ```
    """

    def __init__(
        self,
        client: "AsyncJobCalls",
        jobs: Listing[AsyncJob],
        parameters: Sequence[str],
        metric: str,
        *,
        higher_is_better: bool,
    ) -> None:
        super().__init__(jobs, parameters, metric, higher_is_better=higher_is_better)
        self._client = client

    async def wait(self, *, timeout_seconds: float | None = None, progress: bool | None = None) -> Self:
        """Wait until all trainings have ended, well or not, with a bar for each.

        Args:
            timeout_seconds: Give up after so long; None waits for ever.
            progress: Whether to draw the bars; where standard error is a terminal or a notebook if None.

        Returns:
            This grid.

        Raises:
            TimeoutError: They have not all ended in time.
        """
        await self._client.wait_all(self.jobs, timeout_seconds=timeout_seconds, progress=progress)
        return self
