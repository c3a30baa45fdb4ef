"""Studies: wait for, pause and extend them."""

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Self

from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.resource import AsyncResource
from rankery.client.reading import given, read
from rankery.client.schemas.answers import StudyImportance, Trial
from rankery.client.views.study import StudyView
from rankery.errors import StudyFailed


class AsyncStudy(StudyView, AsyncResource):
    """A study, as last fetched from the service.

    Example:
        ```python
        study = await client.tune("web", dataset, {"/hyperparameters/num_leaves": (4, 64, "log")}, trials=30)
        print((await study.wait()).sentence)
        ```
    """

    async def refresh(self) -> Self:
        """Fetch the current state of the study.

        Returns:
            This study.
        """
        return self._take(await self._client.transport.get(self._path))

    async def wait(
        self,
        on_progress: Callable[[Self], object] | None = None,
        *,
        timeout_seconds: float | None = None,
        interval_seconds: float = 1.0,
    ) -> Self:
        """Wait until the study has concluded.

        Args:
            on_progress: Called with the study each time it was asked for.
            timeout_seconds: Give up after so long; None waits for ever.
            interval_seconds: The pause between two questions.

        Returns:
            This study, which has a conclusion.

        Raises:
            StudyFailed: It failed or was cancelled.
            TimeoutError: It has not ended in time.
        """
        deadline = None if timeout_seconds is None else monotonic() + timeout_seconds
        while True:
            await self.refresh()
            if on_progress is not None:
                on_progress(self)
            if self.status == "succeeded":
                return self
            if self.has_ended:
                raise StudyFailed(self)
            if deadline is not None and monotonic() > deadline:
                raise TimeoutError(f"study {self.id} is still {self.status} after {timeout_seconds:g} s")
            await asyncio.sleep(interval_seconds)

    def trials(self) -> AsyncPages[Trial]:
        """List the trials by number."""
        return AsyncPages(self._client.transport, f"{self._path}/trials", lambda one: read(Trial, one))

    async def add_trial(self, parameters: Mapping[str, Any]) -> Trial:
        """Queue a trial with given parameters, beyond the budget.

        Args:
            parameters: A value of each active parameter by pointer.

        Raises:
            RankeryApiError: They are not of the search space, or the study does not run any more.
        """
        body = {"parameters": dict(parameters)}
        return read(Trial, await self._client.transport.create(f"{self._path}/trials", body))

    async def pause(self) -> Self:
        """Queue no further trials; those that are queued or run go on to their end."""
        return await self._post("pause")

    async def resume(self) -> Self:
        """Queue trials again."""
        return await self._post("resume")

    async def cancel(self) -> Self:
        """Stop the study; nothing is concluded."""
        return await self._post("cancel")

    async def extend(self, trials: int | None = None, *, parallel_trials: int | None = None) -> Self:
        """Change the budget while the study runs or is paused.

        Args:
            trials: Trials at most, those so far among them.
            parallel_trials: Trials that are queued or run at a time.
        """
        changes = given({"trials": trials, "parallel_trials": parallel_trials})
        response = await self._client.transport.request("PATCH", self._path, json=changes, repeatable=True)
        return self._take(response.json())

    async def clone(self, **changes: Any) -> "AsyncStudy":
        """Submit a new study like this one.

        Args:
            **changes: `name`, `sampler`, `pruner`, `budget`, `parallel_trials`, `seed` and `test`.
        """
        return AsyncStudy.of(
            await self._client.transport.create(f"{self._path}/clone", dict(changes)), self._client
        )

    async def delete(self, *, permanently: bool = False) -> None:
        """Move it with its trials to the trash, from which `client.restore` brings it back; its jobs stay.

        Args:
            permanently: Free its bytes at once instead.

        Raises:
            RankeryApiError: It has not ended.
        """
        parameters = {"permanently": permanently or None}
        await self._client.transport.request("DELETE", self._path, parameters=parameters, repeatable=True)

    async def importance(self) -> StudyImportance:
        """Return which parameters decide the value of a trial."""
        return read(StudyImportance, await self._client.transport.get(f"{self._path}/importance"))

    async def _post(self, action: str) -> Self:
        path = f"{self._path}/{action}"
        response = await self._client.transport.request("POST", path, repeatable=False)
        return self._take(response.json())

    @property
    def _path(self) -> str:
        return f"/v1/studies/{self.id}"
