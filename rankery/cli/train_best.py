"""`rankery train --best`: automatic training from a file."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.printing import say
from rankery.cli.references import refuse_unused_columns
from rankery.cli.texts import NotUnderstood
from rankery.cli.training_results import show_submitted, show_training
from rankery.cli.trainings import Sources, model_name_of, share_field
from rankery.local_files import is_file

_UNITS = {"s": 1, "m": 60, "h": 3_600}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smh]?)")


class Preference(StrEnum):
    """Selection rule of the final model among the candidates."""

    SIMPLE = "simple"
    BEST = "best"


_PANEL = "The best model"
BestOption = Annotated[
    bool,
    typer.Option(
        "--best",
        help="Try a portfolio of trees, linear scorers and networks with several losses, and train the best"
        " one or a sum; --metric selects it. Options of a single training are refused.",
        rich_help_panel=_PANEL,
    ),
]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Time budget of --best: 90s, 10m or 2h.",
        rich_help_panel=_PANEL,
        show_default="5m",
    ),
]
PreferOption = Annotated[
    Preference | None,
    typer.Option(
        help="Selection rule of --best: a sum of candidates, or simple, one candidate unless the sum is"
        " clearly better.",
        rich_help_panel=_PANEL,
        show_default="best",
    ),
]
CandidatesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--candidate",
        metavar="NAME",
        help="Candidate that --best tries, such as 'linear by ranknet'; may be repeated.",
        rich_help_panel=_PANEL,
        show_default="all",
    ),
]


def refuse_options(options: Mapping[str, Any], *, best: bool) -> None:
    """Refuse options that conflict with `--best` if it is given, or that require `--best` if it is absent.

    Args:
        options: Values of the options to refuse, by name; None if left out. With `best`, the options that
            conflict with `--best`; else the options that require `--best`.
        best: Whether `--best` was given.

    Raises:
        WrongUsage: One of the options is given; the message suggests a correction.
    """
    refused = [name for name, value in options.items() if value is not None]
    if not refused:
        return
    listed = ", ".join(refused)
    if best:
        raise WrongUsage(f"--best chooses what is trained: leave {listed} out, or leave --best out")
    raise WrongUsage(f"{listed}: add --best, or leave it out")


def seconds_of(text: str) -> float:
    """Parse a duration into seconds.

    Raises:
        NotUnderstood: The text is not a duration.

    Example:
        >>> [seconds_of(text) for text in ("90", "90s", "10m", "1.5h")]
        [90.0, 90.0, 600.0, 5400.0]
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise NotUnderstood(f"--budget takes a time such as 90s, 10m or 2h, not {text!r}")
    return float(match[1]) * _UNITS[match[2] or "s"]


def automatic_training_fields(budget: str | None, metrics: Sequence[str] | None) -> dict[str, Any]:
    """Return the fields of an automatic training that the options set.

    Raises:
        WrongUsage: There are several metrics.
        NotUnderstood: The budget is not a time.
    """
    if metrics and len(metrics) > 1:
        raise WrongUsage("--best selects by one metric; give --metric once")
    return {
        "kind": "auto-train",
        "metric": metrics[0] if metrics else None,
        "budget_seconds": None if budget is None else seconds_of(budget),
    }


def train_best(
    session: ServiceConnection,
    data: str | None,
    *,
    test: str | None,
    columns: dict[str, Any] | None,
    label_map: dict[str, float] | None,
    name: str | None,
    metrics: Sequence[str] | None,
    contract: Any,
    budget: str | None,
    prefer: Preference | None,
    candidates: Sequence[str] | None,
    seed: int | None,
    watch: bool,
) -> None:
    """Upload the data, submit an automatic training, wait for it and print its results.

    Raises:
        WrongUsage: There are no data, or several metrics.
        NotUnderstood: The budget is not a time, or the test data are a share of the queries.
    """
    if data is None:
        raise WrongUsage("give DATA, a judged file or a dataset")
    requested = automatic_training_fields(budget, metrics)
    if share_field(test) is not None:
        raise NotUnderstood(
            "--best holds out queries itself; give --test a judged file or a dataset, not a share"
        )
    refuse_unused_columns(columns, data, None, test)
    if watch and is_file(data):
        session.allow_embedded_service()
    datasets = Sources(data, None, test, columns).fields(session)
    job = session.client.train_best(
        name or model_name_of(data),
        datasets["dataset_id"],
        test=datasets.get("test_dataset_id"),
        budget_seconds=requested["budget_seconds"],
        metric=requested["metric"],
        contract=contract,
        label_map=label_map,
        prefer=None if prefer is None else prefer.value,
        candidates=candidates,
        seed=seed,
    )
    say(f"submitted {job.id}, planned for {job.spec['budget_seconds']:.0f} s, for {job.title}")
    if watch:
        show_training(session, session.wait(job))
    else:
        show_submitted(session, [job])
