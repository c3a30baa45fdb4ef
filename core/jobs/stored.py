"""Read the JSON of stored specifications."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.errors import InvalidInput

Json = dict[str, Any]
Stored = Mapping[str, Any]


def required(stored: Stored, name: str) -> Any:
    """Return an entry that every release has stored.

    Raises:
        InvalidInput: It is absent or null.
    """
    value = stored.get(name)
    if value is None:
        raise InvalidInput.at(f"/{name}", "required")
    return value


def first_named(stored: Stored, names: Iterable[str]) -> str | None:
    """Return the first entry that is neither absent nor empty, or None."""
    return next((str(stored[name]) for name in names if stored.get(name)), None)


@dataclass(frozen=True)
class JobLimits:
    """Limits of a job, beside those of the worker.

    Attributes:
        seconds: Running time over all attempts, or None.
        memory_bytes: Memory in a worker, or None.
    """

    seconds: float | None = None
    memory_bytes: int | None = None

    @classmethod
    def of(cls, stored: Stored) -> "JobLimits | None":
        """Read the limits of a specification, None where it has none."""
        limits = stored.get("limits")
        return None if limits is None else cls(limits.get("seconds"), limits.get("memory_bytes"))

    def to_json(self) -> Json:
        """Return the JSON that `of` reads below `limits`."""
        return asdict(self)
