"""Invalidation of cached model references."""

from typing import Annotated

from app.http.services import injected


class ModelReferences:
    """Counter of changes by this process: moved aliases, deleted, restored or relabelled models.

    Attributes:
        changes: Number of changes. A cached reference is stale if it was read at another number.
    """

    def __init__(self) -> None:
        self.changes = 0

    def invalidate(self) -> None:
        """Invalidate all cached references after a change was committed. Thread-safe."""
        self.changes += 1


UseReferences = Annotated[ModelReferences, injected(ModelReferences)]
