"""Limits of a scoring request."""

from collections.abc import Iterator
from typing import Any

from fastapi import Request

from app.http.bodies import JsonRequest
from app.settings import ApiSettings
from core.errors import InvalidInput

# Limit per document or query, which has two containers. Brackets in ids are counted like containers.
_CONTAINERS_EACH = 4
_CONTAINERS = 1_000


def max_containers(settings: ApiSettings) -> int:
    """Return the limit of arrays and objects in a scoring request."""
    return _CONTAINERS + _CONTAINERS_EACH * (settings.max_rank_queries + settings.max_rank_documents)


def scoring_request(request: Request, settings: ApiSettings) -> JsonRequest:
    """Return the request with the limits of scoring on bytes, arrays and objects."""
    return JsonRequest(request.scope, request.receive, settings.max_rank_bytes, max_containers(settings))


def check_candidates(body: Any, settings: ApiSettings) -> None:
    """Refuse too many queries or documents, invalid ones included, before they are validated.

    Raises:
        InvalidInput: There are too many queries or documents.
    """
    queries = body.get("queries") if isinstance(body, dict) else None
    if not isinstance(queries, list):
        return
    if len(queries) > settings.max_rank_queries:
        raise InvalidInput.at(
            "/queries",
            f"at most {settings.max_rank_queries} queries are scored in one request",
        )
    check_documents(sum(map(len, _documents(queries))), 0, settings, "/queries")


def max_documents(n_features: int, settings: ApiSettings) -> int:
    """Return the limit of documents in a request for a model of this number of features."""
    return min(settings.max_rank_documents, settings.max_rank_cells // n_features)


def check_documents(n_documents: int, n_features: int, settings: ApiSettings, pointer: str) -> None:
    """Refuse too many documents, and too many feature values, which would take too much memory.

    Raises:
        InvalidInput: A limit is exceeded.
    """
    if n_documents > settings.max_rank_documents:
        raise InvalidInput.at(
            pointer, f"at most {settings.max_rank_documents} documents are scored in one request"
        )
    cells = n_documents * n_features
    if cells > settings.max_rank_cells:
        raise InvalidInput.at(
            pointer,
            f"{n_documents} documents with the {n_features} features of this model are {cells} values; at"
            f" most {settings.max_rank_cells} are scored in one request",
        )


def check_explained(explained: int, settings: ApiSettings) -> None:
    """Refuse a request to explain too many scores.

    Raises:
        InvalidInput: There are more scores than the limit.
    """
    if explained > settings.max_explained_documents:
        raise InvalidInput.at(
            "/explain",
            f"at most {settings.max_explained_documents} scores can be explained in one request, not"
            f" {explained}; request fewer documents with top_k",
        )


def check_explanation_steps(explained: int, steps_each: int, settings: ApiSettings) -> None:
    """Refuse a request whose explanations would take too many steps.

    Args:
        steps_each: Steps of one explanation; see `core.scoring.Explainability`.

    Raises:
        InvalidInput: There are more steps than the limit.
    """
    affordable = settings.max_explained_steps // steps_each
    if explained > affordable:
        advice = "; request fewer documents with top_k" if affordable else ""
        raise InvalidInput.at(
            "/explain",
            f"explaining a score of this model takes {steps_each:,} steps, and a request may take"
            f" {settings.max_explained_steps:,} (RANKERY_MAX_EXPLAINED_STEPS): enough for {affordable:,}"
            f" scores, not {explained:,}{advice}",
        )


def _documents(queries: list[Any]) -> Iterator[list[Any]]:
    for query in queries:
        documents = query.get("documents") if isinstance(query, dict) else None
        if isinstance(documents, list):
            yield documents
