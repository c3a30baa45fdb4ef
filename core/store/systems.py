"""What ranks documents."""

from dataclasses import dataclass


@dataclass(frozen=True)
class System:
    """A stored model, or a ranking from elsewhere.

    Attributes:
        name: What people call it: `web:3`, or the name of the ranking.
        model_id: The model, or None.
        ranking_id: The stored ranking that is measured, or None where a model ranks.
    """

    name: str
    model_id: str | None = None
    ranking_id: str | None = None
