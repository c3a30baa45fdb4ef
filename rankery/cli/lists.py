"""Lists of the service that no object of the client stands for."""

from typing import Any

from rankery.cli.connection import ServiceConnection

_PAGE = 100


def listed(session: ServiceConnection, path: str, limit: int, **parameters: Any) -> list[dict[str, Any]]:
    """Return the first items of a list, over its pages.

    Args:
        session: Of the service.
        path: Of the list.
        limit: How many at most.
        **parameters: Of the query; those that are None are left out.
    """
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        asked = {**parameters, "cursor": cursor, "limit": min(_PAGE, limit - len(found))}
        page = session.client.request("GET", path, parameters=asked).json()
        found += page["items"]
        cursor = page.get("next_cursor")
        if cursor is None or len(found) >= limit:
            return found[:limit]
