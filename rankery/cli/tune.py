"""`rankery tune` and `rankery studies`: hyperparameter searches, compared on held-out queries."""

import json
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from rankery.cli import training_options
from rankery.cli.bulk import add_delete
from rankery.cli.completion import complete_from, complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.names import LOSSES
from rankery.cli.options import ColumnsOption, LabelMapOption, Limit, OfStatus, columns_of, label_map_of
from rankery.cli.printing import age, number, plain, say, table
from rankery.cli.service_options import on_service, service_command
from rankery.cli.texts import NotUnderstood, grid, settings
from rankery.cli.trainings import Sources, check_hyperparameters, check_losses, model_name_of
from rankery.grids import TREES, pointer_of, searched_value

if TYPE_CHECKING:
    from rankery.client import Study


_LOSS = "lambdarank"
_BEST = 5
_LOG = ":log"
# The most influential hyperparameters in the benchmarks; the bounds suit 50 to 30,000 queries.
_SPACE_OF_WEIGHTS = {"learning_rate": "0.0001..0.1:log", "weight_decay": "0.00001..0.1:log"}
_SPACES = {
    "trees": {
        "num_leaves": "4..64:log",
        "learning_rate": "0.02..0.3:log",
        "min_data_in_leaf": "5..200:log",
        "feature_fraction": "0.5..1.0",
        "lambda_l2": "0.001..100:log",
    },
    "linear": _SPACE_OF_WEIGHTS,
    "mlp": {"hidden": "[32],[64,32],[128,64],[256,128]", **_SPACE_OF_WEIGHTS, "dropout": "0.0..0.5"},
}


@on_service
def tune(
    session: ServiceConnection,
    data: Annotated[str, training_options.TRAINING_DATA],
    space: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW..HIGH",
            help="Hyperparameter and its range or values: num_leaves=4..64:log, max_depth=3,5,8,"
            " loss=lambdarank,ndcg-loss2++, loss.sigma=0.5..2, scorer.hidden=[64],[128,64]; may be repeated."
            " The default for trees searches leaves, learning rate and regularisation; for networks layers,"
            " learning rate, dropout and decay; for linear scorers learning rate and decay.",
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=1, help="Maximum number of trials, including the default hyperparameters.")
    ] = 50,
    loss: Annotated[
        str,
        typer.Option(
            help="Loss of the trials, unless --space varies it.", autocompletion=complete_from(LOSSES)
        ),
    ] = _LOSS,
    loss_option: training_options.LossOptions = None,
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Hyperparameter with the same value in all trials."),
    ] = None,
    scorer: training_options.ScorerOption = None,
    hidden: training_options.HiddenOption = None,
    epochs: training_options.EpochsOption = None,
    folds: Annotated[int, typer.Option(min=2, max=100, help="Cross-validation folds of each trial.")] = 5,
    test: Annotated[
        str,
        typer.Option(
            help="Held-out queries of the conclusion: a share of the queries, a judged file, or a dataset.",
            autocompletion=complete_from_service("datasets"),
        ),
    ] = training_options.HELD_OUT,
    metric: Annotated[str, typer.Option(help="Metric to optimise.")] = "ndcg@10",
    sampler: Annotated[str, typer.Option(help="Sampler of trials: tpe, random, grid or qmc.")] = "tpe",
    pruner: Annotated[
        str, typer.Option(help="Pruner of poor trials: wilcoxon, median or none.")
    ] = "wilcoxon",
    early_stopping: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="ITERATIONS", help="Stop a fold after this many iterations without improvement."
        ),
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="Trials that run at the same time.")] = 2,
    seconds: Annotated[
        float | None, typer.Option(min=0.001, help="Time after which no further trial is started.")
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(min=1, help="Stop the study after this many trials without a new best trial."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**31 - 1, help="Seed of all random choices.", show_default="42")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The model's name.", show_default="the data's name")
    ] = None,
    alias: Annotated[
        str | None, typer.Option(help="Alias to point at the winner if it is significantly better.")
    ] = None,
    columns: ColumnsOption = None,
    label_map: LabelMapOption = None,
    watch: Annotated[
        bool, typer.Option("--watch/--no-watch", help="Wait for the conclusion, and print the progress.")
    ] = True,
) -> None:
    """Tune hyperparameters by cross-validated trials, then compare the best once on held-out queries.

    Trial 0 has the default values. The best trial and the default are trained again on all queries except the
    held-out ones. One comparison on the held-out queries avoids the bias of selecting the best of many
    trials.

    Example: `rankery tune train.txt --trials 50 --space num_leaves=4..64:log --space max_depth=3,5,8`
    """
    loss_spec = {"name": loss, **settings(loss_option, "--loss-option")}
    choice = training_options.ScorerChoice.of(scorer, hidden, epochs, settings(set, "--set"))
    default_space = _SPACES[TREES if choice.scorer is None else choice.scorer["kind"]]
    body = {
        "name": f"tune {name or model_name_of(data)}",
        "model_name": name or model_name_of(data),
        "base": {
            "loss": loss_spec,
            **({} if choice.scorer is None else {"scorer": choice.scorer}),
            "hyperparameters": choice.hyperparameters,
            "early_stopping_rounds": early_stopping,
            **({} if label_map is None else {"label_map": label_map_of(label_map)}),
        },
        "search_space": dict(
            search_dimension(text, is_network=choice.scorer is not None)
            for text in space or [f"{key}={value}" for key, value in default_space.items()]
        ),
        "objective": {"metric": metric, "validation": {"folds": folds}},
        "sampler": sampler,
        "pruner": pruner,
        "budget": {"trials": trials, "seconds": seconds, "patience": patience},
        "parallel_trials": parallel,
        "alias": alias,
        "seed": seed,
    }
    check_losses(session, [loss_spec])
    check_hyperparameters(session, choice.hyperparameters, choice.scorer)
    fields = Sources(data, None, test, columns_of(columns)).fields(session)
    document = {key: value for key, value in (body | fields).items() if value is not None}
    study = session.client.submit_study(document)
    say(f"submitted {study.id}, {study.budget.trials} trials")
    if watch:
        _wait(study)
        _show(session, study)
    else:
        session.show(
            {"study": study, "trials": study.trials().all()},
            f"Show the study with `{session.command(f'studies show {study.id}')}`.",
        )


