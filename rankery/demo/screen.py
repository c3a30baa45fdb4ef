"""Output of the demo: live progress in a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from rankery.client.schemas.answers import Interval, Job, MetricSummary, ScoredDocument

_LINE_INTERVAL_SECONDS = 2.0
_METRIC = "ndcg@10"

Mean: TypeAlias = Interval | MetricSummary


class Screen:
    """The demo's part of the terminal."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console()

    def say(self, line: str) -> None:
        """Show one line."""
        self._console.print(f"[bold]rankery[/bold] {escape(line)}", highlight=False, soft_wrap=True)

    @contextmanager
    def training(self, loss: str) -> Iterator[Callable[[Job], None]]:
        """Yield a function that shows the progress of a training job."""
        if self._console.is_terminal:
            with self._bar(loss) as show:
                yield show
        else:
            yield self._plain(loss)

    def compare(
        self,
        results: Mapping[str, Mapping[str, Interval | MetricSummary]],
        metrics: Sequence[str],
        evaluated_on: str,
    ) -> None:
        """Show the losses' metrics side by side."""
        self.say(f"mean NDCG with its 95% interval on {evaluated_on}:")
        table = Table()
        table.add_column("metric")
        for loss in results:
            table.add_column(loss, justify="right", no_wrap=True)
        for metric in metrics:
            table.add_row(metric, *(_cell(summaries[metric]) for summaries in results.values()))
        self._console.print(table)

    def ranking(self, documents: Sequence[ScoredDocument], labels: Mapping[str, float | None]) -> None:
        """Show a ranked list with the labels of its documents, None where a document is not judged."""
        table = Table()
        for column in ("rank", "document", "score", "label"):
            table.add_column(column, justify="left" if column == "document" else "right")
        for document in documents:
            label = labels[document.id]
            judged = "" if label is None else f"{label:g}"
            table.add_row(str(document.rank), escape(document.id), f"{document.score:.4f}", judged)
        self._console.print(table)

    @contextmanager
    def _bar(self, loss: str) -> Iterator[Callable[[Job], None]]:
        columns = (
            TextColumn("{task.description:<14}"),
            BarColumn(),
            TextColumn("{task.completed:.0f} of {task.fields[of]}  {task.fields[state]}"),
        )
        with Progress(*columns, console=self._console) as progress:
            bar = progress.add_task(loss, total=None, of="?", state="")

            def show(job: Job) -> None:
                iteration, planned = _counts(job)
                total = iteration if job.status == "succeeded" else planned
                state = _job_state(job)
                progress.update(bar, completed=iteration, total=total or None, of=planned, state=state)

            yield show

    def _plain(self, loss: str) -> Callable[[Job], None]:
        shown_at = 0.0

        def show(job: Job) -> None:
            nonlocal shown_at
            ended = job.status == "succeeded"
            iteration, total = _counts(job)
            if iteration and (ended or time.monotonic() - shown_at >= _LINE_INTERVAL_SECONDS):
                shown_at = time.monotonic()
                self.say(f"{loss}: iteration {iteration} of {total}{_with_separator(_job_state(job))}")

        return show


def _counts(job: Job) -> tuple[int, int]:
    if job.progress is None:
        return 0, 0
    return job.progress.iteration or 0, job.progress.total or 0


def _job_state(job: Job) -> str:
    value = (job.metrics or {}).get("validation", {}).get(_METRIC)
    parts = [] if value is None else [f"validation NDCG@10 {value:.4f}"]
    if job.status == "succeeded":
        parts.append("done")
    elif job.progress is not None and job.progress.eta_seconds is not None:
        parts.append(f"{job.progress.eta_seconds:.0f} s left")
    elif job.progress is not None:
        parts.append(job.progress.phase)
    return ", ".join(parts)


def _with_separator(state: str) -> str:
    return f", {state}" if state else ""


def _cell(summary: Mean) -> str:
    if summary.mean is None:
        return "undefined"
    if summary.lower is None:
        return f"{summary.mean:.4f}"
    return f"{summary.mean:.4f} [{summary.lower:.4f}, {summary.upper:.4f}]".replace("[", r"\[", 1)
