"""Calls about rankings: scoring candidates, and stored rankings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.ranking import AsyncRanking
from rankery.client.display.progress import transferred
from rankery.client.reading import given, read
from rankery.client.references import HasId, address_of, id_of
from rankery.client.uploads import Upload
from rankery.client.views.ranking import RankedQueries


class AsyncRankingCalls(AsyncCalls):
    """Calls about rankings."""

    async def rank(
        self,
        reference: str | HasId,
        queries: Sequence[Mapping[str, Any]],
        top_k: int | None = None,
        *,
        explain: bool = False,
    ) -> RankedQueries:
        """Order candidate documents by a model.

        Args:
            reference: The model: id, name, `name:version` or `name@alias`.
            queries: `{"id", "documents": [{"id", "features": {name: value} or [values]}]}` each.
            top_k: Return only so many documents of each query.
            explain: Say what each feature contributes to each score.

        Raises:
            RankeryApiError: There is no such model, or the candidates do not fit it.
        """
        body = {"queries": [dict(query) for query in queries], "top_k": top_k, "explain": explain or None}
        path = f"/v1/models/{address_of(reference)}/rank"
        return read(RankedQueries, (await self.transport.request("POST", path, json=given(body))).json())

    async def upload_run(
        self,
        path: Path | str,
        dataset: str | HasId,
        *,
        name: str | None = None,
        progress: bool | None = None,
    ) -> AsyncJob:
        """Upload a TREC run, the ranking of any other system; the job that reads it makes a ranking.

        Args:
            path: The file, streamed.
            dataset: The dataset whose queries it ranks.
            name: What people will call the system; the file's name when left out.
            progress: Whether to draw a bar; where standard error is a terminal or a notebook if None.

        Raises:
            FileUnusable: The file cannot be read.
            RankeryApiError: The service refused it.
        """
        upload = Upload({"file": Path(path)}, given({"dataset_id": id_of(dataset), "name": name}))
        with transferred("uploading", upload.size_bytes, progress) as on_bytes:
            document = await self.transport.upload("/v1/rankings", upload, on_bytes)
        return self._bound(AsyncJob, document)

    def rankings(
        self, *, dataset: str | HasId | None = None, uploaded: bool | None = None
    ) -> AsyncPages[AsyncRanking]:
        """List stored rankings, newest first.

        Args:
            dataset: Only those of its queries.
            uploaded: Only those of other systems, or only those of models.
        """
        dataset_id = None if dataset is None else id_of(dataset)
        return self._pages(AsyncRanking, "/v1/rankings", dataset_id=dataset_id, uploaded=uploaded)

    async def ranking(self, ranking_id: str) -> AsyncRanking:
        """Return a stored ranking; `queries` lists its documents.

        Raises:
            RankeryApiError: There is none of this id.
        """
        return self._bound(AsyncRanking, await self.transport.get(f"/v1/rankings/{ranking_id}", limit=1))
