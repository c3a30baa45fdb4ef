"""Evaluations, comparisons and rankings."""

import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rankery.client.asynchronous.resource import AsyncDeletable, AsyncPages
from rankery.client.display import plots
from rankery.client.display.progress import download_progress
from rankery.client.frames.outgoing import as_numpy, as_pandas, as_polars
from rankery.client.reading import read
from rankery.client.schemas.answers import ComparedQuery, Differences, QueryRankings, QueryValues, RankingItem
from rankery.client.views.results import ComparisonView, EvaluationView, RankingView

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow as pa


class AsyncTabular(ABC):
    """A resource that converts to a table."""

    @abstractmethod
    async def to_arrow(self) -> "pa.Table":
        """Fetch all rows as an Arrow table."""

    async def to_pandas(self) -> "pandas.DataFrame":
        """Fetch all rows as a pandas data frame.

        Raises:
            PackageMissing: pandas is not installed.
        """
        return as_pandas(await self.to_arrow())

    async def to_polars(self) -> "polars.DataFrame":
        """Fetch all rows as a polars data frame.

        Raises:
            PackageMissing: polars is not installed.
        """
        return as_polars(await self.to_arrow())

    async def to_numpy(self) -> "dict[str, np.ndarray[Any, Any]]":
        """Fetch all columns as arrays, by name."""
        return as_numpy(await self.to_arrow())


class AsyncEvaluation(EvaluationView, AsyncDeletable, AsyncTabular):
    """A model or a ranking measured on a dataset."""

    def queries(
        self,
        sort: str | None = None,
        *,
        order: Literal["asc", "desc"] | None = None,
        least: float | None = None,
        most: float | None = None,
        segment: str | None = None,
    ) -> AsyncPages[QueryValues]:
        """List the metric values of each query; None if a metric is undefined.

        Args:
            sort: Sort by this metric; in the dataset's order when left out.
            order: Sort order; ascending when left out.
            least: Only queries with at least this value of `sort`, or of the first metric without `sort`.
            most: Only queries with at most this value.
            segment: Only the queries of a segment, such as `market: de`.
        """
        path = f"{self._path}/queries"
        selection = {"sort": sort, "order": order, "min": least, "max": most, "segment": segment}
        return AsyncPages(self._transport, path, lambda one: read(QueryValues, one), **selection)

    async def to_arrow(self) -> "pa.Table":
        """Fetch the values of all queries: `query_id` and one column per metric, null if undefined."""
        from rankery.client.frames.arrow import pa

        rows = await self.queries().all()
        columns = {
            metric: pa.array([row.values.get(metric) for row in rows], pa.float64())
            for metric in self.metrics
        }
        return pa.table({"query_id": pa.array([row.query_id for row in rows], pa.string()), **columns})

    @property
    def _path(self) -> str:
        return f"/v1/evaluations/{self.id}"


class AsyncComparison(ComparisonView, AsyncDeletable, AsyncTabular):
    """Systems compared on the queries of one dataset."""

    def queries(
        self,
        sort: Literal["difference", "a", "b"] | None = None,
        *,
        order: Literal["asc", "desc"] | None = None,
        least: float | None = None,
        most: float | None = None,
        segment: str | None = None,
        a: int = 0,
        b: int = 1,
        metric: str | None = None,
    ) -> AsyncPages[ComparedQuery]:
        """List the values of each query, one for each system; None if undefined.

        Args:
            sort: Sort by the difference B − A or by the values of a system; in the dataset's order when left
                out.
            order: Sort order; ascending when left out.
            least: Only queries with at least this value of `sort`, or of the difference without `sort`.
            most: Only queries with at most this value.
            segment: Only the queries of a segment, such as `market: de`.
            a: Index of system A in `systems`, from 0.
            b: Index of system B.
            metric: The metric; the first one when left out.
        """
        path = f"{self._path}/queries"
        selection = {"sort": sort, "order": order, "min": least, "max": most, "segment": segment}
        pair = {"a": a, "b": b, "metric": metric}
        return AsyncPages(self._transport, path, lambda one: read(ComparedQuery, one), **selection, **pair)

    async def differences(self, a: int = 0, b: int = 1, metric: str | None = None) -> Differences:
        """Return the differences B − A of all queries, in ascending order, for a plot.

        Args:
            a: Index of system A in `systems`, from 0.
            b: Index of system B.
            metric: The metric; the first one when left out.
        """
        path = f"{self._path}/differences"
        return read(Differences, await self._transport.get(path, a=a, b=b, metric=metric))

    async def rankings(self, query_id: str, top: int | None = None) -> QueryRankings:
        """Return the rankings of one query by all systems.

        Args:
            query_id: The query.
            top: Number of documents of each ranking.
        """
        path = f"{self._path}/rankings"
        return read(QueryRankings, await self._transport.get(path, query_id=query_id, top=top))

    async def plot(self, a: int = 0, b: int = 1, metric: str | None = None) -> Any:
        """Draw the differences B − A of all queries, in ascending order.

        Args:
            a: Index of system A in `systems`, from 0.
            b: Index of system B.
            metric: The metric; the first one when left out.

        Returns:
            A `plotly.graph_objects.Figure`.
        """
        differences = await self.differences(a, b, metric)
        return plots.differences(
            differences, self.systems[a].name, self.systems[b].name, metric or self.metrics[0]
        )

    async def to_arrow(self) -> "pa.Table":
        """Fetch the values of all queries: `query_id` and columns such as `ndcg@10 web:3`."""
        from rankery.client.frames.arrow import pa

        rows = await self.queries().all()
        columns = {
            f"{metric} {system.name}": pa.array([row.values[metric][index] for row in rows], pa.float64())
            for metric in self.metrics
            for index, system in enumerate(self.systems)
        }
        return pa.table({"query_id": pa.array([row.query_id for row in rows], pa.string()), **columns})

    @property
    def _path(self) -> str:
        return f"/v1/comparisons/{self.id}"


class AsyncRanking(RankingView, AsyncDeletable, AsyncTabular):
    """A stored ranking of a dataset's queries."""

    def queries(self) -> AsyncPages[RankingItem]:
        """List the queries in the order of the dataset, each with its documents, best first."""
        return AsyncPages(self._transport, self._path, lambda one: read(RankingItem, one))

    async def download(
        self,
        path: Path | str,
        format: Literal["trec", "parquet"] = "parquet",
        *,
        progress: bool | None = None,
    ) -> Path:
        """Download the ranking into a file.

        Args:
            path: Target file, written atomically.
            format: `parquet`, or `trec` for a run that any evaluation tool reads.
            progress: Whether to draw a bar; by default, in notebooks and if standard error is a terminal.

        Raises:
            FileUnusable: The file cannot be written.
        """
        target = Path(path)
        with download_progress(f"downloading {target.name}", progress) as on_bytes:
            await self._transport.download(
                "GET", self._path, target, parameters={"format": format}, on_bytes=on_bytes
            )
        return target

    async def to_arrow(self) -> "pa.Table":
        """Fetch the whole ranking: `query_id`, `document_id`, `rank`, `score` and `label`, best first."""
        from rankery.client.frames.arrow import pq

        with tempfile.TemporaryDirectory(prefix="rankery-") as folder:
            return pq.read_table(await self.download(Path(folder) / "ranking.parquet"))

    @property
    def _path(self) -> str:
        return f"/v1/rankings/{self.id}"
