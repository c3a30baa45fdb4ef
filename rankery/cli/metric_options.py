"""Options of commands that measure."""

from typing import Annotated

import typer

from rankery.cli.completion import completed
from rankery.cli.names import METRICS, PRESETS

Metrics = Annotated[
    list[str] | None,
    typer.Option(
        help="Such as ndcg@10; may be given several times, the first decides comparisons.",
        autocompletion=completed(METRICS),
        show_default=False,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Conventions: default, lightgbm, xgboost, sklearn, trec_eval or letor.",
        autocompletion=completed(PRESETS),
        show_default=False,
    ),
]
