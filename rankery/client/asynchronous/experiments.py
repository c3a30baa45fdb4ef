"""Calls about papers and experiments, and the experiment resource."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, Self

from rankery.client.arguments import texts_field
from rankery.client.asynchronous.resource import AsyncCalls, AsyncPages, AsyncWork
from rankery.client.display.progress import continuing, steps_progress
from rankery.client.reading import read, without_none
from rankery.client.schemas import answers
from rankery.client.views.lifecycle import DeletionView
from rankery.client.views.study import ExperimentView
from rankery.errors import ExperimentFailed


class AsyncExperiment(ExperimentView, AsyncWork):
    """An experiment, as last fetched from the service.

    Example:
        ```python
        experiment = await client.run_experiment("lambda-ex-2023", ["table-5"], data="sparse")
        print(await (await experiment.wait()).download_report("markdown"))
        ```
    """

    _noun = "experiment"
    _interval_seconds = 0.5
    _longest_interval_seconds = 5.0

    @contextmanager
    def _progress(self, progress: bool | None) -> Iterator[Callable[[], None]]:
        title = f"{self.paper} ({self.scale})"
        with continuing("experiment", [self.id]), steps_progress(title, progress) as show:
            yield lambda: show(self.done, self.total or None, self._news())

    def _failure(self) -> Exception:
        return ExperimentFailed(self)

    async def cancel(self) -> Self:
        """Cancel the experiment and its trainings, except those that another experiment needs.

        Raises:
            RankeryApiError: The experiment has already ended.
        """
        return await self._post("cancel")

    async def resume(self) -> Self:
        """Resume the experiment; trainings that failed or were cancelled are queued again.

        Raises:
            RankeryApiError: The experiment is running, or complete.
        """
        return await self._post("resume")

    async def delete(self, *, permanently: bool = False) -> DeletionView:
        """Move the experiment to the trash; `client.restore` restores it. Its jobs and models stay.

        Its trainings have the tag `grid` with the id of the experiment, for `client.delete("jobs", where=…)`.

        Args:
            permanently: Delete permanently instead of moving to the trash.

        Raises:
            RankeryApiError: The experiment has not ended.
        """
        return await self._deletion(permanently=permanently)

    async def trainings(self) -> list[answers.ExperimentTraining]:
        """List the trainings that the experiment needs, with their jobs."""
        document = await self._transport.get(f"{self._path}/trainings")
        return read(answers.ExperimentTrainings, document).items

    async def download_report(self, format: Literal["markdown", "csv", "latex"] = "markdown") -> str:
        """Return the latest report as text.

        Args:
            format: `markdown`, `csv` with one line for each number, or `latex` with one table environment per
                table.

        Raises:
            RankeryApiError: No table is complete yet.
        """
        response = await self._transport.request("GET", f"{self._path}/report", parameters={"format": format})
        return response.text

    def _news(self) -> str:
        failed = f", {self.counts.failed:,} failed" if self.counts.failed else ""
        if not self.total:
            return self.status
        return f"{self.status}, {self.done:,} of {self.total:,} trainings{failed}"

    @property
    def _path(self) -> str:
        return f"/v1/experiments/{self.id}"


class AsyncExperimentCalls(AsyncCalls):
    """Calls about papers and experiments."""

    async def papers(self) -> list[answers.PaperEntry]:
        """List the papers whose tables can be reproduced, oldest first."""
        return read(answers.PaperList, await self.transport.get("/v1/papers")).items

    async def paper(self, name: str) -> answers.Paper:
        """Return the tables of a paper with methods, claims and published numbers."""
        return read(answers.Paper, await self.transport.get(f"/v1/papers/{name}"))

    async def run_experiment(
        self,
        paper: str,
        tables: Sequence[str] | None = None,
        *,
        scale: Literal["quick", "paper"] = "quick",
        data: str | None = None,
        dataset_ids: Mapping[str, str] | None = None,
        folds: Sequence[int] | None = None,
        dry_run: bool = False,
    ) -> AsyncExperiment:
        """Reproduce tables of a paper.

        Args:
            paper: Name of the paper, such as `lambdaloss-2018`.
            tables: Names of tables, such as `table-4`; all when None.
            scale: `paper` for the paper's protocol, `quick` for fewer trees and grid points.
            data: `synthetic` or `sparse` for generated data, or a folder below the service's data roots; the
                paper's choice of generated data when None.
            dataset_ids: Ids of datasets by part, `train`, `validation` and `test`, instead of `data`.
            folds: Numbers of the folders `Fold1`, `Fold2`, … in the folder.
            dry_run: Train only five trees or epochs of each loss, and estimate the total time.

        Returns:
            The experiment; `wait` for it.
        """
        body = {
            "paper": paper,
            "tables": texts_field(tables),
            "scale": scale,
            "data": data,
            "dataset_ids": None if dataset_ids is None else dict(dataset_ids),
            "folds": None if folds is None else list(folds),
            "dry_run": dry_run,
        }
        return self._bound(
            AsyncExperiment, await self.transport.create("/v1/experiments", without_none(body))
        )

    async def experiment(self, experiment_id: str) -> AsyncExperiment:
        """Return an experiment with its report so far."""
        return self._bound(AsyncExperiment, await self.transport.get(f"/v1/experiments/{experiment_id}"))

    def experiments(self) -> AsyncPages[answers.ExperimentEntry]:
        """List experiments, newest first; `client.experiment` has the report of one."""
        return AsyncPages(self.transport, "/v1/experiments", lambda one: read(answers.ExperimentEntry, one))
