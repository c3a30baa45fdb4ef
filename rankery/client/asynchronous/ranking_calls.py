"""Calls about rankings: scoring candidates, and stored rankings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from rankery.client.arguments import CandidateColumns
from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.ranking import AsyncRanking
from rankery.client.display.progress import transferred
from rankery.client.frames.incoming import Frame, SomeFrame, as_arrays, as_stream, as_table
from rankery.client.frames.outgoing import as_numpy, like
from rankery.client.reading import document_of, given, read
from rankery.client.references import HasId, address_of, id_of
from rankery.client.schemas.requests import CandidateQuery
from rankery.client.uploads import Upload
from rankery.client.views.ranking import RankedQueries
from rankery.errors import DataUnusable

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import ArrayLike

_ARROW = "application/vnd.apache.arrow.stream"


class AsyncRankingCalls(AsyncCalls):
    """Calls about rankings."""

    @overload
    async def rank(
        self,
        reference: str | HasId,
        queries: SomeFrame,
        top_k: int | None = None,
        *,
        columns: CandidateColumns | None = None,
    ) -> SomeFrame: ...

    @overload
    async def rank(
        self,
        reference: str | HasId,
        queries: Sequence[CandidateQuery] | Sequence[Mapping[str, Any]],
        top_k: int | None = None,
        *,
        explain: bool = False,
    ) -> RankedQueries: ...

    async def rank(
        self,
        reference: str | HasId,
        queries: Any,
        top_k: int | None = None,
        *,
        explain: bool = False,
        columns: CandidateColumns | None = None,
    ) -> Any:
        """Order candidate documents by a model.

        Args:
            reference: The model: id, name, `name:version` or `name@alias`.
            queries: `{"id", "documents": [{"id", "features": {name: value} or [values]}]}` each. Or a data
                frame with a row a document: `query_id` where there are several queries, `document_id`
                where that is to be in the answer, and a column a feature.
            top_k: Return only so many documents of each query.
            explain: Say what each feature contributes to each score; not with a data frame.
            columns: Other names of a data frame's columns: `{"query", "document", "ignore"}`.

        Returns:
            The queries with their documents, best first. Where a data frame was given, one of the same kind:
            `query_id` and `document_id` as they came, `row` of the frame, `rank` from 1 and `score`.

        Raises:
            DataUnusable: The data frame cannot be sent.
            RankeryApiError: There is no such model, or the candidates do not fit it.

        Example:
            ```python
            documents = [{"id": "d1", "features": {"bm25": 12.5, "pagerank": 0.3}}]
            ranked = await client.rank("web@champion", [{"id": "q1", "documents": documents}], top_k=10)
            ```
        """
        if isinstance(queries, Frame):
            if explain:
                raise DataUnusable("scores are explained for queries given as dictionaries, not as a frame")
            return like(queries, await self._rank_table(reference, as_table(queries), top_k, columns))
        body = {"queries": [dict(query) for query in queries], "top_k": top_k, "explain": explain or None}
        response = await self.transport.request("POST", _rank(reference), json=given(body))
        return read(RankedQueries, document_of(response))

    async def rank_arrays(
        self,
        reference: str | HasId,
        features: "ArrayLike",
        top_k: int | None = None,
        *,
        query_sizes: "ArrayLike | None" = None,
        query_ids: "ArrayLike | None" = None,
        document_ids: "ArrayLike | None" = None,
    ) -> "dict[str, np.ndarray[Any, Any]]":
        """Order candidate documents given as arrays of numpy by a model.

        Args:
            reference: The model: id, name, `name:version` or `name@alias`.
            features: (n_documents, n_features) in the model's order; NaN is a missing value.
            top_k: Return only so many documents of each query.
            query_sizes: (n_queries,) documents of each query, in order; or `query_ids`; one query if neither.
            query_ids: (n_documents,); the documents of a query stand together.
            document_ids: (n_documents,), where they are to be in the answer.

        Returns:
            Arrays by name: `row` of the features, `rank` from 1 and `score`, ordered by query and rank; and
            `query_id` and `document_id` where they were given.

        Raises:
            DataUnusable: The shapes do not fit each other.
            RankeryApiError: There is no such model, or the candidates do not fit it.
        """
        model = await self.transport.get(f"/v1/models/{address_of(reference)}")
        table = as_arrays(
            features,
            query_sizes=query_sizes,
            query_ids=query_ids,
            document_ids=document_ids,
            feature_names=model["feature_names"],
        )
        return as_numpy(await self._rank_table(model["id"], table, top_k, None))

    async def _rank_table(
        self,
        reference: str | HasId,
        table: "pa.Table",
        top_k: int | None,
        columns: CandidateColumns | None,
    ) -> "pa.Table":
        from rankery.client.frames.arrow import pa

        response = await self.transport.request(
            "POST",
            _rank(reference),
            parameters={"top_k": top_k},
            content=as_stream(table, columns),
            headers={"Content-Type": _ARROW, "Accept": _ARROW},
        )
        return pa.ipc.open_stream(response.content).read_all()

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


def _rank(reference: str | HasId) -> str:
    return f"/v1/models/{address_of(reference)}/rank"
