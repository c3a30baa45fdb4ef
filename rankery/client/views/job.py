"""A job, as last fetched from the service."""

from pydantic import Field

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, loss, moment, number, ranks, seconds, size, steps
from rankery.client.schemas import answers
from rankery.errors import NothingMade

ENDED = frozenset({"succeeded", "refused", "failed", "cancelled"})


class JobView(Displayable, answers.Job):
    """A job, as last fetched from the service."""

    attempts: list[answers.Attempt] = Field(default_factory=list)
    """Attempts, oldest first; empty in lists"""

    @property
    def has_ended(self) -> bool:
        """Whether it succeeded, failed, was cancelled, or was refused by a gate."""
        return self.status in ENDED

    @property
    def iteration(self) -> int:
        """Number of completed steps of the current phase; 0 before it starts."""
        return (self.progress and self.progress.iteration) or 0

    @property
    def phases(self) -> list[answers.Phase]:
        """Phases of the latest attempt with their times and memory; empty in lists."""
        return self.attempts[-1].phases or [] if self.attempts else []

    @property
    def steps(self) -> str:
        """Current phase with its progress, such as "training 120 of 500" or "binning 37%"."""
        return steps(self)

    @property
    def conclusion(self) -> answers.AutoTrainConclusion | None:
        """Conclusion of an automatic training, with a `sentence`; None for other jobs and before its end."""
        content = (self.result or {}).get("conclusion")
        return None if content is None else answers.AutoTrainConclusion.model_validate(content)

    def made(self, name: str) -> str:
        """Return the id of a result of the job.

        Args:
            name: Name of the result, such as `model_id`, `evaluation_id` or `dataset_id`.

        Raises:
            NothingMade: The job has not succeeded yet, or has no such result.
        """
        value = (self.result or {}).get(name)
        if value is None:
            noun = name.removesuffix("_id")
            why = "makes none" if self.status == "succeeded" else f"is {self.status}"
            raise NothingMade(f"there is no {noun}: the {self.kind} job {self.id} {why}")
        return str(value)

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "kind": self.kind,
            "status": self.status,
            "title": self.title,
            "progress": self._steps(),
            "created": moment(self.created_at),
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        reason = (self.problem.detail or self.problem.title) if self.problem else ""
        facts = {
            "status": self.status,
            "why": reason,
            "title": self.title,
            "loss": loss(self.spec.get("loss")),
            "progress": self._steps(),
            "ranks": ranks(self),
            "made": ", ".join(
                str(value) for name, value in (self.result or {}).items() if name.endswith("_id")
            ),
            "created": moment(self.created_at),
            "ended": moment(self.finished_at),
        }
        findings = CardTable.of_findings(self.findings)
        return Card(
            f"{self.kind} job {self.id}",
            facts,
            self.conclusion.sentence if self.conclusion else "",
            tables=[*self._metrics(), *findings, *self._ranks(), *self._phases()],
        )

    def _steps(self) -> str:
        eta_seconds = self.progress and self.progress.eta_seconds
        left = "" if eta_seconds is None else f"{eta_seconds:.0f} s left"
        return ", ".join(filter(None, [self.steps, left]))

    def _phases(self) -> list[CardTable]:
        rows = [[one.phase, seconds(one.seconds), size(one.peak_memory_bytes)] for one in self.phases]
        return [CardTable(["phase", "#took", "#peak memory"], rows)] if rows else []

    def _ranks(self) -> list[CardTable]:
        columns = ["rank", "host", "#queries", "#documents", "#memory", "#waiting", "stage"]
        rows = [
            [
                str(one.rank),
                one.host,
                count(one.queries),
                count(one.documents),
                size(one.memory_bytes),
                "" if one.waiting_share is None else f"{one.waiting_share:.0%}",
                one.stage or "",
            ]
            for one in (self.progress and self.progress.ranks) or []
        ]
        return [CardTable(columns, rows)] if rows else []

    def _metrics(self) -> list[CardTable]:
        data = {name: values for name, values in (self.metrics or {}).items() if values}
        metrics = list(dict.fromkeys(metric for values in data.values() for metric in values))
        rows = [[metric, *(number(values.get(metric)) for values in data.values())] for metric in metrics]
        return [CardTable(["metric", *(f"#{name}" for name in data)], rows)] if rows else []
