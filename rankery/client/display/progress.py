"""Progress bars on a terminal's standard error, or in a notebook; nothing elsewhere."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from rankery.client.display.texts import shows_percentage, steps
from rankery.client.schemas.answers import Job
from rankery.control_characters import visible
from rankery.verbosity import is_quiet

OnJob = Callable[[Job], None]


def is_wanted(progress: bool | None) -> bool:
    """Return whether to draw progress bars; never if the command is quiet.

    Args:
        progress: The request of the caller; None draws bars if standard error is a terminal or in a notebook.
    """
    if is_quiet():
        return False
    console = Console(stderr=True)
    return (console.is_terminal or console.is_jupyter) if progress is None else progress


@contextmanager
def continuing(noun: str, ids: Sequence[str]) -> Iterator[None]:
    """Add to a keyboard interrupt how to cancel what continues without its wait, and how to wait again.

    Args:
        noun: `job`, or another noun of a call of the client.
    """
    try:
        yield
    except KeyboardInterrupt:
        subject = f"{noun} {ids[0]} continues" if len(ids) == 1 else f"the {noun}s continue: {', '.join(ids)}"
        call = f'client.{noun}("{ids[0] if len(ids) == 1 else "…"}")'
        hint = f"{subject}; {call}.wait() waits again, {call}.cancel() cancels it"
        raise KeyboardInterrupt(hint) from None


@contextmanager
def jobs_progress(jobs: Sequence[Job], progress: bool | None) -> Iterator[OnJob]:
    """Draw a bar for each job: the block gets a function that updates the bar of a job.

    A keyboard interrupt leaves the jobs running; its message shows how to cancel them.
    """
    with continuing("job", [job.id for job in jobs]):
        if not jobs or not is_wanted(progress):
            yield _nothing
            return
        with _progress_bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(16),
            TextColumn("{task.fields[state]}", markup=False),
        ) as bars:
            tasks = {job.id: bars.add_task(_name(job), total=None, state=job.status) for job in jobs}

            def show(job: Job) -> None:
                done, total = _steps(job)
                bars.update(tasks[job.id], completed=done, total=total, state=_job_state(job))

            yield show


@contextmanager
def steps_progress(
    description: str, progress: bool | None
) -> Iterator[Callable[[int, int | None, str], None]]:
    """Draw a bar of steps: the block gets a function to call with done, total and a text."""
    if not is_wanted(progress):
        yield _nothing
        return
    with _progress_bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
    ) as bars:
        task = bars.add_task(description, total=None, state="")
        yield lambda done, total, state: bars.update(task, completed=done, total=total, state=state)


@contextmanager
def upload_progress(total_bytes: int | None, progress: bool | None) -> Iterator[Callable[[int], None]]:
    """Draw a bar of bytes: the block gets a function to call with the bytes sent since the last call."""
    if not is_wanted(progress):
        yield _nothing
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with _progress_bars(*columns) as bars:
        task = bars.add_task("uploading", total=total_bytes)
        yield lambda n_bytes: bars.advance(task, n_bytes)


@contextmanager
def download_progress(description: str, progress: bool | None) -> Iterator[Callable[[int, int | None], None]]:
    """Draw a bar of bytes: the block gets a function to call with the bytes so far and the total."""
    if not is_wanted(progress):
        yield _nothing
        return
    with _progress_bars(
        TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    ) as bars:
        task = bars.add_task(description, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


@contextmanager
def _progress_bars(*columns: ProgressColumn) -> Iterator[Progress]:
    with Progress(*columns, console=Console(stderr=True)) as bars:
        yield bars
        bars.refresh()  # otherwise a notebook would keep the state before the last update


def _nothing(*_: object) -> None:
    pass


def _name(job: Job) -> str:
    return f"{job.kind} {visible(job.title, one_line=True) or job.id}"


def _steps(job: Job) -> tuple[int, int | None]:
    if job.status == "succeeded":
        done = (job.progress and job.progress.iteration) or 1
        return done, done
    if job.progress is None:
        return 0, None
    return job.progress.iteration or 0, job.progress.total


def _job_state(job: Job) -> str:
    done, total = _steps(job)
    if job.status == "running" and total and shows_percentage(job):
        parts = [steps(job)]
    else:
        # The phases of an automatic training are the names of its candidates.
        shows_phase = job.status != "running" or not total or job.kind == "auto-train"
        parts = [_stage(job)] if shows_phase else []
    if total is not None and total > 1 and not shows_percentage(job):
        parts.append(f"{done:,} of {total:,}")
    metric, value = _main_metric(job)
    if value is not None:
        parts.append(f"validation {metric} {value:.4f}")
    if job.status == "running" and job.progress is not None and job.progress.eta_seconds is not None:
        parts.append(f"{job.progress.eta_seconds:.0f} s left")
    return ", ".join(parts)


def _stage(job: Job) -> str:
    return job.status if job.status != "running" or job.progress is None else job.progress.phase


def _main_metric(job: Job) -> tuple[str, float | None]:
    """Return the main metric and its latest value on the validation data."""
    metric = job.main_metric.name if job.main_metric else ""
    return metric, (job.metrics or {}).get("validation", {}).get(metric)