def _wait(study: "Study") -> None:
    latest = ""

    def show_progress(study: "Study") -> None:
        nonlocal latest
        if (line := study.news()) != latest:
            latest = line
            say(line)

    study.wait(show_progress, progress=False)


def _show(session: ServiceConnection, study: "Study") -> None:
    """Print the best trials of a study, and its conclusion."""
    trials = study.trials().all()
    measured = [trial for trial in trials if trial.value is not None and trial.status == "succeeded"]
    sign = -1.0 if study.higher_is_better else 1.0
    best = sorted(measured, key=lambda trial: sign * (trial.value or 0.0))[:_BEST]
    names = list(dict.fromkeys(pointer for trial in best for pointer in trial.parameters or {}))
    columns = ["trial", str(study.objective["metric"]), *(each.rpartition("/")[2] for each in names)]
    made = table(*columns, right=columns[1:])
    for trial in best:
        made.add_row(
            f"{trial.number}{' (default)' if trial.number == 0 else ''}",
            number(trial.value),
            *(plain(_text((trial.parameters or {}).get(each))) for each in names),
        )
    shown: list[RenderableType] = [made, f"[bold]{plain(study.sentence or '')}[/bold]"]
    if study.conclusion is not None:
        shown.append(f"Models: {study.conclusion.winner_model}, default {study.conclusion.default_model}")
    session.show({"study": study, "trials": trials}, *shown)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def search_dimension(text: str, *, is_network: bool = False) -> tuple[str, dict[str, Any]]:
    """Parse a search dimension such as `num_leaves=4..64:log` into a JSON pointer and a parameter.

    Args:
        text: Value of `--space`.
        is_network: Whether a name without a prefix such as `scorer.` is a hyperparameter of a network.

    Raises:
        NotUnderstood: The text is not of one of these forms.
    """
    name, equals, values = text.partition("=")
    if not equals or not name or not values:
        raise NotUnderstood(f"--space takes NAME=LOW..HIGH or NAME=VALUE,VALUE, not {text!r}")
    pointer = pointer_of(name, is_network=is_network)
    is_log = values.endswith(_LOG)
    least, dots, most = values.removesuffix(_LOG).partition("..")
    if not dots:
        choices = grid([text], "--space")[name]
        return pointer, {"type": "choice", "choices": [searched_value(pointer, one) for one in choices]}
    low, high = _value(least), _value(most)
    if isinstance(low, str) or isinstance(high, str):
        raise NotUnderstood(f"--space {name}: {values!r} must have numbers on both sides of ..")
    kind = "int" if isinstance(low, int) and isinstance(high, int) else "float"
    return pointer, {"type": kind, "low": low, "high": high, "log": is_log}


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


studies = typer.Typer(help="List, stop and delete studies.", no_args_is_help=True)

_Study = Annotated[str, typer.Argument(help="The study's id, std_…")]


@service_command(studies, "list")
def list_studies(session: ServiceConnection, status: OfStatus = None, limit: Limit = 20) -> None:
    """List studies, newest first; `rankery tune` starts one.

    Example: `rankery studies list --status running`
    """
    studies = list(islice(session.client.studies(status=status), limit))
    shown = table("id", "name", "status", "best", "age", right=("best", "age"), wrap=("name",))
    for one in studies:
        best = "" if one.best is None else number(one.best.value)
        shown.add_row(one.id, plain(one.name), one.status, best, age(one.created_at))
    session.show(studies, shown)


@service_command(studies, "show")
def show_study(session: ServiceConnection, study: _Study) -> None:
    """Show the best trials of a study, and its conclusion.

    Example: `rankery studies show std_01k9x2m4q7c8v5n3b6r9`
    """
    _show(session, session.client.study(study))


@service_command(studies, "pause")
def pause_study(session: ServiceConnection, study: _Study) -> None:
    """Pause a study: start no further trials; running trials continue.

    Example: `rankery studies pause std_01k9x2m4q7c8v5n3b6r9`
    """
    resource = session.client.study(study).pause()
    say(f"{resource.id} is {resource.status}")
    session.show(resource)


@service_command(studies, "resume")
def resume_study(session: ServiceConnection, study: _Study) -> None:
    """Resume a paused study.

    Example: `rankery studies resume std_01k9x2m4q7c8v5n3b6r9`
    """
    resource = session.client.study(study).resume()
    say(f"{resource.id} is {resource.status}")
    session.show(resource)


@service_command(studies, "cancel")
def cancel_study(session: ServiceConnection, study: _Study) -> None:
    """Cancel a study and its running trials, without a conclusion.

    Example: `rankery studies cancel std_01k9x2m4q7c8v5n3b6r9`
    """
    resource = session.client.study(study).cancel()
    say(f"{resource.id} is {resource.status}")
    session.show(resource)


add_delete(studies, "studies", "--status cancelled --yes")
