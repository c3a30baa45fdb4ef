"""Jobs, their candidates and their learning curves."""

from statistics import median
from typing import TYPE_CHECKING, Any

from pydantic import Field

from rankery.client.display import plots, texts
from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.frames.outgoing import Tabular
from rankery.client.schemas import answers
from rankery.errors import NothingMade

if TYPE_CHECKING:
    import pyarrow as pa


_MEASURED = ("complete", "stopped", "out-of-time")


class CandidateView(Displayable, answers.AutoTrainCandidate):
    """A candidate of an automatic training."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        lower, upper = self.interval or (None, None)
        return {
            "candidate": self.name,
            "#value": texts.number(self.value),
            "interval": texts.interval(lower, upper),
            "#folds": f"{self.folds} of {self.planned_folds}" if self.planned_folds else "",
            "#time": texts.seconds(self.seconds) if self.seconds else "",
            "#weight": f"{self.weight:.2f}" if self.weight else "",
            "status": self.words,
        }

    def card(self) -> Card:
        """Return the card of the candidate."""
        facts = {name.removeprefix("#"): value for name, value in self.summary().items()}
        return Card("candidate", facts)

    @property
    def words(self) -> str:
        """Status with the reason; for a complete candidate, whether the best is significantly better."""
        if self.reason:
            return f"{self.status}: {self.reason}"
        return f"{self.status}, tied with the best" if self.tied_with_best else self.status


def ranked(candidates: answers.AutoTrainCandidates) -> list[CandidateView]:
    """Return complete candidates with the best first, then those that ended early, then the others."""
    sign = -1.0 if candidates.higher_is_better else 1.0

    def sort_key(row: CandidateView) -> tuple[int, float]:
        group = _MEASURED.index(row.status) if row.status in _MEASURED else len(_MEASURED)
        return group, 0.0 if row.value is None else sign * row.value

    rows = [CandidateView.model_validate(row.model_dump()) for row in candidates.items]
    return sorted(rows, key=sort_key)


class History(Displayable, answers.JobHistory, Tabular):
    """Learning curves: one value per measured iteration for each metric and dataset."""

    @property
    def median_milliseconds(self) -> dict[str, float]:
        """Median time of an iteration by part, the longest first; empty if no times were recorded."""
        recorded = {
            part: [time for time in times if time is not None]
            for part, times in (self.milliseconds or {}).items()
        }
        medians = {part: median(times) for part, times in recorded.items() if times}
        return dict(sorted(medians.items(), key=lambda part: -part[1]))

    @property
    def times(self) -> str:
        """Median time of an iteration by part, as text; empty if no times were recorded.

        Example: "tree 92 ms, objective 8.1 ms (medians)".
        """
        medians = self.median_milliseconds
        return f"{texts.milliseconds(medians)} (medians)" if medians else ""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "job": self.job_id,
            "iterations": texts.count(len(self.iterations)),
            "best": texts.count(self.best_iteration),
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        rows = [
            [data, metric, texts.number(values[0]), texts.number(values[-1])]
            for data, metrics in self.curves.items()
            for metric, values in metrics.items()
            if values
        ]
        facts = {
            "iterations": texts.count(len(self.iterations)),
            "best iteration": texts.count(self.best_iteration),
            "an iteration takes": self.times,
        }
        columns = ["data", "metric", "#first", "#last"]
        return Card(f"learning curves of {self.job_id}", facts, tables=[CardTable(columns, rows)])

    def to_arrow(self) -> "pa.Table":
        """Return a table by iteration, with columns such as `train ndcg@10` and `tree milliseconds`."""
        from rankery.client.frames.arrow import pa

        curves = {
            f"{data} {metric}": pa.array(values, pa.float64())
            for data, metrics in self.curves.items()
            for metric, values in metrics.items()
        }
        times = {
            f"{part} milliseconds": pa.array(values, pa.float64())
            for part, values in (self.milliseconds or {}).items()
        }
        return pa.table({"iteration": pa.array(self.iterations, pa.int64()), **curves, **times})

    def plot(self, metric: str | None = None) -> Any:
        """Draw the curves of a metric on all data, with the best iteration marked.

        Args:
            metric: Name of the metric; when left out, the first one of the validation data or, without any,
                of the first data; `loss` only if there is no other.

        Returns:
            A `plotly.graph_objects.Figure`.

        Raises:
            DataUnusable: The metric was not measured.
        """
        return plots.history(self, metric)


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
        return texts.steps(self)

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
            "created": texts.moment(self.created_at),
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        facts = {
            "status": self.status,
            "why": texts.reason(self.problem),
            "title": self.title,
            "loss": texts.loss(self.spec.get("loss")),
            "progress": self._steps(),
            "ranks": texts.ranks(self),
            "made": ", ".join(
                str(value) for name, value in (self.result or {}).items() if name.endswith("_id")
            ),
            "created": texts.moment(self.created_at),
            "ended": texts.moment(self.finished_at),
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
        rows = [
            [one.phase, texts.seconds(one.seconds), texts.size(one.peak_memory_bytes)] for one in self.phases
        ]
        return [CardTable(["phase", "#took", "#peak memory"], rows)] if rows else []

    def _ranks(self) -> list[CardTable]:
        columns = ["rank", "host", "#queries", "#documents", "#memory", "#waiting", "stage"]
        rows = [
            [
                str(one.rank),
                one.host,
                texts.count(one.queries),
                texts.count(one.documents),
                texts.size(one.memory_bytes),
                "" if one.waiting_share is None else f"{one.waiting_share:.0%}",
                one.stage or "",
            ]
            for one in (self.progress and self.progress.ranks) or []
        ]
        return [CardTable(columns, rows)] if rows else []

    def _metrics(self) -> list[CardTable]:
        data = {name: values for name, values in (self.metrics or {}).items() if values}
        metrics = list(dict.fromkeys(metric for values in data.values() for metric in values))
        rows = [
            [metric, *(texts.number(values.get(metric)) for values in data.values())] for metric in metrics
        ]
        return [CardTable(["metric", *(f"#{name}" for name in data)], rows)] if rows else []
