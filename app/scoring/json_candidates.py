"""Candidates of a JSON request, and its JSON response."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic_core import to_json
from starlette.responses import Response

from app.scoring.candidates import CandidateIds
from app.scoring.served_models import ServedModel
from app.served.rankings import Viewer
from core.scorers.explainability import Explainer
from core.types import Float64Array, FloatArray, Int64Array

MEDIA_TYPE = "application/json"


@dataclass(frozen=True, eq=False)
class JsonCandidates:
    """Candidate documents as a feature matrix.

    Attributes:
        query_ids: Ids of the queries, as sent.
        document_ids: Ids of the documents by query.
        features: (n_documents, n_features) in the precision of the model, so that a document reaches the same
            leaf as in training; NaN where missing.
        top_k: Documents to return per query, or None for all.
        explain: Whether to add the contributions of the features to each score.
        keep: Whether to store a share of the rankings, which users see.
        viewer: User and session that see the rankings.
        interleaving: Id of the interleaving that makes the lists, or None.
    """

    query_ids: Sequence[str]
    document_ids: Sequence[Sequence[str]]
    features: FloatArray
    top_k: int | None = None
    explain: bool = False
    keep: bool = False
    viewer: Viewer = Viewer()
    interleaving: str | None = None

    @property
    def n_documents(self) -> int:
        """The number of documents of all queries."""
        return len(self.features)

    @property
    def n_ranked(self) -> int:
        """The number of documents to return, of all queries."""
        sizes = map(len, self.document_ids)
        return sum(sizes if self.top_k is None else (min(self.top_k, size) for size in sizes))

    def matrix(self, _: ServedModel) -> FloatArray:
        """Return the features."""
        return self.features

    def ids(self) -> CandidateIds:
        """Return the ids of the queries and documents."""
        return CandidateIds(self.query_ids, self.document_ids)

    def rankings(self, scores: Float64Array) -> Iterator[tuple[str, list[str]]]:
        """Yield each query with its returned documents, best first; scores are (n_documents,)."""
        start = 0
        for query, ids, order in zip(self.query_ids, self.document_ids, _ordered(self, scores), strict=True):
            yield query, [ids[document - start] for document in order.tolist()]
            start += len(ids)

    def answer(
        self,
        model: ServedModel,
        scores: Float64Array,
        ranking_ids: Sequence[str] | None = None,
        explainer: Explainer | None = None,
    ) -> Response:
        """Return the response with the ranking of each query.

        Args:
            scores: (n_documents,)
            ranking_ids: Ids of the rankings by query; None if they are not kept.
            explainer: Explains the scores; None without `explain`.
        """
        queries = _ranked_queries(model, self, scores, explainer)
        for query, ranking_id in zip(queries, ranking_ids or (), strict=False):
            query["ranking_id"] = ranking_id
        return response_of(model, queries)


def _ordered(candidates: JsonCandidates, scores: Float64Array) -> Iterator[Int64Array]:
    """Yield each query's document indices by descending score; ties keep the input order."""
    start = 0
    for ids in candidates.document_ids:
        stop = start + len(ids)
        yield start + np.argsort(-scores[start:stop], kind="stable")[: candidates.top_k]
        start = stop


def response_of(model: ServedModel, queries: list[dict[str, Any]]) -> Response:
    """Return the response with ranked queries, `{"id", "ranking"}` each."""
    version = {"id": model.id, "name": model.name, "version": model.version}
    content = to_json({"model": version, "queries": queries}, inf_nan_mode="null")
    return Response(content, media_type=MEDIA_TYPE)


def _ranked_queries(
    model: ServedModel, candidates: JsonCandidates, scores: Float64Array, explainer: Explainer | None
) -> list[dict[str, Any]]:
    queries: list[dict[str, Any]] = []
    start = 0
    for query_id, ids, order in zip(
        candidates.query_ids, candidates.document_ids, _ordered(candidates, scores), strict=True
    ):
        ranking: list[dict[str, Any]] = [
            {"id": ids[document - start], "rank": rank, "score": score}
            for rank, (document, score) in enumerate(
                zip(order.tolist(), scores[order].tolist(), strict=True), 1
            )
        ]
        if explainer is not None:
            explanations = _explained(model, candidates, explainer, order)
            for document, explanation in zip(ranking, explanations, strict=True):
                document["explanation"] = explanation
        queries.append({"id": query_id, "ranking": ranking})
        start += len(ids)
    return queries


def _explained(
    model: ServedModel, candidates: JsonCandidates, explainer: Explainer, order: Int64Array
) -> Iterator[dict[str, Any]]:
    features = candidates.features[order]
    bases, added = explainer.explain(features)
    for values, base, row in zip(features, bases.tolist(), added, strict=True):
        most_first = np.argsort(-np.abs(row), kind="stable")
        yield {
            "base": base,
            "contributions": [
                {
                    "feature": model.feature_names[feature],
                    "value": model.request_value(feature, values[feature]),
                    "contribution": float(row[feature]),
                }
                for feature in most_first[row[most_first] != 0.0].tolist()
            ],
        }
