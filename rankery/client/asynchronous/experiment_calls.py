"""Calls about papers and experiments."""

from collections.abc import Mapping, Sequence
from typing import Literal

from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.asynchronous.experiment import AsyncExperiment
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.reading import given, read
from rankery.client.schemas.answers import ExperimentEntry, Paper, PaperEntry, PaperList


class AsyncExperimentCalls(AsyncCalls):
    """Calls about papers and experiments."""

    async def papers(self) -> list[PaperEntry]:
        """List the papers whose tables can be trained and measured again, oldest first."""
        return read(PaperList, await self.transport.get("/v1/papers")).items

    async def paper(self, name: str) -> Paper:
        """Return a paper's tables with methods, claims and printed numbers.

        Raises:
            RankeryApiError: There is none of this name.
        """
        return read(Paper, await self.transport.get(f"/v1/papers/{name}"))

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
        """Train and measure tables of a paper again.

        Args:
            paper: Its name, `lambdaloss-2018`.
            tables: Names of tables, `table-4`; all when None.
            scale: `paper` for the paper's protocol, `quick` for fewer trees and grid points.
            data: `synthetic` or `sparse` for drawn data, or a folder below the service's data roots; the
                paper's own choice of drawn data when None.
            dataset_ids: Ids of datasets by part, `train`, `validation` and `test`, instead of `data`.
            folds: Numbers of the folders `Fold1`, `Fold2`, … in the folder.
            dry_run: Train five trees of each loss alone, and estimate the time of everything.

        Returns:
            The experiment; `wait` for it.

        Raises:
            RankeryApiError: The service refuses it.
        """
        body = {
            "paper": paper,
            "tables": None if tables is None else list(tables),
            "scale": scale,
            "data": data,
            "dataset_ids": None if dataset_ids is None else dict(dataset_ids),
            "folds": None if folds is None else list(folds),
            "dry_run": dry_run,
        }
        return self._bound(AsyncExperiment, await self.transport.create("/v1/experiments", given(body)))

    async def experiment(self, experiment_id: str) -> AsyncExperiment:
        """Return an experiment with its report so far.

        Raises:
            RankeryApiError: There is none of this id.
        """
        return self._bound(AsyncExperiment, await self.transport.get(f"/v1/experiments/{experiment_id}"))

    def experiments(self) -> AsyncPages[ExperimentEntry]:
        """List experiments, newest first; `client.experiment` has the report of one."""
        return AsyncPages(self.transport, "/v1/experiments", lambda one: read(ExperimentEntry, one))
