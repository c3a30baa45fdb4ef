"""A job as the service last told of it."""

from pydantic import Field

from rankery.client.schemas import answers
from rankery.errors import NothingMade

ENDED = frozenset({"succeeded", "failed", "cancelled"})


class JobView(answers.Job):
    """A job as the service last told of it."""

    attempts: list[answers.Attempt] = Field(default_factory=list)
    """Who has worked on it, oldest first; empty in lists"""

    @property
    def has_ended(self) -> bool:
        """Whether it succeeded, failed or was cancelled."""
        return self.status in ENDED

    @property
    def iteration(self) -> int:
        """Steps done of the phase that it is in; 0 before it starts."""
        return (self.progress and self.progress.iteration) or 0

    def made(self, name: str) -> str:
        """Return the id of what it made.

        Args:
            name: `model_id`, `evaluation_id`, `ranking_id`, `comparison_id` or `inspection_id`.

        Raises:
            NothingMade: It has not succeeded yet, or makes no such thing.
        """
        found = (self.result or {}).get(name)
        if found is None:
            what = name.removesuffix("_id")
            why = "makes none" if self.status == "succeeded" else f"is {self.status}"
            raise NothingMade(f"there is no {what}: the {self.kind} job {self.id} {why}")
        return str(found)
