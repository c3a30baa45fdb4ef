"""Calls that score candidates."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, overload

from rankery.client import documents
from rankery.client.arguments import CandidateColumns
from rankery.client.asynchronous.resource import AsyncCalls
from rankery.client.frames import incoming
from rankery.client.frames.candidates import (
    Candidates,
    Order,
    as_queries,
    as_response_table,
    check_ids,
    check_order,
    prepare_candidates,
    split_into_requests,
)
from rankery.client.frames.outgoing import Explanations, as_numpy, in_library_of
from rankery.client.reading import document_of, read, without_none
from rankery.client.references import HasId, described, escaped_reference, id_of
from rankery.client.schemas.requests import CandidateQuery
from rankery.client.views.model import ModelView
from rankery.client.views.results import RankedQueries
from rankery.errors import InvalidArgument, RankeryApiError, WrongType

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import ArrayLike

_INVALID = 422
_ARROW = "application/vnd.apache.arrow.stream"
_MAX_EXPLAINED = 200  # default limit of a service


class AsyncScoringCalls(AsyncCalls):
    """Calls that score candidates."""

    @overload
    async def rank(
        self,
        reference: str | HasId,
        queries: incoming.SomeFrame,
        top_k: int | None = None,
        *,
        explain: bool = False,
        columns: CandidateColumns | None = None,
        order: Order = "rank",
        allow_absent_features: bool = False,
        keep: bool = False,
        user: str | None = None,
        session: str | None = None,
        interleaving: str | HasId | None = None,
    ) -> incoming.SomeFrame: ...

    @overload
    async def rank(
        self,
        reference: str | HasId,
        queries: Sequence[CandidateQuery] | Sequence[Mapping[str, Any]] | Mapping[str, Any],
        top_k: int | None = None,
        *,
        explain: bool = False,
        keep: bool = False,
        user: str | None = None,
        session: str | None = None,
        interleaving: str | HasId | None = None,
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
        keep: bool = False,
        user: str | None = None,
        session: str | None = None,
        interleaving: str | HasId | None = None,
    ) -> Any:
        """Rank candidate documents with a model.

        Args:
            reference: The model: id, name, `name:version` or `name@alias`.
            queries: `{"id", "documents": [{"id", "features": {name: value} or [values]}]}` each; or documents
                of one query as `{name: value}`; or a data frame with one row per document, in any order, and
                columns `query_id` (for several queries), `document_id` (optional) and one per feature; or an
                array of one query's features in the model's order.
            top_k: Documents to return of each query; all when None.
            explain: Whether to return the contribution of each feature to each score.
            columns: Other names of a data frame's columns: `{"query", "document", "ignore"}`.
            order: `rank` sorts the resulting data frame by query and rank. `rows` keeps the order and the
                pandas index of the input, so that `frame["score"] = ranked["score"]` matches the rows.
            allow_absent_features: Count features without a column in a data frame as missing values.
            keep: Whether users will see the rankings, of which the service then stores a sample. A stored
                ranking has a `ranking_id` for `send_events`, which is a column of a resulting data frame.
            user: Any text that identifies the user; only its keyed hash is stored.
            session: Any text that identifies the session; only its keyed hash is stored.
            interleaving: An interleaving of models, whose list is returned for each query. Its `ranking_id`
                is for `send_clicks`.

        Returns:
            The queries with their documents, best first. For a data frame, one of the same library with
            `query_id` and `document_id` unchanged, `row` of the frame, `rank` from 1 and `score`; with
            `explain` also `base` and `contribution.…` of each feature, which add up to the score.

        Raises:
            DataUnusable: The candidates cannot be sent; the message names the row or document, and the column
                or feature.
            InvalidArgument: The order is unknown, an interleaved list is to be explained or reordered, or
                lists of an array are to be stored or interleaved.
            WrongType: `queries` has an unsupported type.
            RankeryApiError: There is no such model, or the candidates do not match its features.

        Warns:
            DataWarning: The data frame has columns that are not features of the model; they are left out.

        Example:
            ```python
            documents = [{"id": "d1", "features": {"bm25": 12.5, "pagerank": 0.3}}]
            ranked = await client.rank("web@champion", [{"id": "q1", "documents": documents}], top_k=10)
            shown = await client.rank("web@champion", frame, keep=True, user="ann")  # has `ranking_id`
            ```
        """
        check_order(order)
        queries = incoming.collected(queries)
        served_fields = _served_fields(keep, user, session, interleaving)
        if incoming.is_frame(queries):
            if interleaving is not None and (explain or order == "rows"):
                raise InvalidArgument("an interleaved list is returned in its own order, and not explained")
            model_id, features, label = await self._model(reference)
            candidates = prepare_candidates(
                queries, features, columns, label, allow_absent_features=allow_absent_features
            )
            answer = await self._rank_served(model_id, candidates, top_k, served_fields)
            if explain:
                answer = await self._explained(model_id, features, candidates, answer)
            found = candidates.with_frame_rows(answer, order)
            return in_library_of(queries, found, keeps_index=order == "rows")
        if hasattr(queries, "__array__") or hasattr(queries, "toarray"):
            if served_fields:
                raise InvalidArgument("an array has no ids, by which lists are kept: use rank_arrays")
            return await self.rank_arrays(reference, queries, top_k)
        plain_queries = documents.scoring_queries(queries)
        body = {"queries": plain_queries, "top_k": top_k, "explain": explain or None, **served_fields}
        try:
            response = await self.transport.request("POST", _rank_path(reference), json=without_none(body))
        except RankeryApiError as error:
            names = (await self._model(reference))[1] if error.status == _INVALID else []
            raise documents.with_locations(error, plain_queries, names) from None
        return read(RankedQueries, document_of(response))

    async def score(
        self,
        reference: str | HasId,
        candidates: "incoming.Frame | incoming.LazyFrame | Mapping[str, Any] | ArrayLike",
        *,
        columns: CandidateColumns | None = None,
        allow_absent_features: bool = False,
    ) -> "np.ndarray[Any, Any]":
        """Return the score of each document, in the order of the rows given.

        Args:
            reference: The model: id, name, `name:version` or `name@alias`.
            candidates: A data frame with one row per document and one column per feature, a dictionary of
                such columns, or an array in the model's order of features.
            columns: Other names of a data frame's columns: `{"query", "document", "ignore"}`.
            allow_absent_features: Count features without a column in a data frame as missing values.

        Returns:
            (n_documents,) scores.

        Raises:
            DataUnusable: The candidates cannot be sent.
            WrongType: `candidates` has an unsupported type.
            RankeryApiError: There is no such model, or the candidates do not match its features.
        """
        from rankery.client.frames.arrow import np

        candidates = (
            incoming.table_of_columns(candidates)
            if isinstance(candidates, Mapping)
            else incoming.collected(candidates)
        )
        if incoming.is_frame(candidates):
            model_id, features, label = await self._model(reference)
            sent = prepare_candidates(
                candidates, features, columns, label, allow_absent_features=allow_absent_features
            )
        else:
            model_id, sent = await self._array_candidates(reference, cast("ArrayLike", candidates))
        ranked = await self._rank_table(model_id, sent, None, keep_queries=False)
        return np.asarray(sent.with_frame_rows(ranked, "rows").column("score").to_numpy())

    async def rank_arrays(
        self,
        reference: str | HasId,
        features: "ArrayLike",
        top_k: int | None = None,
        *,
        query_sizes: "ArrayLike | None" = None,
        query_ids: "ArrayLike | None" = None,
        document_ids: "ArrayLike | None" = None,
        keep: bool = False,
        user: str | None = None,
        session: str | None = None,
        interleaving: str | HasId | None = None,
    ) -> "dict[str, np.ndarray[Any, Any]]":
        """Rank candidate documents in numpy arrays with a model.

        Args:
            reference: The model: id, name, `name:version` or `name@alias`.
            features: (n_documents, n_features) in the model's order; NaN is a missing value.
            top_k: Documents to return of each query; all when None.
            query_sizes: (n_queries,) number of documents of each query, in order; instead of `query_ids`. If
                both are None, all documents are of one query.
            query_ids: (n_documents,), in any order.
            document_ids: (n_documents,), optional; returned in the result.
            keep: As in `rank`, like the three following arguments; all need `query_ids` and `document_ids`.
            user: Any text that identifies the user.
            session: Any text that identifies the session.
            interleaving: An interleaving of models.

        Returns:
            Arrays by name: `row` of the features, `rank` from 1 and `score`, ordered by query and rank; and
            `query_id` and `document_id` where they were given, and `ranking_id` of stored or interleaved
            lists.

        Raises:
            DataUnusable: The shapes do not match, or ids are missing.
            InvalidArgument: Indexes of pandas are in different orders.
            WrongType: `features` is not an array.
            RankeryApiError: There is no such model, or the candidates do not match its features.
        """
        model_id, candidates = await self._array_candidates(
            reference, features, query_sizes=query_sizes, query_ids=query_ids, document_ids=document_ids
        )
        served_fields = _served_fields(keep, user, session, interleaving)
        answer = await self._rank_served(model_id, candidates, top_k, served_fields)
        return as_numpy(candidates.with_frame_rows(answer, "rank"))

    async def _array_candidates(
        self, reference: str | HasId, features: "ArrayLike", **ids: "ArrayLike | None"
    ) -> tuple[str, Candidates]:
        """Return a model's id, and arrays as its candidates."""
        if not (hasattr(features, "__array__") or isinstance(features, Sequence)) or isinstance(
            features, str
        ):
            raise WrongType(f"an array of shape (documents, features) is expected, not {described(features)}")
        model_id, names, label = await self._model(reference)
        table = incoming.table_of_arrays(features, feature_names=names, **ids)
        return model_id, prepare_candidates(table, names, None, label, allow_absent_features=False)

    async def _model(self, reference: str | HasId) -> tuple[str, list[str], str]:
        """Return a model's id, its features, and its name and version."""
        if isinstance(reference, ModelView):
            return reference.id, reference.feature_names, reference.reference
        model = await self.transport.get(f"/v1/models/{escaped_reference(reference)}")
        return model["id"], model["feature_names"], f"{model['name']}:{model['version']}"

    async def _rank_served(
        self, model_id: str, candidates: Candidates, top_k: int | None, served_fields: Mapping[str, Any]
    ) -> "pa.Table":
        """Return rankings for a table of candidates, stored or interleaved if users see them."""
        if "interleaving" in served_fields:
            check_ids(candidates.table)
            return await self._interleaved(model_id, candidates.table, top_k, served_fields)
        if "keep" not in served_fields:
            return await self._rank_table(model_id, candidates, top_k)
        check_ids(candidates.table)
        metadata = {name: "true" if value is True else value for name, value in served_fields.items()}
        return await self._rank_table(model_id, candidates, top_k, metadata)

    async def _rank_table(
        self,
        model_id: str,
        candidates: Candidates,
        top_k: int | None,
        metadata: Mapping[str, str] | None = None,
        *,
        keep_queries: bool = True,
    ) -> "pa.Table":
        from rankery.client.frames.arrow import pa

        parts, table = [], candidates.table
        max_rows = min(documents.MAX_DOCUMENTS, documents.MAX_CELLS // table.num_columns)
        for first, end in split_into_requests(
            table, max_rows, documents.MAX_BYTES, keep_queries=keep_queries
        ):
            try:
                response = await self.transport.request(
                    "POST",
                    _rank_path(model_id),
                    parameters={"top_k": top_k},
                    content=incoming.as_stream(table.slice(first, end - first), metadata),
                    headers={"Content-Type": _ARROW, "Accept": _ARROW},
                )
            except RankeryApiError as error:
                raise candidates.with_row_of_frame_in_message(error, first) from None
            part = pa.ipc.open_stream(response.content).read_all()
            rows = pa.array(part.column("row").to_numpy() + first)
            part = part.set_column(part.column_names.index("row"), "row", rows)
            if metadata is not None and "ranking_id" not in part.column_names:  # this part was not stored
                part = part.append_column("ranking_id", pa.nulls(len(part), pa.string()))
            parts.append(part)
        return pa.concat_tables(parts).replace_schema_metadata(None)

    async def _interleaved(
        self, model_id: str, table: "pa.Table", top_k: int | None, served_fields: Mapping[str, Any]
    ) -> "pa.Table":
        """Return interleaved lists, by JSON requests: Arrow requests do not support them."""
        ranked: list[Any] = []
        max_rows = min(documents.MAX_DOCUMENTS, documents.MAX_CELLS // table.num_columns)
        for first, end in split_into_requests(table, max_rows, documents.MAX_BYTES):
            queries = as_queries(table.slice(first, end - first))
            for batch in documents.batches(queries, max_rows, documents.MAX_BYTES, documents.MAX_QUERIES):
                body = without_none({"queries": batch, "top_k": top_k, **served_fields})
                try:
                    response = await self.transport.request("POST", _rank_path(model_id), json=body)
                except RankeryApiError as error:
                    raise documents.with_locations(error, batch, ()) from None
                ranked += document_of(response)["queries"]
        return as_response_table(table, ranked)

    async def _explained(
        self, model_id: str, features: Sequence[str], candidates: Candidates, answer: "pa.Table"
    ) -> "pa.Table":
        """Return a result with the feature contributions of each score."""
        explanations = Explanations(candidates.table, features, answer.column("row").to_numpy())
        batch_size = _MAX_EXPLAINED
        while not explanations.complete:
            body = {"queries": [explanations.next_query(batch_size)], "explain": True}
            try:
                response = await self.transport.request("POST", _rank_path(model_id), json=body)
            except RankeryApiError as error:
                if batch_size == 1 or not explanations.is_too_many(error):
                    raise
                batch_size = (batch_size + 1) // 2
                continue
            explanations.store(document_of(response))
        return explanations.added_to(answer)


def _served_fields(
    keep: bool, user: str | None, session: str | None, interleaving: str | HasId | None
) -> dict[str, Any]:
    """Return the fields of a scoring request whose rankings users see."""
    named = None if interleaving is None else id_of(interleaving)
    return without_none({"keep": keep or None, "user": user, "session": session, "interleaving": named})


def _rank_path(reference: str | HasId) -> str:
    return f"/v1/models/{escaped_reference(reference)}/rank"
