"""Invalidation of cached model references."""

from typing import Annotated

from app.http.services import injected


class ModelReferences:
    """Counter of changes by this process: moved aliases, deleted, restored or relabelled models.

    Attributes:
        changes: The changes so far. A cache of references is stale when the number differs from its own.
    """

    def __init__(self) -> None:
        self.changes = 0

    def invalidate(self) -> None:
        """Invalidate all cached references after a change was committed. Thread-safe."""
        self.changes += 1


UseReferences = Annotated[ModelReferences, injected(ModelReferences)]
