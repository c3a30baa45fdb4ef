"""Schedules: run, pause and change them."""

from typing import Any, Self

from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.resource import AsyncResource
from rankery.client.reading import given, read
from rankery.client.views.schedule import ScheduleRunView, ScheduleView


class AsyncSchedule(ScheduleView, AsyncResource):
    """A schedule, as last fetched from the service."""

    async def refresh(self) -> Self:
        """Fetch the current state of the schedule.

        Returns:
            This schedule.
        """
        return self._take(await self._client.transport.get(self._path))

    async def change(self, **changes: Any) -> Self:
        """Change some of its fields; what is left out stays.

        Args:
            **changes: `name`, `cron`, `timezone`, `job`, `promote`, `only_new_data`, `enabled` and `project`.

        Raises:
            RankeryApiError: The service refused it.
        """
        return self._take(
            (await self._client.transport.request("PATCH", self._path, json=dict(changes))).json()
        )

    async def pause(self) -> Self:
        """Queue no further runs; one that is going on ends."""
        return await self.change(enabled=False)

    async def resume(self) -> Self:
        """Queue runs again, from the next time on."""
        return await self.change(enabled=True)

    async def run(self) -> ScheduleRunView:
        """Queue a run now.

        Raises:
            RankeryApiError: A run is still going on.
        """
        return read(ScheduleRunView, await self._client.transport.create(f"{self._path}/run"))

    def runs(self, status: str | None = None) -> AsyncPages[ScheduleRunView]:
        """List its runs, newest first.

        Args:
            status: Only those of this status, such as `promoted` or `failed`.
        """
        path = f"{self._path}/runs"
        selection = given({"status": status})
        return AsyncPages(self._client.transport, path, lambda one: read(ScheduleRunView, one), **selection)

    async def delete(self) -> None:
        """Delete the schedule with its runs; a job that runs goes on."""
        await self._client.transport.request("DELETE", self._path)

    @property
    def _path(self) -> str:
        return f"/v1/schedules/{self.id}"
