"""Which workers carry out which kinds of jobs: short work must not wait behind long trainings."""

from collections.abc import Mapping
from types import MappingProxyType

TRAINING = "training"
QUICK = "quick"

LANES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        TRAINING: ("train", "reproduce"),
        QUICK: ("ingest", "import", "import-model", "evaluate", "rank", "compare", "promote", "inspect"),
    }
)


def lane_of(kind: str) -> str:
    """Return the lane of a kind of job."""
    return next(lane for lane, kinds in LANES.items() if kind in kinds)
