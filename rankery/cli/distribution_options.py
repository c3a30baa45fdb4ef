"""Options that spread a training over several processes."""

import re
from typing import Annotated, Any

import typer

from rankery.cli.endings import WrongUsage
from rankery.cli.texts import NotUnderstood

_RANKS = re.compile(r"(?:(\d+)-)?(\d+)")

RanksOption = Annotated[
    str | None,
    typer.Option(
        metavar="N or M-N",
        help="Train on several machines or processes of the service: at most N, and at least M, or 2. Their"
        " number does not change the model. Of trees alone.",
    ),
]
ThreadsPerRankOption = Annotated[
    int | None,
    typer.Option(min=1, max=256, help="Threads of each of --ranks.", show_default="1"),
]


def distribution_of(ranks: str | None, threads_per_rank: int | None) -> dict[str, Any] | None:
    """Return the `distribution` of a request, None for one process.

    Args:
        ranks: `--ranks`: "8", or "2-8" with the least number, too.
        threads_per_rank: `--threads-per-rank`.

    Raises:
        NotUnderstood: `--ranks` is neither a number nor two.
        WrongUsage: Threads are given without ranks.

    Example:
        >>> distribution_of("2-8", 4)
        {'ranks': {'at_least': 2, 'at_most': 8}, 'threads_per_rank': 4}
    """
    if ranks is None:
        if threads_per_rank is not None:
            raise WrongUsage("--threads-per-rank goes with --ranks")
        return None
    numbers = _RANKS.fullmatch(ranks)
    if numbers is None:
        raise NotUnderstood(f"--ranks takes 8, or 2-8 with the least number, too, not {ranks!r}")
    named = zip(("at_least", "at_most"), numbers.groups(), strict=True)
    asked: dict[str, Any] = {"ranks": {name: int(number) for name, number in named if number is not None}}
    return asked if threads_per_rank is None else asked | {"threads_per_rank": threads_per_rank}
