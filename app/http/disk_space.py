"""Room on the disk that uploads go to."""

from core.errors import StoreFull
from core.store.artifacts.artifacts import Artifacts


def require_room(artifacts: Artifacts, min_free_bytes: int, coming_bytes: int = 0) -> None:
    """Let bytes come only where enough space is left for all else that lives on the disk.

    Raises:
        StoreFull: There is not.
    """
    free_bytes = artifacts.free_bytes()
    if free_bytes - coming_bytes < min_free_bytes:
        left = f"{free_bytes:,} bytes left, of which {min_free_bytes:,} stay free"
        raise StoreFull(f"the disk that uploads go to has {left}")
