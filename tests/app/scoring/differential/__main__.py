"""Compare many requests of each form and print a table; fails where there is a difference or a fault.

python -m tests.app.scoring.differential --bodies 20000
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.app.scoring.differential.campaign import FORMS, Outcome, compare
from tests.app.scoring.differential.served import served

COLUMNS = ("bodies", "accepted", "refused", "stricter", "fast path", "scores", "differences", "5xx")
_SHOWN = 20


def main() -> None:
    """Compare requests of all forms, or of the selected ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bodies", type=int, default=20_000, help="requests of each form")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first request")
    names = [form.name for form in FORMS]
    parser.add_argument(
        "--form", action="append", choices=names, help="form to compare, repeatable; all by default"
    )
    options = parser.parse_args()
    outcomes = asyncio.run(_all(options.form, options.bodies, options.seed))
    console = Console(width=120)
    console.print(_table(outcomes))
    for name, outcome in outcomes.items():
        for seed, difference in outcome.differences[:_SHOWN]:
            console.print(f"{name}, seed {seed}: {difference}", markup=False)
    sys.exit(any(outcome.differences or outcome.n_server_errors for outcome in outcomes.values()))


async def _all(names: list[str] | None, bodies: int, seed: int) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    progress = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="rankery-differential-") as folder:
        async with served(Path(folder)) as application:
            for form in FORMS:
                if names and form.name not in names:
                    continue
                begin = time.monotonic()
                async for outcome in compare(form, application, bodies, seed):
                    outcomes[form.name] = outcome
                    seconds = time.monotonic() - begin
                    progress.print(f"{form.name}: {outcome.bodies:,} bodies in {seconds:.0f} s")
    return outcomes


def _table(outcomes: dict[str, Outcome]) -> Table:
    table = Table("form", *COLUMNS)
    for name, outcome in outcomes.items():
        figures = (
            outcome.bodies,
            outcome.accepted,
            outcome.refused,
            outcome.stricter,
            outcome.fast,
            outcome.scores,
        )
        table.add_row(
            name, *(f"{figure:,}" for figure in (*figures, len(outcome.differences), outcome.n_server_errors))
        )
    return table


if __name__ == "__main__":
    main()
