"""The trainings of a grid."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, number
from rankery.client.frames.outgoing import Tabular
from rankery.client.listing import Listing
from rankery.client.views.job import JobView
from rankery.errors import NothingMade
from rankery.json_text import parsed_json

if TYPE_CHECKING:
    import pyarrow as pa

AnyJob = TypeVar("AnyJob", bound=JobView)
_SELECTION_DATA = "validation"  # selection by test values would be biased


class GridView(Displayable, Tabular, Generic[AnyJob]):
    """The trainings of a grid, in the order of its points.

    Attributes:
        jobs: One job for each point, or one for each repetition of a point.
    """

    def __init__(
        self, jobs: Listing[AnyJob], parameters: Sequence[str], metric: str, *, higher_is_better: bool
    ) -> None:
        self.jobs = jobs
        self.parameters = list(parameters)
        self._metric = metric
        self._sign = 1.0 if higher_is_better else -1.0

    @property
    def best(self) -> AnyJob:
        """The training with the best value of the first metric on validation data.

        Raises:
            NothingMade: No training has a value of this metric on validation data, or none yet.
        """
        measured = [(value, job) for job in self.jobs if (value := self._value(job)) is not None]
        if not measured:
            ended = sum(job.has_ended for job in self.jobs)
            raise NothingMade(
                f"no training of the grid has a validation metric, {ended} of {len(self.jobs)} have ended;"
                " wait for the grid, and give validation or folds"
            )
        return max(measured, key=lambda pair: pair[0])[1]

    def to_arrow(self) -> "pa.Table":
        """Return a table with one row per training: id, status, parameters and metrics."""
        from rankery.client.frames.arrow import pa

        rows = [
            {"job_id": job.id, "status": job.status, **self._point(job), **_metrics(job)} for job in self.jobs
        ]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return pa.table({name: [row.get(name) for row in rows] for name in names})

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        ended = sum(job.has_ended for job in self.jobs)
        return {
            "trainings": count(len(self.jobs)),
            "ended": count(ended),
            "parameters": ", ".join(self.parameters),
        }

    def card(self) -> Card:
        """Return the card of the grid, the best training first."""
        metrics = list(dict.fromkeys(name for job in self.jobs for name in _metrics(job)))
        ordered = sorted(self.jobs, key=self._sort_key)
        rows = [
            [
                job.id,
                job.status,
                *(str(self._point(job).get(name, "")) for name in self.parameters),
                *(number(_metrics(job).get(name)) for name in metrics),
            ]
            for job in ordered
        ]
        columns = ["id", "status", *self.parameters, *(f"#{name}" for name in metrics)]
        return Card("grid", self.summary(), tables=[CardTable(columns, rows)])

    def _point(self, job: AnyJob) -> dict[str, Any]:
        tags = job.spec.get("tags") or {}
        return {name: _parsed(tags[name]) for name in self.parameters if name in tags}

    def _sort_key(self, job: AnyJob) -> tuple[bool, float]:
        value = self._value(job)
        return value is None, -(value or 0.0)

    def _value(self, job: AnyJob) -> float | None:
        """Return the validation value of the first metric, negated if lower is better."""
        mean = ((job.metrics or {}).get(_SELECTION_DATA) or {}).get(self._metric)
        return None if mean is None else self._sign * float(mean)


def _metrics(job: JobView) -> dict[str, Any]:
    return {
        f"{role} {metric}": value
        for role, values in (job.metrics or {}).items()
        for metric, value in (values or {}).items()
    }


def _parsed(text: str) -> Any:
    try:
        return parsed_json(text)
    except ValueError:
        return text
