"""Stored rankings, and their queries."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rankery.client.asynchronous.deletable import AsyncDeletable
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.tabular import AsyncTabular
from rankery.client.display.progress import downloaded
from rankery.client.reading import read
from rankery.client.schemas.answers import RankingItem
from rankery.client.views.ranking import RankingView

if TYPE_CHECKING:
    import pyarrow as pa


class AsyncRanking(RankingView, AsyncDeletable, AsyncTabular):
    """A stored ranking of a dataset's queries."""

    def queries(self) -> AsyncPages[RankingItem]:
        """List its queries with their documents, best first, in the dataset's order."""
        return AsyncPages(self._client.transport, self._path, lambda one: read(RankingItem, one))

    async def download(
        self,
        path: Path | str,
        format: Literal["trec", "parquet"] = "parquet",
        *,
        progress: bool | None = None,
    ) -> Path:
        """Write all of it into a file.

        Args:
            path: The file; it appears when it is complete.
            format: `parquet`, or `trec` for a run that any evaluation tool reads.
            progress: Whether to draw a bar; where standard error is a terminal or a notebook if None.

        Returns:
            The file.

        Raises:
            FileUnusable: The file cannot be written.
        """
        target = Path(path)
        with downloaded(f"downloading {target.name}", progress) as on_bytes:
            await self._client.transport.download(
                "GET", self._path, target, parameters={"format": format}, on_bytes=on_bytes
            )
        return target

    async def to_arrow(self) -> "pa.Table":
        """Ask for all of it: `query_id`, `document_id`, `rank`, `score` and `label`, best first."""
        from rankery.client.frames.arrow import pq

        with tempfile.TemporaryDirectory(prefix="rankery-") as folder:
            return pq.read_table(await self.download(Path(folder) / "ranking.parquet"))

    @property
    def _path(self) -> str:
        return f"/v1/rankings/{self.id}"
