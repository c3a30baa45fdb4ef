"""Rank scored candidates and build the response."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from pydantic_core import to_json

from app.scoring.candidates import Candidates
from app.scoring.served_models import ServedModel
from core.scoring import Contributions
from core.types import Float64Array, Int64Array


def ordered(candidates: Candidates, scores: Float64Array) -> Iterator[Int64Array]:
    """Yield each query's document indices by descending score; ties keep the input order."""
    start = 0
    for ids in candidates.document_ids:
        stop = start + len(ids)
        yield start + np.argsort(-scores[start:stop], kind="stable")[: candidates.top_k]
        start = stop


def answer(
    model: ServedModel, candidates: Candidates, scores: Float64Array, contributions: Contributions | None
) -> bytes:
    """Build the response with the ranking of each query.

    Args:
        model: What scored.
        candidates: What was scored.
        scores: (n_documents,)
        contributions: What explains the scores, None where nobody wants to know.
    """
    queries, start = [], 0
    for query_id, ids, order in zip(
        candidates.query_ids, candidates.document_ids, ordered(candidates, scores), strict=True
    ):
        ranking: list[dict[str, Any]] = [
            {"id": ids[document - start], "rank": rank, "score": score}
            for rank, (document, score) in enumerate(
                zip(order.tolist(), scores[order].tolist(), strict=True), 1
            )
        ]
        if contributions is not None:
            explanations = _explained(model, candidates, contributions, order)
            for document, explanation in zip(ranking, explanations, strict=True):
                document["explanation"] = explanation
        queries.append({"id": query_id, "ranking": ranking})
        start += len(ids)
    named = {"id": model.id, "name": model.name, "version": model.version}
    return to_json({"model": named, "queries": queries}, inf_nan_mode="null")


def _explained(
    model: ServedModel, candidates: Candidates, contributions: Contributions, order: Int64Array
) -> Iterator[dict[str, Any]]:
    features = candidates.features[order]
    bases, added = contributions.of(features)
    for values, base, row in zip(features, bases.tolist(), added, strict=True):
        most_first = np.argsort(-np.abs(row), kind="stable")
        yield {
            "base": base,
            "contributions": [
                {
                    "feature": model.feature_names[feature],
                    "value": None if np.isnan(values[feature]) else float(values[feature]),
                    "contribution": float(row[feature]),
                }
                for feature in most_first[row[most_first] != 0.0].tolist()
            ],
        }
