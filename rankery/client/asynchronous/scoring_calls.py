"""Calls that score candidates."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, overload

from rankery.client.arguments import CandidateColumns
from rankery.client.asynchronous.resource import AsyncCalls
from rankery.client.documents import spelled_queries, with_places
from rankery.client.frames.candidates import Candidates, Order, check_order, cuts, prepared
from rankery.client.frames.explanations import Explanations
from rankery.client.frames.incoming import (
    Frame,
    LazyFrame,
    SomeFrame,
    as_arrays,
    as_columns,
    as_stream,
    collected,
    is_frame,
)
from rankery.client.frames.outgoing import as_numpy, like
from rankery.client.reading import document_of, given, read
from rankery.client.references import HasId, address_of, described
from rankery.client.schemas.requests import CandidateQuery
from rankery.client.views.model import ModelView
from rankery.client.views.ranking import RankedQueries
from rankery.errors import RankeryApiError, WrongType

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import ArrayLike

_INVALID = 422
_ARROW = "application/vnd.apache.arrow.stream"
# The default limits of a service.
_ROWS, _CELLS, _BYTES, _EXPLAINED = 10_000, 2**24, 15 * 2**20, 200


class AsyncScoringCalls(AsyncCalls):
    """Calls that score candidates."""

    @overload
    async def rank(
        self,
        reference: str | HasId,
        queries: SomeFrame,
        top_k: int | None = None,
        *,
        explain: bool = False,
        columns: CandidateColumns | None = None,
        order: Order = "rank",
        allow_absent_features: bool = False,
    ) -> SomeFrame: ...

    @overload
    async def rank(
        self,
        reference: str | HasId,
        queries: Sequence[CandidateQuery] | Sequence[Mapping[str, Any]] | Mapping[str, Any],
        top_k: int | None = None,
        *,
        explain: bool = False,
    ) -> RankedQueries: ...

    @overload
    async def rank(
        self, reference: str | HasId, queries: "np.ndarray[Any, Any]", top_k: int | None = None
    ) -> "dict[str, np.ndarray[Any, Any]]": ...

    async def rank(
        self,
        reference: str | HasId,
        queries: Any,
        top_k: int | None = None,
        *,
        explain: bool = False,
        columns: CandidateColumns | None = None,
        order: Order = "rank",
        allow_absent_features: bool = False,
    ) -> Any:
        """Order candidate documents by a model.

        Args:
            reference: The model: id, name, `name:version` or `name@alias`.
            queries: `{"id", "documents": [{"id", "features": {name: value} or [values]}]}` each; or documents
                of one query as `{name: value}`; or a data frame with a row a document, in any order:
                `query_id` where there are several queries, `document_id` where that is to be in the answer,
                and a column a feature; or an array of one query's features in the model's order.
            top_k: Return only so many documents of each query.
            explain: Return what each feature contributes to each score.
            columns: Other names of a data frame's columns: `{"query", "document", "ignore"}`.
            order: Of the answer to a data frame: by query and `rank`, or that of its `rows`, with the index
                of pandas, so that `frame["score"] = ranked["score"]` is right.
            allow_absent_features: Count features without a column in a data frame as missing values.

        Returns:
            The queries with their documents, best first. Where a data frame was given, one of the same kind:
            `query_id` and `document_id` as they came, `row` of the frame, `rank` from 1 and `score`; and,
            where `explain` is set, `base` and `contribution.…` of each feature, which add up to the score.

        Raises:
            DataUnusable: The candidates cannot be sent; the sentence names the row or the document, and the
                column or the feature.
            InvalidArgument: The order is unknown.
            WrongType: They are of another type.
            RankeryApiError: There is no such model, or the candidates do not fit it.

        Warns:
            DataWarning: The data frame has columns that are no features of the model; they are left out.

        Example:
            ```python
            documents = [{"id": "d1", "features": {"bm25": 12.5, "pagerank": 0.3}}]
            ranked = await client.rank("web@champion", [{"id": "q1", "documents": documents}], top_k=10)
            ```
        """
        check_order(order)
        queries = collected(queries)
        if is_frame(queries):
            model_id, features, shown = await self._model(reference)
            candidates = prepared(
                queries, features, columns, shown, allow_absent_features=allow_absent_features
            )
            answer = await self._rank_table(model_id, candidates.table, top_k)
            if explain:
                answer = await self._explained(model_id, features, candidates, answer)
            return like(queries, candidates.answered(answer, order), is_by_row=order == "rows")
        if hasattr(queries, "__array__") or hasattr(queries, "toarray"):
            return await self.rank_arrays(reference, queries, top_k)
        spelled = spelled_queries(queries)
        body = {"queries": spelled, "top_k": top_k, "explain": explain or None}
        try:
            response = await self.transport.request("POST", _rank(reference), json=given(body))
        except RankeryApiError as error:
            names = (await self._model(reference))[1] if error.status == _INVALID else []
            raise with_places(error, spelled, names) from None
        return read(RankedQueries, document_of(response))

    async def score(
        self,
        reference: str | HasId,
        candidates: "Frame | LazyFrame | Mapping[str, Any] | ArrayLike",
        *,
        columns: CandidateColumns | None = None,
        allow_absent_features: bool = False,
    ) -> "np.ndarray[Any, Any]":
        """Return the score of each document, in the order of the rows given.

        Args:
            reference: The model: id, name, `name:version` or `name@alias`.
            candidates: A data frame with a row a document and a column a feature, a dictionary of such
                columns, or an array in the model's order of features.
            columns: Other names of a data frame's columns: `{"query", "document", "ignore"}`.
            allow_absent_features: Count features without a column in a data frame as missing values.

        Returns:
            (n_documents,)

        Raises:
            DataUnusable: The candidates cannot be sent.
            RankeryApiError: There is no such model, or the candidates do not fit it.
        """
        from rankery.client.frames.arrow import np

        candidates = as_columns(candidates) if isinstance(candidates, Mapping) else collected(candidates)
        if is_frame(candidates):
            model_id, features, shown = await self._model(reference)
            sent = prepared(candidates, features, columns, shown, allow_absent_features=allow_absent_features)
            answer = sent.answered(await self._rank_table(model_id, sent.table, None), "rows")
            return np.asarray(answer.column("score").to_numpy())
        found = await self.rank_arrays(reference, cast("ArrayLike", candidates))
        return np.asarray(found["score"][np.argsort(found["row"])])

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
            query_ids: (n_documents,), in any order.
            document_ids: (n_documents,), where they are to be in the answer.

        Returns:
            Arrays by name: `row` of the features, `rank` from 1 and `score`, ordered by query and rank; and
            `query_id` and `document_id` where they were given.

        Raises:
            DataUnusable: The shapes do not fit each other.
            RankeryApiError: There is no such model, or the candidates do not fit it.
        """
        if not (hasattr(features, "__array__") or isinstance(features, Sequence)) or isinstance(
            features, str
        ):
            raise WrongType(f"an array of shape (documents, features) is expected, not {described(features)}")
        model_id, names, shown = await self._model(reference)
        table = as_arrays(
            features,
            query_sizes=query_sizes,
            query_ids=query_ids,
            document_ids=document_ids,
            feature_names=names,
        )
        candidates = prepared(table, names, None, shown, allow_absent_features=False)
        answer = await self._rank_table(model_id, candidates.table, top_k)
        return as_numpy(candidates.answered(answer, "rank"))

    async def _model(self, reference: str | HasId) -> tuple[str, list[str], str]:
        """Return a model's id, its features, and its name and version."""
        if isinstance(reference, ModelView):
            return reference.id, reference.feature_names, reference.reference
        model = await self.transport.get(f"/v1/models/{address_of(reference)}")
        return model["id"], model["feature_names"], f"{model['name']}:{model['version']}"

    async def _rank_table(self, model_id: str, table: "pa.Table", top_k: int | None) -> "pa.Table":
        from rankery.client.frames.arrow import pa

        parts = []
        for first, end in cuts(table, min(_ROWS, _CELLS // table.num_columns), _BYTES):
            response = await self.transport.request(
                "POST",
                _rank(model_id),
                parameters={"top_k": top_k},
                content=as_stream(table.slice(first, end - first)),
                headers={"Content-Type": _ARROW, "Accept": _ARROW},
            )
            part = pa.ipc.open_stream(response.content).read_all()
            rows = pa.array(part.column("row").to_numpy() + first)
            parts.append(part.set_column(part.column_names.index("row"), "row", rows))
        return pa.concat_tables(parts).replace_schema_metadata(None)

    async def _explained(
        self, model_id: str, features: Sequence[str], candidates: Candidates, answer: "pa.Table"
    ) -> "pa.Table":
        """Return an answer with the feature contributions of each of its scores."""
        explanations = Explanations(candidates.table, features, answer.column("row").to_numpy())
        batch_size = _EXPLAINED
        while not explanations.complete:
            body = {"queries": [explanations.next_query(batch_size)], "explain": True}
            try:
                response = await self.transport.request("POST", _rank(model_id), json=body)
            except RankeryApiError as error:
                if batch_size == 1 or not explanations.is_too_many(error):
                    raise
                batch_size = (batch_size + 1) // 2
                continue
            explanations.take(document_of(response))
        return explanations.added_to(answer)


def _rank(reference: str | HasId) -> str:
    return f"/v1/models/{address_of(reference)}/rank"
