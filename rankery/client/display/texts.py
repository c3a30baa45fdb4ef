"""Format numbers and times."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rankery.client.schemas import answers

_PERCENT_PHASES = frozenset({"reading", "binning"})


def number(value: float | None, digits: int = 4) -> str:
    """Format a measured value; empty if it is undefined."""
    return "" if value is None else f"{value:.{digits}f}"


def interval(lower: float | None, upper: float | None) -> str:
    """Format the ends of an interval; empty if it is undefined."""
    return "" if lower is None or upper is None else f"{lower:.4f} to {upper:.4f}"


def p_value(value: float | None) -> str:
    """Format a p-value with four decimals, "<.0001" below that; empty for None."""
    if value is None:
        return ""
    return "<.0001" if value < 1e-4 else f"{value:.4f}"


def count(value: Any) -> str:
    """Format a whole number; empty if it is unknown."""
    return "" if value is None else f"{value:,}"


def kinds(counts: Mapping[str, int]) -> str:
    """Format the number of objects by the plural of their kind: "2 models, 1 study"."""
    return ", ".join(
        f"{number:,} {_singular(kind) if number == 1 else kind}" for kind, number in counts.items()
    )


def _singular(plural: str) -> str:
    return f"{plural.removesuffix('ies')}y" if plural.endswith("ies") else plural.removesuffix("s")


def steps(job: answers.Job) -> str:
    """Format the phase of a job with its count or share: "training 120 of 500", "binning 37%".

    Within a long epoch of a network: "training 3 of 50, batch 12 of 80".
    """
    progress = job.progress
    if progress is None:
        return ""
    if not progress.total:
        return progress.phase
    done = progress.iteration or 0
    if shows_percentage(job):
        return f"{progress.phase} {done / progress.total:.0%}"
    batches = f", batch {progress.batch or 0:,} of {progress.batches:,}" if progress.batches else ""
    return f"{progress.phase} {done:,} of {progress.total:,}{batches}"


def shows_percentage(job: answers.Job) -> bool:
    """Return whether to show the progress of a job's phase as a percentage, not as a number of steps."""
    return job.kind == "ingest" or (job.progress is not None and job.progress.phase in _PERCENT_PHASES)


def ranks(job: answers.Job) -> str:
    """Format the number of ranks of a job and their hosts: "3 on node-1, node-2, restarted once"."""
    progress = job.progress
    if progress is None or not progress.ranks:
        return ""
    hosts = ", ".join(dict.fromkeys(rank.host for rank in progress.ranks))
    times = progress.restarts or 0
    again = "once" if times == 1 else f"{times} times"
    return f"{len(progress.ranks)} on {hosts}{f', restarted {again}' if times else ''}"


def milliseconds(parts: Mapping[str, float]) -> str:
    """Format times by part: "tree 92 ms, objective 8.1 ms"."""
    return ", ".join(
        f"{part} {time:,.0f} ms" if time >= 10 else f"{part} {time:.1f} ms" for part, time in parts.items()
    )


def seconds(value: float) -> str:
    """Format a duration.

    Example:
        >>> seconds(3.2), seconds(59.96), seconds(250.0)
        ('3.2 s', '1 min 0 s', '4 min 10 s')
    """
    if round(value, 1) < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes:,} min {rest} s"


def moment(value: datetime | None) -> str:
    """Format a time in the local time zone; empty for None."""
    return "" if value is None else value.astimezone().strftime("%Y-%m-%d %H:%M")


def size(n_bytes: int | None) -> str:
    """Format a number of bytes with its unit; empty for None.

    Example:
        >>> size(999), size(1_500), size(999_999)
        ('999 bytes', '1.5 kB', '1.0 MB')
    """
    if n_bytes is None:
        return ""
    amount, unit = float(n_bytes), "bytes"
    for larger in ("kB", "MB", "GB"):
        if round(amount, 1) < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"


def reason(problem: answers.FailureReason | None) -> str:
    """Return the reason of a failure; empty without one."""
    return (problem.detail or problem.title) if problem else ""


def loss(spec: dict[str, Any] | None) -> str:
    """Format the name of a loss with its hyperparameters that are not None."""
    if not spec:
        return ""
    chosen = [f"{name}={value}" for name, value in spec.items() if name != "name" and value is not None]
    return f"{spec.get('name')} ({', '.join(chosen)})" if chosen else str(spec.get("name"))
