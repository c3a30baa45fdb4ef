"""Print the figures as tables; each function returns whether all of them are good."""

import statistics
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from tests.faults.recovery import LIMIT_SECONDS, Recovery
from tests.faults.resume import Killed
from tests.faults.verdict import Row

_NUMBERS = {
    "accepted": "accepted",
    "finished": "finished",
    "failed\nas expected": "failed",
    "lost": "lost",
    "twice": "twice",
    "models": "models",
    "models\ndiffer": "models_differ",
    "results\ndiffer": "results_differ",
    "retries": "attempts",
}
_CAPTION = (
    "retries: claims beyond the first. Recovery, median / longest: from the kill of a worker until its job "
    "runs again; from any other fault until a job submitted then has succeeded."
)


def show_faults(console: Console, rows: Sequence[Row]) -> bool:
    """Print a row for each fault and their sum, then all problems."""
    table = Table(title="Jobs under faults", caption=_CAPTION, caption_justify="left", show_footer=True)
    table.add_column("fault", footer="all")
    for title, name in _NUMBERS.items():
        table.add_column(title, justify="right", footer=str(sum(getattr(row, name) for row in rows)))
    table.add_column("recovery s", justify="right")
    table.add_column("took s", justify="right", footer=f"{sum(row.seconds for row in rows):.0f}")
    for row in rows:
        numbers = [str(getattr(row, name)) for name in _NUMBERS.values()]
        style = None if row.is_good else "red"
        table.add_row(row.fault, *numbers, row.recovery, f"{row.seconds:.0f}", style=style)
    console.print(table)
    for row in rows:
        _print_problems(console, row.fault, row.problems)
    return all(row.is_good for row in rows)


def show_resumed(console: Console, killed: Sequence[Killed]) -> bool:
    """Print the iterations of kills and resumptions, and the number of equal models."""
    table = Table(
        "killed at iteration", "resumed from", "model equal", "other results equal", title="Resumed trainings"
    )
    for one in sorted(killed, key=lambda one: one.killed_at or 0):
        words = ("yes" if one.model_is_equal else "NO", "yes" if one.results_are_equal else "NO")
        table.add_row(str(one.killed_at), str(one.resumed_from), *words, style=None if one.is_good else "red")
    console.print(table)
    equal = sum(one.model_is_equal for one in killed)
    resumed = sum(bool(one.resumed_from) for one in killed)
    console.print(f"{len(killed)} kills: {resumed} resumed from a checkpoint, {equal} equal model texts")
    for one in killed:
        _print_problems(console, f"killed at {one.killed_at}", one.problems)
    # Without resumed trainings, equality would show only that trainings are reproducible.
    return all(one.is_good for one in killed) and 2 * resumed >= len(killed)


def show_recoveries(console: Console, recoveries: Sequence[Recovery]) -> bool:
    """Print the distribution of the times until a job ran again."""
    table = Table("next worker of the job", "kills", "shortest s", "median s", "longest s", "each s")
    table.title = (
        f"Running again after SIGKILL of the worker, at default settings (limit {LIMIT_SECONDS:g} s)"
    )
    for one in recoveries:
        seconds = sorted(one.seconds)
        if seconds:
            marks = (seconds[0], statistics.median(seconds), seconds[-1])
            words = [f"{mark:.1f}" for mark in marks] + [" ".join(f"{second:.1f}" for second in seconds)]
            table.add_row(one.situation, str(len(seconds)), *words, style=None if one.is_good else "red")
    console.print(table)
    for one in recoveries:
        _print_problems(console, one.situation, one.problems)
    return all(one.is_good for one in recoveries)


def _print_problems(console: Console, about: str, problems: Sequence[str]) -> None:
    for problem in problems:
        console.print(f"{about}: {problem}", markup=False, highlight=False, style="red")
