"""An exported model."""

from dataclasses import dataclass
from typing import Any

from core.export.target import Source, Target


@dataclass(frozen=True)
class Export:
    """A model in the form that another program reads.

    Attributes:
        target: The format.
        source: What was written.
        content: The file.
    """

    target: Target[Any]
    source: Source
    content: bytes
