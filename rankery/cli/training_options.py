"""Options of trainings: the scorer, and distributed training."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from rankery.cli.completion import complete_from, complete_from_service
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.names import SCORERS
from rankery.cli.texts import NotUnderstood
from rankery.grids import TREES

_MLP = "mlp"
_PREFIX = "scorer."

DEFAULT_LOSS = "ndcg-loss2++"
HELD_OUT = "0.2"  # share of the queries to hold out by default
TRAINING_DATA = typer.Argument(
    help="Training data: a judged file, which is uploaded, or a dataset's id or name.",
    autocompletion=complete_from_service("datasets"),
)
LossOptions = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Parameter of the loss: mu=5, truncation_level=8."),
]
ScorerOption = Annotated[
    str | None,
    typer.Option(
        help="Kind of model: trees, linear (a weighted sum of the features) or mlp (a network).",
        autocompletion=complete_from(SCORERS),
        show_default=TREES,
    ),
]
HiddenOption = Annotated[
    str | None, typer.Option(metavar="UNITS,UNITS", help="Units of a network's hidden layers; implies mlp.")
]
EpochsOption = Annotated[
    int | None, typer.Option(min=1, help="Maximum number of epochs of a network or a linear scorer.")
]


_RANKS = re.compile(r"(?:(\d+)-)?(\d+)")

RanksOption = Annotated[
    str | None,
    typer.Option(
        metavar="N or M-N",
        help="Distribute a training of trees over at most N processes, on any number of machines, and at"
        " least M (default 2). The number of processes does not change the model.",
    ),
]
ThreadsPerRankOption = Annotated[
    int | None,
    typer.Option(min=1, max=256, help="Threads of each process of --ranks.", show_default="1"),
]


@dataclass(frozen=True)
class ScorerChoice:
    """Scorer and hyperparameters of a training request.

    Attributes:
        scorer: The `scorer` of a request, None for trees.
        hyperparameters: The `hyperparameters` of a request, which apply to trees.
    """

    scorer: dict[str, Any] | None
    hyperparameters: dict[str, Any]

    @classmethod
    def of(
        cls, kind: str | None, hidden: str | None, epochs: int | None, settings: Mapping[str, Any]
    ) -> "ScorerChoice":
        """Build the choice from the options of a command.

        Args:
            kind: `--scorer`.
            hidden: `--hidden`, "128,64".
            epochs: `--epochs`.
            settings: `--set`; for a network, names with or without `scorer.` are its hyperparameters.

        Raises:
            WrongUsage: An option of networks is given with trees.
            NotUnderstood: There is no such kind, or the units are not whole numbers.
        """
        kind = kind or (_MLP if hidden is not None else TREES)
        if kind not in SCORERS:
            raise NotUnderstood(f"--scorer must be one of {', '.join(SCORERS)}, not {kind}")
        if kind == TREES:
            network_options = {"--hidden": hidden, "--epochs": epochs}
            unused = [name for name, value in network_options.items() if value is not None]
            unused += [f"--set {name}" for name in settings if name.startswith(_PREFIX)]
            if unused:
                raise WrongUsage(f"{unused[0]} needs --scorer linear or mlp; the scorer is trees")
            return cls(None, dict(settings))
        scorer: dict[str, Any] = {"kind": kind}
        if hidden is not None:
            scorer["hidden"] = _units(hidden)
        if epochs is not None:
            scorer["epochs"] = epochs
        return cls(scorer | {name.removeprefix(_PREFIX): value for name, value in settings.items()}, {})


def distribution_of(ranks: str | None, threads_per_rank: int | None) -> dict[str, Any] | None:
    """Return the `distribution` of a request, None for one process.

    Args:
        ranks: `--ranks`: "8" for at most 8, or "2-8" with a minimum.
        threads_per_rank: `--threads-per-rank`.

    Raises:
        NotUnderstood: `--ranks` is neither a number nor a range.
        WrongUsage: Threads are given without ranks.

    Example:
        >>> distribution_of("2-8", 4)
        {'ranks': {'at_least': 2, 'at_most': 8}, 'threads_per_rank': 4}
    """
    if ranks is None:
        if threads_per_rank is not None:
            raise WrongUsage("--threads-per-rank needs --ranks")
        return None
    numbers = _RANKS.fullmatch(ranks)
    if numbers is None:
        raise NotUnderstood(f"--ranks takes a maximum such as 8, or a range such as 2-8, not {ranks!r}")
    named = zip(("at_least", "at_most"), numbers.groups(), strict=True)
    requested: dict[str, Any] = {"ranks": {name: int(number) for name, number in named if number is not None}}
    return requested if threads_per_rank is None else requested | {"threads_per_rank": threads_per_rank}


def _units(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise NotUnderstood(
            f"--hidden takes whole numbers separated by commas, such as 128,64, not {text!r}"
        ) from None
