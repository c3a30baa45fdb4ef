"""A job that may be queued."""

from dataclasses import dataclass

from app.schemas.base import Json


@dataclass(frozen=True)
class Resolved:
    """What a request comes to.

    Attributes:
        spec: All that the worker needs, defaults and references spelled out.
        dataset_ids: The datasets that it reads.
    """

    spec: Json
    dataset_ids: list[str]
