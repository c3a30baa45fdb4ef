"""Free space on the disk of uploads."""

from core.errors import StoreFull
from core.store.artifacts.artifacts import Artifacts


def require_room(artifacts: Artifacts, min_free_bytes: int, coming_bytes: int = 0) -> None:
    """Refuse an upload that would leave too little free disk space.

    Raises:
        StoreFull: There is not.
    """
    free_bytes = artifacts.free_bytes()
    if free_bytes - coming_bytes < min_free_bytes:
        left = f"{free_bytes:,} bytes left, of which {min_free_bytes:,} stay free"
        raise StoreFull(f"the disk that uploads go to has {left}")
