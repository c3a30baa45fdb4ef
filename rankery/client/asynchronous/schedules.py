"""Calls about schedules, and the schedule resource."""

from collections.abc import Mapping
from typing import Any, Self

from rankery.client.asynchronous.resource import AsyncCalls, AsyncPages, AsyncRefreshable
from rankery.client.reading import read, without_none
from rankery.client.views.study import ScheduleRunView, ScheduleView


class AsyncSchedule(ScheduleView, AsyncRefreshable):
    """A schedule, as last fetched from the service."""

    async def change(self, **changes: Any) -> Self:
        """Change fields; omitted fields stay.

        Args:
            **changes: `name`, `cron`, `timezone`, `job`, `promote`, `only_new_data` and `enabled`.
        """
        return await self._change(changes)

    async def pause(self) -> Self:
        """Pause the schedule; a run that has begun continues."""
        return await self.change(enabled=False)

    async def resume(self) -> Self:
        """Resume the schedule, from its next time on."""
        return await self.change(enabled=True)

    async def run(self) -> ScheduleRunView:
        """Queue a run now, in addition to the scheduled ones.

        Raises:
            RankeryApiError: A run has not ended yet.
        """
        return read(ScheduleRunView, await self._transport.create(f"{self._path}/run"))

    def runs(self, status: str | None = None) -> AsyncPages[ScheduleRunView]:
        """List the runs of the schedule, newest first.

        Args:
            status: Only runs of this status, such as `promoted` or `failed`.
        """
        path = f"{self._path}/runs"
        selection = without_none({"status": status})
        return AsyncPages(self._transport, path, lambda one: read(ScheduleRunView, one), **selection)

    async def delete(self) -> None:
        """Delete the schedule with its runs; a running job continues."""
        await self._delete()

    @property
    def _path(self) -> str:
        return f"/v1/schedules/{self.id}"


class AsyncScheduleCalls(AsyncCalls):
    """Calls about schedules."""

    async def create_schedule(
        self,
        name: str,
        cron: str,
        job: Mapping[str, Any],
        *,
        timezone: str | None = None,
        promote: str | Mapping[str, Any] | None = None,
        only_new_data: bool = False,
        enabled: bool = True,
        project: str | None = None,
    ) -> AsyncSchedule:
        """Create a schedule that queues a job periodically; one run replaces all missed runs.

        Args:
            name: Display name.
            cron: Minute, hour, day of the month, month and day of the week; `0 3 * * *` is 03:00 every day.
            job: A training as for `submit`, with datasets by name: `{"kind": "train", "model_name",
                "dataset": "clicks", "loss": {"name": "mse"}, …}`; each run takes the newest ready
                dataset. Or an automatic training or a study with datasets by name, or a drift job:
                `{"kind": "drift", "model": "web@champion"}`.
            timezone: Time zone of the cron expression, such as `Europe/Zurich`; UTC when left out.
            promote: Alias to promote each new version to, if its gate passes.
            only_new_data: Skip a run whose datasets are the same as in the last run.
            enabled: Whether runs are queued.
            project: Project label.

        Example:
            ```python
            job = {"kind": "train", "model_name": "web", "dataset": "clicks", "loss": {"name": "lambdarank"}}
            schedule = await client.create_schedule("nightly web", "0 3 * * *", job, promote="champion")
            print(schedule.next_run_at)
            ```
        """
        body = {
            "name": name,
            "cron": cron,
            "job": dict(job),
            "timezone": timezone,
            "promote": {"alias": promote} if isinstance(promote, str) else promote,
            "only_new_data": only_new_data,
            "enabled": enabled,
            "project": project,
        }
        return self._bound(AsyncSchedule, await self.transport.create("/v1/schedules", without_none(body)))

    def schedules(self, *, enabled: bool | None = None) -> AsyncPages[AsyncSchedule]:
        """List schedules, newest first.

        Args:
            enabled: True for only enabled schedules, False for only paused ones.
        """
        return self._pages(AsyncSchedule, "/v1/schedules", enabled=enabled)

    async def schedule(self, schedule_id: str) -> AsyncSchedule:
        """Return a schedule with its next and its last run."""
        return self._bound(AsyncSchedule, await self.transport.get(f"/v1/schedules/{schedule_id}"))
