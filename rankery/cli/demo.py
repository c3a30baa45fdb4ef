"""`rankery demo`: two losses side by side in a few minutes."""

from pathlib import Path
from typing import Annotated

import typer

from rankery.cli.options import file_option


def demo(
    train: Annotated[Path | None, file_option("Judged data to learn from.")] = None,
    validation: Annotated[Path | None, file_option("What picks the best iteration.")] = None,
    test: Annotated[Path | None, file_option("What the losses are compared on.")] = None,
    queries: Annotated[
        int, typer.Option(min=20, max=20_000, help="Synthetic training queries, where no file is given.")
    ] = 300,
) -> None:
    """Train two losses side by side, compare them on held-out queries and rank one query live.

    Runs on a service of its own in a temporary folder, which is removed at the end. Without files the data
    are the random cubic polynomials of the 2006 LambdaRank paper. With --train (LETOR or SVMlight text,
    plain or gzip), --validation defaults to a fifth of its queries, and --test to the validation file.

    Example: `rankery demo --train train.txt --test test.txt`
    """
    from rankery.demo.run import DemoFiles, run_demo

    run_demo(DemoFiles.of(train, validation, test), queries)
